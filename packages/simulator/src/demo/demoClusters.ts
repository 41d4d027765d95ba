import type { Resource } from "@isthmus/core";
import { parseAllDocuments } from "yaml";
import { bookinfoOfCluster1, bookinfoOfCluster2 } from "./bookinfo.ts";
import { istioOf } from "./istio.ts";

const VERSION = "1.27.1";

/**
 * Two clusters in two regions, with Istio in each and Bookinfo split over both: by name, what a user would apply to each,
 * in order. A copy for each caller.
 */
export function demoClusters(): Readonly<Record<string, readonly Resource[]>> {
  // Reading YAML costs a hundred times what a copy does.
  demo ??= readDemo();
  return structuredClone(demo);
}

let demo: Readonly<Record<string, readonly Resource[]>> | undefined;

function readDemo(): Readonly<Record<string, readonly Resource[]>> {
  const east = istioOf({ clusterName: "cluster-1", region: "us-east-1", zones: ["us-east-1a", "us-east-1b"], version: VERSION });
  const west = istioOf({ clusterName: "cluster-2", region: "us-west-2", zones: ["us-west-2a", "us-west-2b"], version: VERSION });
  return { "cluster-1": resourcesIn(east, bookinfoOfCluster1), "cluster-2": resourcesIn(west, bookinfoOfCluster2) };
}

function resourcesIn(...streams: readonly string[]): readonly Resource[] {
  return parseAllDocuments(streams.join("---")).map((document) => document.toJS() as Resource);
}
