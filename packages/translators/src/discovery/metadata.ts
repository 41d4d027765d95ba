import { type Metadata, type Owner, type Resource, withoutFirstSeen } from "@isthmus/core";
import { CLUSTER_LABEL } from "../clusterLabel.ts";
import { memoizeRow } from "../incremental/memoizeRow.ts";
import type { AgeSource } from "../policy/precedence.ts";

/** On every object that discovery writes: its value tells whose discovery. */
const DISCOVERY_OWNER_LABEL = "owner.discovery.mesh.gloo.solo.io";
/** On every object that discovery writes: the cluster it was found in. */
export const DISCOVERED_CLUSTER_LABEL = "cluster.discovery.mesh.gloo.solo.io";

/** Where discovery writes, and as whom. */
export interface DiscoveryOptions {
  /** Namespace of the management plane: discovered objects are written there. */
  readonly namespace: string;
  /** The only cluster to look at, when an agent itself discovers. Objects that name no cluster are taken to be in it. */
  readonly agentCluster?: string;
  /** How old objects of workload clusters are; default `FIRST_SEEN`. */
  readonly ages?: AgeSource;
}

/** The owner of all that discovery writes. */
export function discoveryOwner({ namespace, agentCluster }: DiscoveryOptions): Owner {
  return { label: DISCOVERY_OWNER_LABEL, value: agentCluster === undefined ? namespace : `${namespace}-${agentCluster}` };
}

/** Metadata of what was discovered from `source`: all of its annotations go along, as in the published API, its labels don't. */
export function discoveredMetadata(name: string, source: Resource, owner: Owner, namespace: string): Metadata {
  const annotations = withoutFirstSeen(source.metadata.annotations) ?? {};
  return {
    name,
    namespace,
    labels: labelsFor(source.metadata.clusterName ?? "", owner),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  };
}

/** One for all that is discovered in a cluster in one step, which in a cold start is everything. */
function labelsFor(clusterName: string, owner: Owner): NonNullable<Metadata["labels"]> {
  const known = labelsByCluster(owner);
  let labels = known.get(clusterName);
  if (labels === undefined) {
    labels = { [DISCOVERED_CLUSTER_LABEL]: clusterName, [CLUSTER_LABEL]: "", [owner.label]: owner.value };
    known.set(clusterName, labels);
  }
  return labels;
}

const labelsByCluster = memoizeRow((_: Owner) => new Map<string, NonNullable<Metadata["labels"]>>());
