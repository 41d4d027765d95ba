import { externalProblem, externalRootProblem, fingerprints, type InstalledAuthority, InvalidPem } from "@isthmus/certificates";
import { type Clock, equalJson, type Log, refOf, resourceKeyOf } from "@isthmus/core";
import { AuthorityProblem } from "./authoritySecrets.ts";
import type { Order, RootOrder } from "./certificateOrders.ts";
import type { VaultAuthority, VaultSource } from "./vaultAuthority.ts";

/** What an authority outside offers to a mesh. */
export interface ExternalOffer {
  /** The root, as it was read last. */
  readonly offered?: { readonly root: string; readonly rootCertificate: string };
  /** Why it was not read this time. */
  readonly problem?: string;
}

/** The authorities outside that orders name, asked no more often than they bear. */
export interface ExternalAuthorities {
  offer(order: Order, signal: AbortSignal): Promise<ExternalOffer>;
  /** Has a request signed, and verifies what comes back. Throws AuthorityProblem. */
  sign(
    order: Order,
    request: { readonly request: string; readonly key: string; readonly trust: RootOrder },
    signal: AbortSignal,
  ): Promise<InstalledAuthority>;
}

export interface ExternalAuthoritiesOptions {
  /** Undefined where no server outside may be called. */
  readonly vault: VaultAuthority | undefined;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
}

/** Remembers, per order, what was read last and until when a refusal stands: a minute, and 10 s to 10 min that double. */
export function externalAuthorities({ vault, clock, log }: ExternalAuthoritiesOptions): ExternalAuthorities {
  /** By order. Anyone who writes VirtualMeshes may change their settings as often as they like: of former ones nothing is kept. */
  const known = new Map<string, Known>();

  /** What is known of an order with the settings that it has now. */
  function knownOf(order: Order): Known {
    const source = order.spec?.agentCa?.vault ?? {};
    const key = resourceKeyOf(refOf(order));
    const before = known.get(key);
    if (before !== undefined && equalJson(before.source, source)) return before;
    const now: Known = { source, offer: undefined, refusals: new Map() };
    known.set(key, now);
    return now;
  }

  async function paced<T>({ refusals }: Known, key: "offer" | "sign", ask: (asked: VaultAuthority) => Promise<T>): Promise<T> {
    const before = refusals.get(key);
    if (before !== undefined && clock.now() < before.until) throw new AuthorityProblem(before.message);
    try {
      if (vault === undefined) throw new AuthorityProblem(NOT_CALLED);
      const result = await ask(vault);
      refusals.delete(key);
      return result;
    } catch (error) {
      if (!(error instanceof AuthorityProblem || error instanceof InvalidPem)) throw error;
      const count = (before?.count ?? 0) + 1;
      refusals.set(key, {
        message: error.message,
        count,
        until: clock.now() + Math.min(FIRST_PAUSE_MS * 2 ** (count - 1), LONGEST_PAUSE_MS),
      });
      throw new AuthorityProblem(error.message);
    }
  }

  return {
    async offer(order, signal) {
      const of = knownOf(order);
      const { source, offer: before } = of;
      if (before !== undefined && clock.now() < before.at + OFFER_MS) return { offered: before.offered };
      try {
        const offered = await paced(of, "offer", async (asked) => offeredBy(source, await asked.authorities(source, signal), clock.now()));
        of.offer = { offered, at: clock.now() };
        return { offered };
      } catch (error) {
        if (!(error instanceof AuthorityProblem)) throw error;
        return { ...(before === undefined ? {} : { offered: before.offered }), problem: error.message };
      }
    },
    sign(order, { request, key: privateKey, trust }, signal) {
      const of = knownOf(order);
      const { source } = of;
      const { hosts: uris = [], certOptions, org } = order.spec ?? {};
      return paced(of, "sign", async (asked) => {
        const wanted = { request, commonName: order.metadata.name, organization: certOptions?.orgName || org || "Istio", uris };
        const answer = await asked.sign(source, { ...wanted, ttlDays: certOptions?.ttlDays || 365 }, signal);
        const about = { request, key: privateKey, signer: trust.signer, uris, now: clock.now() };
        const problem = await externalProblem(answer, about).catch(unreadable);
        if (problem !== undefined) {
          throw new AuthorityProblem(
            `Vault ${source.server ?? ""} signed a certificate that is not used: ${problem}: check vault.caPath, and in Vault the issuer of this mount`,
          );
        }
        log.info({ mesh: order.metadata.name }, "an authority outside signed the CA of a mesh");
        const { certificate, authorities } = answer;
        return { certificate, key: privateKey, chain: [certificate, ...authorities].join(""), rootCertificates: trust.rootCertificates };
      });
    },
  };
}

/** What is known of an order's authority. */
interface Known {
  readonly source: VaultSource;
  /** The root, as it was read last. `at`: milliseconds since 1970. */
  offer: { readonly offered: NonNullable<ExternalOffer["offered"]>; readonly at: number } | undefined;
  readonly refusals: Map<"offer" | "sign", Refusal>;
}

interface Refusal {
  readonly message: string;
  readonly count: number;
  /** Milliseconds since 1970. */
  readonly until: number;
}

async function offeredBy(
  { server = "" }: VaultSource,
  authorities: readonly string[],
  now: number,
): Promise<NonNullable<ExternalOffer["offered"]>> {
  const rootCertificate = authorities.at(-1) ?? "";
  const problem = await externalRootProblem(rootCertificate, now).catch(unreadable);
  if (problem !== undefined) throw new AuthorityProblem(`the root of Vault ${server} cannot be used: ${problem}`);
  const [root = ""] = await fingerprints(rootCertificate);
  return { root, rootCertificate };
}

function unreadable(error: unknown): string {
  if (error instanceof InvalidPem) return error.message;
  throw error;
}

const NOT_CALLED = "this agent may call no Vault: set the value meshCertificates.vault.servers of its chart to the servers that it may";
const OFFER_MS = 60_000;
const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 600_000;
