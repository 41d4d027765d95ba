import { writeFileSync } from "node:fs";
import { agentKinds } from "@isthmus/api";
import type { AnyResource, Kind } from "@isthmus/core";
import { clusterAt } from "../../harness/clusters.ts";

/** Everything of a cluster that an agent would send, with `metadata.clusterName`. */
export async function agentView(name: string, kubeconfigPath: string): Promise<readonly AnyResource[]> {
  const cluster = clusterAt(kubeconfigPath, name);
  const served = new Set((await cluster.servedKinds()).map(({ apiVersion, kind }) => `${apiVersion} ${kind}`));
  const kinds: readonly Kind[] = agentKinds().filter(({ kind, versions }) => versions.some((version) => served.has(`${version} ${kind}`)));
  const lists = await Promise.all(kinds.map((kind) => cluster.list(kind)));
  const malformed = lists.flatMap((list) => list.malformed);
  if (malformed[0] !== undefined) throw new Error(`${malformed[0].ref.kind} ${malformed[0].ref.name}: ${malformed[0].message}`);
  return lists.flatMap(({ items }) => items as readonly AnyResource[]);
}

/** Writes objects as one JSON `List`. */
export function writeList(file: string, items: readonly AnyResource[]): void {
  writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
}
