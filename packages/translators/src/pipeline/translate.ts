import {
  type CooperativeTask,
  emptyOutputSet,
  emptySnapshot,
  type OutputSet,
  type Report,
  type Resource,
  type ResourceRef,
  resourceKeyOf,
  type Snapshot,
  type Table,
} from "@isthmus/core";
import { type Attachment, attachmentReports, attachPolicies, nothingAttached } from "../attachment/attachment.ts";
import type { AttachedSources } from "../attachment/destinationJoins.ts";
import { type DiscoveryTranslation, discoveryIn } from "../discovery/discovery.ts";
import { discoveryOwner } from "../discovery/metadata.ts";
import { changesSince } from "../incremental/changes.ts";
import { transition } from "../incremental/transition.ts";
import type { TranslationContext } from "../meshes/inputs.ts";
import { networkingOwner } from "../meshes/outputMetadata.ts";
import type { AgeSource } from "../policy/precedence.ts";
import { type AppliedStatusSources, withAppliedStatus } from "./appliedStatus.ts";
import { discoveredInputs } from "./discovered.ts";
import { collectedOutputs, noOutputs, type Outputs } from "./outputs.ts";
import { reportTargetsOf } from "./reportTargets.ts";
import { noTargets, type TargetOutput, type TranslatedTarget, translateTargets } from "./targets.ts";
import { translationContextOf } from "./translationContext.ts";

export interface TranslateOptions {
  /** Namespace of the management plane. */
  readonly namespace: string;
  /** `discovery`: only that. `networking`: of the discovered objects that are given. `all`: both, one after the other. */
  readonly stage: "discovery" | "networking" | "all";
  /** The only cluster to discover, when an agent itself does it. */
  readonly agentCluster?: string;
  /** How old objects of workload clusters are. Default `FIRST_SEEN`: without the server's stamps, all are of one age. */
  readonly ages?: AgeSource;
  /** Clusters that others are to call no more while they have something else to call. Default: none. */
  readonly offline?: ReadonlySet<string>;
  /** Refuse what meets a user's own Istio object for the same host, instead of warning. */
  readonly disallowIntersectingConfig?: boolean;
}

/** Everything that follows from one snapshot. */
export interface Translation {
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
  /** Objects that are left out, or are as they last were, because translation throws on them; by `resourceKeyOf`. */
  readonly faults: TranslationFaults;
  /** What the next translation can reuse. */
  readonly cache: TranslationCache;
}

/** By `resourceKeyOf` of the object. */
export type TranslationFaults = ReadonlyMap<string, TranslationFault>;

/** An object that translation throws on: our mistake, which costs what follows from this object. */
export interface TranslationFault {
  readonly ref: ResourceRef;
  /** The object as it was given; where it was taken away, as it was. */
  readonly object: Resource;
  /** What is translated in its place: its last form on which nothing threw, or what closes what an AccessPolicy is about; undefined: nothing. */
  readonly inPlace: Resource | undefined;
  /** Whether that is what closes what an AccessPolicy is about. */
  readonly isClosed: boolean;
  /** Whether it throws that the object is taken away, so that it stays. */
  readonly isGone: boolean;
  readonly error: unknown;
}

export interface TranslationCache {
  readonly given: Snapshot;
  readonly options: TranslateOptions;
  readonly discovery: DiscoveryTranslation | undefined;
  readonly translationContext: TranslationContext;
  /** Before translation had its say. */
  readonly attachment: Attachment;
  readonly targets: Table<TranslatedTarget>;
  readonly outputs: Outputs;
  /** The translation of what nothing threw on, where that is not all that was given: the next one continues from it. */
  readonly sound?: Translation;
}

/**
 * Translates everything that is given, and throws what a stage throws: `faultIsolation.ts` is for those who must go on.
 *
 * A pure function: equal snapshots give equal worlds, and no mistake of a user makes it throw. `previous` only spares work:
 * what did not change since keeps its identity. Mesh, Workload and Destination objects that are given win over discovered ones.
 *
 * Each stage is a table of rows, and each row a function of what it looks up by key or by index. From scratch all rows are made; after
 * a change those that could have looked up something that changed.
 */
