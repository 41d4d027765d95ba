import { ClusterError, type ServedKind } from "@isthmus/ports";
import type { Connection } from "./connection.ts";
import { type ApiResponse, call, exchange } from "./request.ts";
import { errorOf } from "./statusError.ts";

/** What one of the two roots of the API serves. */
export interface RootKinds {
  readonly kinds: readonly ServedKind[];
  /** Group versions whose own API server doesn't answer. */
  readonly silent: readonly string[];
}

// Two requests for everything, Kubernetes ≥ 1.27; others fall back to their own format.
// Source: kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery
const AGGREGATED = ["v2", "v2beta1"]
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .concat("application/json")
  .join(",");

/** Reads `/api` or `/apis`; an unchanged one is not sent again. */
export function kindsBelow(connection: Connection, path: "/api" | "/apis"): (signal?: AbortSignal) => Promise<RootKinds> {
  let last: { readonly etag: string; readonly kinds: RootKinds } | undefined;
  return async (signal) => {
    const headers = { accept: AGGREGATED, ...(last === undefined ? {} : { "if-none-match": last.etag }) };
    const answer = await exchange(connection, { method: "GET", path, headers }, signal);
    if (answer.status === 304 && last !== undefined) return last.kinds;
    if (answer.status !== 200) throw errorOf(answer);
    const kinds = await asDiscovery(connection, path, () =>
      isAggregated(answer) ? aggregatedKinds(answer.json as GroupDiscoveryList) : plainKinds(connection, path, answer.json, signal),
    );
    const etag = answer.headers.etag;
    last = isAggregated(answer) && etag !== undefined ? { etag, kinds } : undefined;
    return kinds;
  };
}

/** What is no discovery document can be anything: whatever goes wrong with it is its API server's fault. */
async function asDiscovery(connection: Connection, path: string, read: () => RootKinds | Promise<RootKinds>): Promise<RootKinds> {
  let found: RootKinds;
  try {
    found = await read();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw notDiscovery(connection, path, error);
  }
  const isText = ({ apiVersion, kind, plural }: ServedKind): boolean =>
    [apiVersion, kind, plural].every((text) => typeof text === "string" && text.length <= LONGEST_NAME);
  if (found.kinds.length > MOST_KINDS || !found.kinds.every(isText)) throw notDiscovery(connection, path);
  return found;
}

function notDiscovery({ server }: Connection, path: string, cause?: unknown): ClusterError {
  return new ClusterError(
    "Unavailable",
    `${server}${path} does not return a list of kinds: check that it is a Kubernetes API server`,
    {},
    cause,
  );
}

// A cluster of many operators serves a thousand or two.
const MOST_KINDS = 100_000;
const LONGEST_NAME = 1_024;
// As many as answer at a time.
const MOST_VERSIONS = 1_000;

interface GroupDiscoveryList {
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions?: readonly {
      readonly version: string;
      readonly freshness?: string;
      readonly resources?: readonly {
        readonly resource: string;
        readonly responseKind?: { readonly kind?: string };
        readonly scope?: string;
      }[];
    }[];
  }[];
}

function isAggregated({ json }: ApiResponse): boolean {
  return (json as { kind?: string } | undefined)?.kind === "APIGroupDiscoveryList";
}

function aggregatedKinds({ items = [] }: GroupDiscoveryList): RootKinds {
  const versions = items.flatMap(({ metadata, versions = [] }) =>
    versions.map((version) => ({ ...version, apiVersion: metadata?.name ? `${metadata.name}/${version.version}` : version.version })),
  );
  return {
    kinds: versions.flatMap(({ apiVersion, resources = [] }) =>
      resources.flatMap(({ resource, responseKind, scope }) =>
        responseKind?.kind ? [{ apiVersion, kind: responseKind.kind, plural: resource, namespaced: scope === "Namespaced" }] : [],
      ),
    ),
    silent: versions.filter(({ freshness }) => freshness === "Stale").map(({ apiVersion }) => apiVersion),
  };
}

interface PlainRoot {
  /** `/api`. */
  readonly versions?: readonly string[];
  /** `/apis`. */
  readonly groups?: readonly { readonly versions?: readonly { readonly groupVersion: string }[] }[];
}

/** One request per group version. */
async function plainKinds(connection: Connection, path: string, root: unknown, signal: AbortSignal | undefined): Promise<RootKinds> {
  const { versions = [], groups = [] } = (root ?? {}) as PlainRoot;
  const apiVersions = [...versions, ...groups.flatMap(({ versions = [] }) => versions.map(({ groupVersion }) => groupVersion))];
  if (apiVersions.length > MOST_VERSIONS) throw notDiscovery(connection, path);
  const parts = await Promise.all(
    apiVersions.map(async (apiVersion): Promise<RootKinds> => {
      try {
        const list = (await call(connection, { method: "GET", path: `${path}/${apiVersion}` }, signal)) as PlainResourceList;
        return { kinds: plainResources(apiVersion, list), silent: [] };
      } catch (error) {
        if (error instanceof ClusterError && error.code === "Unavailable") return { kinds: [], silent: [apiVersion] };
        throw error;
      }
    }),
  );
  return { kinds: parts.flatMap(({ kinds }) => kinds), silent: parts.flatMap(({ silent }) => silent) };
}

interface PlainResourceList {
  readonly resources?: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[];
}

function plainResources(apiVersion: string, { resources = [] }: PlainResourceList): readonly ServedKind[] {
  return resources.flatMap(({ name, kind, namespaced }) => (name.includes("/") ? [] : [{ apiVersion, kind, plural: name, namespaced }]));
}
