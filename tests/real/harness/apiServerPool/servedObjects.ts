import type { AdminRequests } from "./adminRequests.ts";

/** What an API server serves. */
export interface Served {
  /** Paths of all types that can be listed. */
  readonly resources: readonly string[];
  /** `name@resourceVersion` of each object, each once, in order. */
  readonly objects: readonly string[];
}

/** Lists everything that can be listed, as the caches of the API server have it. */
export async function servedObjects(server: AdminRequests): Promise<Served> {
  const types = await listedTypes(server);
  const lists = await Promise.all(onceEach(types).map(({ path }) => server.get<List>(`${path}?resourceVersion=0`, METADATA)));
  const objects = lists.flatMap(({ items }) => (items ?? []).map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`));
  return { resources: types.map(({ path }) => path).sort(), objects: objects.sort() };
}

/** Types of objects that can be listed, in each version that is served. */
export async function listedTypes(server: AdminRequests): Promise<readonly ListedType[]> {
  const [core, groups] = await Promise.all(["/api", "/apis"].map((path) => server.get<Discovery>(path, DISCOVERY)));
  return [...resourcesIn(core), ...resourcesIn(groups)];
}

const DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
/** What nobody stores, and what is stored as another group's. */
const NOT_STORED = new Set(["/componentstatuses", "events.k8s.io/events"]);

interface Discovery {
  readonly items: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions: readonly {
      readonly version: string;
      readonly resources?: readonly { readonly resource: string; readonly verbs: readonly string[] }[];
    }[];
  }[];
}

interface List {
  /** Null of some types that have none. */
  readonly items: readonly { readonly metadata: { readonly name: string; readonly resourceVersion: string } }[] | null;
}

/** A type of objects, in one version. */
export interface ListedType {
  /** `group/resource`; what is served in several versions is stored once. */
  readonly type: string;
  readonly path: string;
}

function resourcesIn(discovery: Discovery | undefined): readonly ListedType[] {
  return (discovery?.items ?? []).flatMap(({ metadata, versions }) => {
    const group = metadata?.name ?? "";
    return versions.flatMap(({ version, resources = [] }) => {
      const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
      const listed = resources.filter(({ verbs }) => verbs.includes("list"));
      return listed.map(({ resource }) => ({ type: `${group}/${resource}`, path: `${root}/${resource}` }));
    });
  });
}

function onceEach(types: readonly ListedType[]): readonly ListedType[] {
  const stored = types.filter(({ type }) => !NOT_STORED.has(type));
  return [...new Map(stored.map((listed) => [listed.type, listed])).values()];
}
