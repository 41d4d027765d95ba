import { JOIN_TOKEN_LABEL, Secret } from "@isthmus/api";
import { type Clock, type Log, messageOf } from "@isthmus/core";
import { type Cluster, JOIN_TOKENS, type Leadership, type Store, StoreError } from "@isthmus/ports";
import { runReflector } from "../informer/reflector.ts";
import { joinTokenId } from "./joinTokens.ts";
import { secretTexts } from "./secretData.ts";

export interface JoinTokenMirrorOptions {
  /** The management cluster. */
  readonly cluster: Cluster;
  readonly namespace: string;
  readonly store: Store;
  /** Only the replica that leads writes. */
  readonly leadership: Leadership;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

/**
 * Keeps in the store which join tokens there are (`JOIN_TOKENS`), for readers: their hashes, never the tokens. No decision is
 * taken from it, so it may lag. Resolves when it is aborted.
 */
export async function mirrorJoinTokens(options: JoinTokenMirrorOptions, signal: AbortSignal): Promise<void> {
  const { cluster, namespace, store, leadership, clock, random, log } = options;
  /** By id; undefined until they were listed. */
  let known: Map<string, string> | undefined;

  const labels = { matchExpressions: [{ key: JOIN_TOKEN_LABEL, operator: "Exists" as const }] };
  const following = runReflector(
    {
      cluster,
      kind: Secret,
      list: { namespace, labels },
      clock,
      random,
      emit(event) {
        if (event.type === "listed") known = new Map(event.items.map((secret) => [joinTokenId(secret.metadata.name), recordOf(secret)]));
        else if (event.type === "put") known?.set(joinTokenId(event.resource.metadata.name), recordOf(event.resource));
        else if (event.type === "removed") known?.delete(joinTokenId(event.ref.name));
      },
    },
    signal,
  );

  async function compare(tokens: ReadonlyMap<string, string>): Promise<void> {
    const mirror = await store.records(JOIN_TOKENS);
    for (const [id, record] of tokens) {
      const ttlMs = expiryOf(record) - clock.now();
      if (ttlMs > 0 && mirror.get(id) !== record) await store.putRecord(JOIN_TOKENS, id, record, { ttlMs });
    }
    for (const id of mirror.keys()) if (!tokens.has(id)) await store.removeRecord(JOIN_TOKENS, id);
  }

  async function comparisons(): Promise<void> {
    while (!signal.aborted) {
      try {
        if (known !== undefined && leadership.isLeader) await compare(known);
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        log.debug({}, `cannot mirror join tokens: ${messageOf(error)}; retrying`);
      }
      await clock.sleep(COMPARE_MS, signal).catch(() => undefined);
    }
  }

  await Promise.all([following, comparisons()]);
}

/** What of a join token's Secret goes into the store. */
function recordOf(secret: Secret): string {
  const { hash = "", cluster = "", created = "", expires = "" } = secretTexts(secret);
  return JSON.stringify({ hash, cluster, created, expires });
}

function expiryOf(record: string): number {
  const { expires } = JSON.parse(record) as { readonly expires: string };
  const expiry = Date.parse(expires);
  return Number.isNaN(expiry) ? 0 : expiry;
}

// For people who look at it.
const COMPARE_MS = 2_000;
