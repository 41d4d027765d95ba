import { clusterRefOf, type Kind, type Resource } from "@isthmus/core";
import { explainedCode } from "@isthmus/insights/catalogue";
import type { Fleet } from "../data/fleet.ts";
import {
  AccessPolicy,
  Destination,
  KubernetesCluster,
  Mesh,
  TrafficPolicy,
  VirtualDestination,
  VirtualMesh,
  Workload,
} from "../data/kinds.ts";
import { clusterOf } from "./clusters/clusterOf.ts";
import { insightIndexOf } from "./insights/insightIndex.ts";
import { objectPath } from "./objectPath.ts";

/** Something whose name is like what was typed. */
export interface Hit {
  readonly kind: string;
  readonly name: string;
  readonly cluster: string;
  readonly path: string;
}

const MOST_HITS = 40;
// What people look for comes before what there is more of.
const FIRST: readonly Kind[] = [
  KubernetesCluster,
  VirtualMesh,
  Mesh,
  TrafficPolicy,
  AccessPolicy,
  VirtualDestination,
  Destination,
  Workload,
];
const FIRST_KINDS: ReadonlySet<string> = new Set(FIRST.map(({ kind }) => kind));

/** Objects, and codes of insights with their titles, whose names contain all words of a text; none for less than two characters. */
export function searchFleet(fleet: Fleet, text: string): readonly Hit[] {
  const words = text.trim().toLowerCase().split(" ").filter(Boolean).slice(0, 10);
  if (words.join("").length < 2) return [];
  const hits: Hit[] = insightIndexOf(fleet)
    .byCode.filter(({ code }) => {
      const about = `${code} ${explainedCode(code)?.title ?? ""}`.toLowerCase();
      return words.every((word) => about.includes(word));
    })
    .map(({ code, insights }) => ({
      kind: code,
      name: explainedCode(code)?.title ?? insights[0]?.message ?? "",
      cluster: "",
      path: `/insights/${encodeURIComponent(code)}`,
    }));
  for (const resource of candidates(fleet)) {
    if (hits.length >= MOST_HITS) break;
    const { name, namespace } = clusterRefOf(resource);
    const cluster = clusterOf(resource);
    const all = `${resource.kind} ${namespace}/${name} ${cluster}`.toLowerCase();
    if (!words.every((word) => all.includes(word))) continue;
    hits.push({ kind: resource.kind, name: namespace === "" ? name : `${namespace}/${name}`, cluster, path: objectPath(resource) });
  }
  return hits.slice(0, MOST_HITS);
}

function* candidates({ snapshot, generated }: Fleet): Iterable<Resource> {
  for (const kind of FIRST) yield* snapshot.of(kind);
  for (const collection of snapshot.collections().values()) {
    for (const resource of collection) {
      if (FIRST_KINDS.has(resource.kind)) break;
      yield resource;
    }
  }
  for (const collection of generated.collections().values()) yield* collection;
}
