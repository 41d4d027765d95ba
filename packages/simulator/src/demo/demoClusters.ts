import type { Resource } from "@isthmus/core";
import { parseAllDocuments } from "yaml";
import { bookinfoOfCluster1, bookinfoOfCluster2 } from "./bookinfo.ts";
import { istioOf } from "./istio.ts";

const VERSION = "1.27.1";

/**
 * Two clusters in two regions, with Istio in each and Bookinfo split over both: by name, what a user would apply to each,
 * in order. A copy for each caller. `isMultiRoot`: Istio takes over a change of roots while it runs.
 */
export function demoClusters({ isMultiRoot = false } = {}): Readonly<Record<string, readonly Resource[]>> {
  // Reading YAML costs a hundred times what a copy does.
  const demo = demos.get(isMultiRoot) ?? readDemo(isMultiRoot);
  demos.set(isMultiRoot, demo);
  return structuredClone(demo);
}

const demos = new Map<boolean, Readonly<Record<string, readonly Resource[]>>>();

function readDemo(isMultiRoot: boolean): Readonly<Record<string, readonly Resource[]>> {
  const of = { version: VERSION, isMultiRoot };
  const east = istioOf({ clusterName: "cluster-1", region: "us-east-1", zones: ["us-east-1a", "us-east-1b"], ...of });
  const west = istioOf({ clusterName: "cluster-2", region: "us-west-2", zones: ["us-west-2a", "us-west-2b"], ...of });
  return { "cluster-1": resourcesIn(east, bookinfoOfCluster1), "cluster-2": resourcesIn(west, bookinfoOfCluster2) };
}

function resourcesIn(...streams: readonly string[]): readonly Resource[] {
  return parseAllDocuments(streams.join("---")).map((document) => document.toJS() as Resource);
}