export function* translateOrThrow(given: Snapshot, options: TranslateOptions, previous?: Translation): CooperativeTask<Translation> {
  const isContinued = previous !== undefined && isSameTranslateOptions(previous.cache.options, options);
  const before = isContinued ? previous : nothingTranslated(options);
  const { namespace, stage, disallowIntersectingConfig = false, ages = "FIRST_SEEN" } = options;

  const discovery = stage === "networking" ? undefined : yield* discoveryIn(given, options, before.cache.discovery?.memory);
  const { inputs, beside } = yield* discoveredInputs(given, discovery?.outputs, before);
  const translationContext = translationContextOf(
    inputs,
    { namespace, disallowIntersectingConfig, ages },
    isContinued ? before.cache.translationContext : undefined,
  );
  const since = isContinued
    ? { inputs: before.inputs, changes: changesSince(before.inputs, inputs), translationContext: before.cache.translationContext }
    : undefined;
  const step = { inputs, translationContext, since, offline: options.offline ?? NONE_OFFLINE };

  const attachment = yield* attachPolicies(step, before.cache.attachment);
  const attached = { inputs, translationContext, attachment };
  const attachedBefore = since && {
    before: { inputs: before.inputs, translationContext: before.cache.translationContext, attachment: before.cache.attachment },
    changes: since.changes,
  };
  const targetsBefore = before.cache.targets;
  const targets =
    stage === "discovery" ? targetsBefore : yield* translateTargets(transition<AttachedSources>(attached, attachedBefore), targetsBefore);
  const targetChanges = since?.changes.between(targets, targetsBefore) ?? targets.changesSince(targetsBefore);
  const outputs = yield* collectedOutputs(targets, { before: before.cache.outputs, targetChanges, inputs });
  const { nameConflicts } = outputs;
  const settledBefore = attachedBefore && {
    before: { ...attachedBefore.before, targets: targetsBefore, nameConflicts: before.cache.outputs.nameConflicts },
    changes: attachedBefore.changes,
  };
  const settledNow = yield* withAppliedStatus(
    transition<AppliedStatusSources>({ ...attached, targets, nameConflicts: nameConflicts }, settledBefore),
    before.attached,
  );
  let reports: readonly Report[] | undefined;
  return {
    inputs,
    attached: settledNow,
    discovery: beside,
    networking: outputs.set,
    get reports() {
      reports ??= [...(discovery?.reports ?? []), ...(stage === "discovery" ? [] : networkingReports(attachment, targets, outputs))];
      return reports;
    },
    faults: NO_FAULTS,
    cache: { given, options, discovery, translationContext, attachment, targets, outputs },
  };
}

/**
 * What an output was made of: the target (a Destination, a Mesh or a VirtualMesh), the users' objects that it exists because of, and
 * its parents.
 */
export function deletionCausesOf({ networking, discovery, cache: memory }: Translation, ref: ResourceRef): readonly ResourceRef[] {
  const output = networking.get(ref);
  const row = output === undefined ? undefined : memory.targets.row(output.target);
  const concern = output === undefined || row === undefined ? undefined : reportTargetsOf(row.inputs, output);
  const causes = [
    ...(concern === undefined ? [] : [concern.target, ...concern.subjects]),
    ...((output ?? discovery.get(ref))?.parents ?? []),
  ];
  return [...new Map(causes.map((cause) => [resourceKeyOf(cause), cause])).values()];
}

const NONE_OFFLINE: ReadonlySet<string> = new Set();
const NO_FAULTS: TranslationFaults = new Map();

/** Whether what was made with one can be continued with the other. Which clusters are offline is one of the inputs. */
export function isSameTranslateOptions(left: TranslateOptions, right: TranslateOptions): boolean {
  const { namespace, stage, agentCluster, disallowIntersectingConfig = false, ages = "FIRST_SEEN" } = left;
  return (
    namespace === right.namespace &&
    stage === right.stage &&
    agentCluster === right.agentCluster &&
    ages === (right.ages ?? "FIRST_SEEN") &&
    disallowIntersectingConfig === (right.disallowIntersectingConfig ?? false)
  );
}

function nothingTranslated(options: TranslateOptions): Translation {
  const nothing = emptySnapshot();
  const { namespace, disallowIntersectingConfig = false, ages = "FIRST_SEEN" } = options;
  const outputs = noOutputs(networkingOwner(namespace));
  return {
    inputs: nothing,
    attached: nothing,
    discovery: emptyOutputSet(discoveryOwner(options)),
    networking: outputs.set,
    reports: [],
    faults: NO_FAULTS,
    cache: {
      given: nothing,
      options,
      discovery: undefined,
      translationContext: translationContextOf(nothing, { namespace, disallowIntersectingConfig, ages }),
      attachment: nothingAttached(),
      targets: noTargets(),
      outputs,
    },
  };
}

function networkingReports(attachment: Attachment, targets: Table<TranslatedTarget>, { nameConflicts }: Outputs): readonly Report[] {
  return [
    ...attachmentReports(attachment),
    ...targets.where(withReports, "").flatMap(({ reports }) => reports),
    ...[...nameConflicts].flatMap(({ reports }) => reports),
  ];
}

/** Targets of which there is something to tell, under "". */
function withReports({ reports }: TranslatedTarget): readonly string[] {
  return reports.length === 0 ? [] : [""];
}
