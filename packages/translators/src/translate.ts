import { clusterRefOf, kindKeyOf, type Output, type OutputSet, outputSet, type Report, type Snapshot } from "@isthmus/core";
import { targetInputs } from "./attachment/assembly.ts";
import { type Attachment, attachPolicies } from "./attachment/attachment.ts";
import { surroundingsOf } from "./attachment/surroundings.ts";
import { type DiscoveryTranslation, translateDiscovery } from "./discovery/discovery.ts";
import { discoveryOwner } from "./discovery/metadata.ts";
import { type Results, translateEach } from "./discovery/reuse.ts";
import type { Surroundings, TargetTranslation } from "./inputs.ts";
import { networkingOwner } from "./networking/outputMetadata.ts";
import { type TargetInputs, translateTarget } from "./networking/targets.ts";
import { withoutOutputCollisions } from "./outputCollisions.ts";
import { settled } from "./settlement.ts";

export interface TranslateOptions {
  /** Namespace of the management plane. */
  readonly namespace: string;
  /** `discovery`: only that. `networking`: of the discovered objects that are given. `all`: both, one after the other. */
  readonly stage: "discovery" | "networking" | "all";
  /** The only cluster to discover, when an agent itself does it. */
  readonly agentCluster?: string;
  /** Refuse what meets a user's own Istio object for the same host, instead of warning. */
  readonly disallowIntersectingConfig?: boolean;
}

/** Everything that follows from one snapshot. */
export interface World {
  /** What was given, with what was discovered in it. */
  readonly inputs: Snapshot;
  /** The same, with what is in force in the statuses of Destinations and Meshes. */
  readonly attached: Snapshot;
  /** Mesh, Workload and Destination objects to be written to the management cluster. */
  readonly discovery: OutputSet;
  /** Objects to be written to the clusters. */
  readonly networking: OutputSet;
  /** Findings about users' and discovered objects. */
  readonly reports: readonly Report[];
  /** What the next translation can reuse. */
  readonly memory: WorldMemory;
}

export interface WorldMemory {
  readonly discovery: DiscoveryTranslation | undefined;
  readonly surroundings: Surroundings;
  /** Before translation had its say. */
  readonly attachment: Attachment;
  /** By `resourceKeyOf` the target. */
  readonly targets: Results<TargetInputs, TargetTranslation>;
}

/**
 * A pure function: equal snapshots give equal worlds, and no mistake of a user makes it throw. `previous` only spares work:
 * what did not change since keeps its identity. Mesh, Workload and Destination objects that are given win over discovered ones.
 */
export function translate(given: Snapshot, options: TranslateOptions, previous?: World): World {
  const before = previous?.memory;
  const { namespace, stage, disallowIntersectingConfig = false } = options;
  const discovery = stage === "networking" ? undefined : translateDiscovery(given, options, before?.discovery?.memory);
  const discovered = discoveredBeside(given, discovery);
  const inputs = given.apply({ put: discovered.map(({ resource }) => resource), remove: [] });

  const surroundings = surroundingsOf(inputs, { namespace, disallowIntersectingConfig }, before?.surroundings);
  const attachment = attachPolicies(inputs, surroundings, before?.attachment);
  const wanted = stage === "discovery" ? [] : targetInputs(attachment, surroundings, (key) => before?.targets.get(key)?.inputs);
  const targets = translateEach(wanted, translateTarget, before?.targets);

  const { outputs, reports: collisions } = withoutOutputCollisions(targets);
  const translated = [...[...targets.values()].flatMap(({ result }) => result.reports), ...collisions];
  return {
    inputs,
    attached: settled(attachment.snapshot, translated),
    discovery: outputSet(discoveryOwner(options), discovered),
    networking: outputSet(networkingOwner(namespace), outputs),
    reports: [...(discovery?.reports ?? []), ...(stage === "discovery" ? [] : attachment.reports), ...translated],
    memory: { discovery, surroundings, attachment, targets },
  };
}

function discoveredBeside(given: Snapshot, discovery: DiscoveryTranslation | undefined): readonly Output[] {
  const collections = given.collections();
  return [...(discovery?.outputs ?? [])].filter(
    ({ resource }) => collections.get(kindKeyOf(resource))?.get(clusterRefOf(resource)) === undefined,
  );
}
