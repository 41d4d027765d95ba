import { ConfigMap } from "@isthmus/api";
import { keyOfResource, type Resource, refOf, type Snapshot } from "@isthmus/core";
import type { StoreDelta, StoreVersion } from "@isthmus/ports";

export const CLUSTER = "east";
export const KIND = "/ConfigMap";
export const partition = { section: "input", clusterName: CLUSTER } as const;
/** What there is in the cluster: values by name. */
export type Content = ReadonlyMap<string, string>;

export const objectOf = (name: string, value: string): Resource =>
  ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "shop", clusterName: CLUSTER }, data: { value } }) as Resource;
export const keyOf = (name: string) => keyOfResource(objectOf(name, ""));
export const textOf = (content: Content) => JSON.stringify([...content].sort());
export const kindsOf = (content: Content) => (content.size === 0 ? {} : { [KIND]: { count: content.size, digest: textOf(content) } });
export const contentOf = (snapshot: Snapshot): Content =>
  new Map([...snapshot.of(ConfigMap)].map((object) => [object.metadata.name, object.data?.["value"] ?? ""]));
export const nameOf = ({ fence, sequence }: StoreVersion) => `${fence}.${sequence}`;

export function deltaFrom(before: Content, after: Content): StoreDelta {
  const put = [...after].filter(([name, value]) => before.get(name) !== value);
  return {
    erase: [],
    put: put.map(([name, value]) => ({ kindKey: KIND, key: keyOf(name), text: JSON.stringify(objectOf(name, value)) })),
    remove: [...before.keys()].filter((name) => !after.has(name)).map((name) => ({ kindKey: KIND, key: keyOf(name) })),
  };
}

/** A snapshot that has other content. */
export function snapshotWith(memory: Snapshot, content: Content): Snapshot {
  const gone = [...contentOf(memory)].filter(([name]) => !content.has(name)).map(([name]) => refOf(objectOf(name, "")));
  return memory.apply({ put: [...content].map(([name, value]) => objectOf(name, value)), remove: gone });
}
