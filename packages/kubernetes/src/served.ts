import { type Kind, kindKeyOf } from "@isthmus/core";
import { ClusterError, type ServedKind } from "@isthmus/ports";
import type { Connection } from "./connection.ts";
import { kindsBelow } from "./discoveryDocuments.ts";

/** What an API server serves. Remembered until something is asked for that isn't there, or until `forget`. */
export interface ApiDiscovery {
  /** Asks again; an unchanged answer costs the server and us almost nothing. */
  read(signal?: AbortSignal): Promise<readonly ServedKind[]>;
  /** The first of the kind's versions that is served. Rejects with `Unserved`. */
  versionOf(kind: Kind, signal?: AbortSignal): Promise<string>;
  /** How objects of this type are reached. Rejects with `Unserved`. */
  typeOf(type: ObjectType, signal?: AbortSignal): Promise<ServedKind>;
  /** To be called when the API server didn't know a path. */
  forget(): void;
}

interface ObjectType {
  readonly apiVersion: string;
  readonly kind: string;
}

interface Known {
  readonly byType: ReadonlyMap<string, ServedKind>;
  /** Group versions whose own API server doesn't answer: of these nothing is known. */
  readonly silent: ReadonlySet<string>;
}

/**
 * What the API server behind `connection` serves, read at the first call; look-ups that wait at the same time share one reading. Calls
 * reject with ClusterError: `Unavailable` where the API server of a group version does not answer, as it is then unknown what that version
 * serves.
 */
export function apiDiscovery(connection: Connection): ApiDiscovery {
  const roots = [kindsBelow(connection, "/api"), kindsBelow(connection, "/apis")];
  let known: Known | undefined;
  let reading: Promise<Known> | undefined;

  async function readAll(signal: AbortSignal | undefined): Promise<Known> {
    const parts = await Promise.all(roots.map((root) => root(signal)));
    known = {
      byType: new Map(parts.flatMap(({ kinds }) => kinds.map((kind) => [typeKey(kind), kind]))),
      silent: new Set(parts.flatMap(({ silent }) => silent)),
    };
    return known;
  }

  // Not bound to one caller's signal, as many share it; the connection's own time limit ends it.
  function shared(): Promise<Known> {
    reading ??= readAll(undefined).finally(() => {
      reading = undefined;
    });
    return reading;
  }

  async function find<T>(select: (known: Known) => T | undefined, missing: (known: Known) => ClusterError): Promise<T> {
    const remembered = known === undefined ? undefined : select(known);
    if (remembered !== undefined) return remembered;
    const fresh = await shared();
    const found = select(fresh);
    if (found === undefined) throw missing(fresh);
    return found;
  }

  return {
    async read(signal) {
      return [...(await readAll(signal)).byType.values()];
    },
    async versionOf(kind, signal) {
      signal?.throwIfAborted();
      return find(
        ({ byType }) => kind.versions.find((apiVersion) => byType.has(typeKey({ apiVersion, kind: kind.kind }))),
        ({ silent }) => missing(kind, kind.versions, silent),
      );
    },
    async typeOf(type, signal) {
      signal?.throwIfAborted();
      return find(
        ({ byType }) => byType.get(typeKey(type)),
        ({ silent }) => missing(type, [type.apiVersion], silent),
      );
    },
    forget() {
      known = undefined;
    },
  };
}

function typeKey({ apiVersion, kind }: ObjectType): string {
  return `${apiVersion} ${kind}`;
}

function missing(type: ObjectType, versions: readonly string[], silent: ReadonlySet<string>): ClusterError {
  const silentVersion = versions.find((version) => silent.has(version));
  return silentVersion === undefined
    ? new ClusterError("Unserved", `the cluster does not serve ${type.kind} (${versions.join(", ")}): install its CRD`)
    : new ClusterError(
        "Unavailable",
        `it is currently unknown whether the cluster serves ${kindKeyOf(type)}: the API server of ${silentVersion} does not answer`,
      );
}
