import type { Cluster } from "@isthmus/ports";
import { type KindName, kindsNamed } from "./kinds.ts";

/** Names of all objects of some kinds, sorted, for a shell: what is no name in Kubernetes is left out, and so is what exceeds `MOST_NAMES`. */
export async function namesOfKinds(cluster: Cluster, kinds: readonly KindName[], signal: AbortSignal): Promise<readonly string[]> {
  const lists = await Promise.all((await kindsNamed(kinds)).map((kind) => cluster.list(kind, {}, signal)));
  const names = lists.flatMap(({ items }) => items.map(({ metadata }) => metadata.name));
  return [...new Set(names.filter(isShellSafe))].sort().slice(0, MOST_NAMES);
}

// A list that is longer helps nobody, and shells become slow.
const MOST_NAMES = 2_000;

/** Whether it is a DNS subdomain, as names of objects are: no shell replaces or runs anything in one. */
function isShellSafe(name: string): boolean {
  return name.length <= 253 && /^[a-z0-9][a-z0-9.-]*$/.test(name);
}
