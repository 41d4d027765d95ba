import {
  emptyOutputSet,
  emptySnapshot,
  finished,
  type OutputSet,
  type Report,
  type ResourceRef,
  resourceKeyOf,
  type Snapshot,
  type Steps,
  type Table,
} from "@isthmus/core";
import { affectedTargets } from "./attachment/affectedTargets.ts";
import { type Attachment, attachmentReports, attachPolicies, nothingAttached } from "./attachment/attachment.ts";
import { surroundingsOf } from "./attachment/surroundings.ts";
import { discoveredInputs } from "./discovered.ts";
import { type DiscoveryTranslation, discoveryIn } from "./discovery/discovery.ts";
import { discoveryOwner } from "./discovery/metadata.ts";
import { changesSince } from "./incremental/changes.ts";
import type { Surroundings } from "./inputs.ts";
import { concernedBy } from "./networking/concern.ts";
import { networkingOwner } from "./networking/outputMetadata.ts";
import { collectedOutputs, noOutputs, type Outputs } from "./outputs.ts";
import type { Ages } from "./precedence.ts";
import { settled } from "./settlement.ts";
import { noTargets, type Target, type TargetOutput, translateTargets } from "./targets.ts";

export interface TranslateOptions {
  /** Namespace of the management plane. */
  readonly namespace: string;
  /** `discovery`: only that. `networking`: of the discovered objects that are given. `all`: both, one after the other. */
  readonly stage: "discovery" | "networking" | "all";
  /** The only cluster to discover, when an agent itself does it. */
  readonly agentCluster?: string;
  /** How old objects of workload clusters are. Default `FIRST_SEEN`: without the server's stamps, all are of one age. */
  readonly ages?: Ages;
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
  readonly networking: OutputSet<TargetOutput>;
  /** Findings about users' and discovered objects, gathered when they are asked for: `newReports` costs what changed. */
  readonly reports: readonly Report[];
  /** What the next translation can reuse. */
  readonly memory: WorldMemory;
}

export interface WorldMemory {
  readonly given: Snapshot;
  readonly options: TranslateOptions;
  readonly discovery: DiscoveryTranslation | undefined;
  readonly surroundings: Surroundings;
  /** Before translation had its say. */
  readonly attachment: Attachment;
  readonly targets: Table<Target>;
  readonly outputs: Outputs;
}

/**
 * A pure function: equal snapshots give equal worlds, and no mistake of a user makes it throw. `previous` only spares work:
 * what did not change since keeps its identity. Mesh, Workload and Destination objects that are given win over discovered ones.
 *
 * Each stage is a table of rows, and each row a function of what it looks up by key or by index. From scratch all rows are made; after
 * a change those that could have looked up something that changed.
 */
export function translate(given: Snapshot, options: TranslateOptions, previous?: World): World {
  return finished(translation(given, options, previous));
}

/** The same in steps, for whoever must not hold others up meanwhile: a step is about a row of a table, or some thousand pointers. */
export function* translation(given: Snapshot, options: TranslateOptions, previous?: World): Steps<World> {
  const isContinued = previous !== undefined && isSameOptions(previous.memory.options, options);
  const before = isContinued ? previous : nothingTranslated(options);
  const { namespace, stage, disallowIntersectingConfig = false, ages = "FIRST_SEEN" } = options;

  const discovery = stage === "networking" ? undefined : yield* discoveryIn(given, options, before.memory.discovery?.memory);
  const { inputs, beside } = yield* discoveredInputs(given, discovery?.outputs, before);
  const surroundings = surroundingsOf(
    inputs,
    { namespace, disallowIntersectingConfig, ages },
    isContinued ? before.memory.surroundings : undefined,
  );
  const since = isContinued ? { changes: changesSince(before.inputs, inputs), surroundings: before.memory.surroundings } : undefined;
  const step = { inputs, surroundings, since };

  const { attachment, changes } = yield* attachPolicies(step, before.memory.attachment);
  const affected = yield* affectedTargets(step, { attachment, changes }, before.memory.attachment);
  const targetsBefore = before.memory.targets;
  const targets = stage === "discovery" ? targetsBefore : yield* translateTargets({ step, attachment }, targetsBefore, affected);
  const outputs = yield* collectedOutputs(targets, { before: before.memory.outputs, targetsBefore, inputs });
  const { contests } = outputs;
  const attached = yield* settled(
    { step, attachment, changes, targets, contests },
    { attached: before.attached, targets: targetsBefore, contests: before.memory.outputs.contests },
  );
  let reports: readonly Report[] | undefined;
  return {
    inputs,
    attached,
    discovery: beside,
    networking: outputs.set,
    get reports() {
      reports ??= [...(discovery?.reports ?? []), ...(stage === "discovery" ? [] : networkingReports(attachment, targets, outputs))];
      return reports;
    },
    memory: { given, options, discovery, surroundings, attachment, targets, outputs },
  };
}

/**
 * What an output was made of: the target (a Destination, a Mesh or a VirtualMesh), the users' objects that it exists because of, and
 * its parents.
 */
export function causesOf({ networking, discovery, memory }: World, ref: ResourceRef): readonly ResourceRef[] {
  const output = networking.get(ref);
  const row = output === undefined ? undefined : memory.targets.row(output.target);
  const concern = output === undefined || row === undefined ? undefined : concernedBy(row.inputs, output);
  const causes = [
    ...(concern === undefined ? [] : [concern.target, ...concern.subjects]),
    ...((output ?? discovery.get(ref))?.parents ?? []),
  ];
  return [...new Map(causes.map((cause) => [resourceKeyOf(cause), cause])).values()];
}

function isSameOptions(left: TranslateOptions, right: TranslateOptions): boolean {
  const { namespace, stage, agentCluster, disallowIntersectingConfig = false, ages = "FIRST_SEEN" } = left;
  return (
    namespace === right.namespace &&
    stage === right.stage &&
    agentCluster === right.agentCluster &&
    ages === (right.ages ?? "FIRST_SEEN") &&
    disallowIntersectingConfig === (right.disallowIntersectingConfig ?? false)
  );
}

function nothingTranslated(options: TranslateOptions): World {
  const nothing = emptySnapshot();
  const { namespace, disallowIntersectingConfig = false, ages = "FIRST_SEEN" } = options;
  const outputs = noOutputs(networkingOwner(namespace));
  return {
    inputs: nothing,
    attached: nothing,
    discovery: emptyOutputSet(discoveryOwner(options)),
    networking: outputs.set,
    reports: [],
    memory: {
      given: nothing,
      options,
      discovery: undefined,
      surroundings: surroundingsOf(nothing, { namespace, disallowIntersectingConfig, ages }),
      attachment: nothingAttached(),
      targets: noTargets(),
      outputs,
    },
  };
}

function networkingReports(attachment: Attachment, targets: Table<Target>, { contests }: Outputs): readonly Report[] {
  return [
    ...attachmentReports(attachment),
    ...targets.where(withReports, "").flatMap(({ reports }) => reports),
    ...[...contests].flatMap(({ reports }) => reports),
  ];
}

/** Targets of which there is something to tell, under "". */
function withReports({ reports }: Target): readonly string[] {
  return reports.length === 0 ? [] : [""];
}
