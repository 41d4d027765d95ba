import type { Resource } from "@isthmus/core";
import { parseAllDocuments } from "yaml";
import { bookinfoOfCluster1, bookinfoOfCluster2 } from "./bookinfo.ts";
import { istioOf } from "./istio.ts";
import { furtherServices } from "./services.ts";

const VERSION = "1.27.1";
// The first two are those of Bookinfo's halves.
const REGIONS = ["us-east-1", "us-west-2", "eu-central-1", "ap-southeast-2"] as const;

export interface DemoClustersOptions {
  /** Whether Istio takes over a change of roots while it runs. Default: no, as in Istio. */
  readonly isMultiRoot?: boolean;
  /** At least two. Default: two. */
  readonly clusters?: number;
  /** Further services in each cluster. Default: none. */
  readonly services?: number;
}

/**
 * Clusters in several regions, with Istio in each and Bookinfo split over the first two; each further one has all of Bookinfo that the second has. By name,
 * what a user would apply to each, in order. A copy for each caller.
 */
export function demoClusters({
  isMultiRoot = false,
  clusters = 2,
  services = 0,
}: DemoClustersOptions = {}): Readonly<Record<string, readonly Resource[]>> {
  // Reading YAML costs a hundred times what a copy does.
  const key = JSON.stringify([isMultiRoot, clusters, services]);
  const demo = demos.get(key) ?? readDemo({ isMultiRoot, clusters, services });
  demos.set(key, demo);
  return structuredClone(demo);
}

const demos = new Map<string, Readonly<Record<string, readonly Resource[]>>>();

function readDemo({ isMultiRoot, clusters, services }: Required<DemoClustersOptions>): Readonly<Record<string, readonly Resource[]>> {
  const further = furtherServices(services);
  const names = Array.from({ length: Math.max(2, clusters) }, (_, i) => `cluster-${i + 1}`);
  return Object.fromEntries(
    names.map((clusterName, i) => {
      const region = REGIONS[i % REGIONS.length] ?? REGIONS[0];
      const istio = istioOf({ clusterName, region, zones: [`${region}a`, `${region}b`], version: VERSION, isMultiRoot });
      const streams = [istio, i === 0 ? bookinfoOfCluster1 : bookinfoOfCluster2, ...(further === "" ? [] : [further])];
      return [clusterName, resourcesIn(...streams)] as const;
    }),
  );
}

function resourcesIn(...streams: readonly string[]): readonly Resource[] {
  return parseAllDocuments(streams.join("---")).map((document) => document.toJS() as Resource);
}
