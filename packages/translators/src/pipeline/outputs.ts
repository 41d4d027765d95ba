import {
  type CooperativeTask,
  clusterNameIn,
  type EntryChange,
  emptyOutputSet,
  emptyTable,
  equalJson,
  formatRef,
  type OutputSet,
  type Owner,
  type Report,
  type ResourceRef,
  refOf,
  type Snapshot,
  type Table,
  withEach,
} from "@isthmus/core";
import { invalidFinding, reportOf } from "../findings.ts";
import { isSame, recompute } from "../incremental/rows.ts";
import { type ReportTargets, reportTargetsOf } from "./reportTargets.ts";
import type { TargetOutput, TranslatedTarget } from "./targets.ts";
import { type WinningOutputSources, winningOutput } from "./winningOutput.ts";

/** What all targets together want. */
export interface Outputs {
  readonly set: OutputSet<TargetOutput>;
  /** Outputs that several targets want. */
  readonly nameConflicts: Table<NameConflict>;
}

/** One name that several targets want something under. */
export interface NameConflict {
  /** `resourceKeyOf` the outputs. */
  readonly key: string;
  /** In the order of the targets. */
  readonly candidates: readonly TargetOutput[];
  /** Empty when they want the same. */
  readonly reports: readonly Report[];
}

/** Nothing desired. */
export function noOutputs(owner: Owner): Outputs {
  return { set: emptyOutputSet(owner), nameConflicts: emptyTable(({ key }) => key) };
}

/**
 * All outputs but those that several targets want to write differently: of them only the rightful one is written (`winningOutput`), and
 * the one that yields is reported; where nothing says which that is, none is, and all are reported. What all want alike is one output: revisions of a
 * control plane share its namespace, and so what is said of it.
 */
export function* collectedOutputs(
  targets: Table<TranslatedTarget>,
  {
    before,
    targetChanges,
    inputs,
  }: { readonly before: Outputs; readonly targetChanges: readonly EntryChange<TranslatedTarget>[]; readonly inputs: Snapshot },
): CooperativeTask<Outputs> {
  const claims = yield* claimed(targetChanges, before);
  const contested: string[] = [];
  const changes: (readonly [string, TargetOutput | undefined])[] = [];
  for (const [key, claim] of claims) {
    if (isList(claim) || before.nameConflicts.row(key) !== undefined) contested.push(key);
    changes.push([key, isList(claim) ? writtenOf(claim, { targets, inputs }) : claim]);
    yield;
  }
  const nameConflicts = yield* recompute(before.nameConflicts, contested, (key, row) => {
    const claim = claims.get(key);
    if (claim === undefined || !isList(claim) || claim.length < 2) return undefined;
    const reports = contestReports(claim, { targets, inputs });
    return row !== undefined && isSame(row.candidates, claim) && equalJson(row.reports, reports)
      ? row
      : { key, candidates: claim, reports };
  });
  return { set: yield* withChanges(before.set, changes), nameConflicts };
}

/** Cluster by cluster, as sets are kept: else each step would change them all. */
function* withChanges(
  before: OutputSet<TargetOutput>,
  changes: readonly (readonly [string, TargetOutput | undefined])[],
): CooperativeTask<OutputSet<TargetOutput>> {
  const byCluster = new Map<string, (readonly [string, TargetOutput | undefined])[]>();
  for (const change of changes) {
    const clusterName = clusterNameIn(change[0]);
    const list = byCluster.get(clusterName);
    if (list === undefined) byCluster.set(clusterName, [change]);
    else list.push(change);
    yield;
  }
  let set = before;
  for (const list of byCluster.values()) set = yield* withEach(set, list);
  return set;
}

type Claim = TargetOutput | readonly TargetOutput[];

/** Who wants what is not as it was, by the key of the output; a list of all who want it, where that is not one alone. */
function* claimed(targetChanges: readonly EntryChange<TranslatedTarget>[], before: Outputs): CooperativeTask<ReadonlyMap<string, Claim>> {
  const claims = new Map<string, Claim>();
  const claimsOn = (key: string): readonly TargetOutput[] => {
    const claim = claims.get(key) ?? before.nameConflicts.row(key)?.candidates ?? before.set.at(key);
    return claim === undefined ? NONE : isList(claim) ? claim : [claim];
  };
  const isUncontested = ({ key }: TargetOutput) => before.nameConflicts.size === 0 || before.nameConflicts.row(key) === undefined;
  for (const { before: was, after } of targetChanges) {
    yield;
    // Most outputs of a target are the very same as before.
    const isKept = (output: TargetOutput, position: number) =>
      was?.outputs[position] === output && after?.outputs[position] === output && isUncontested(output);
    for (const [position, output] of (was?.outputs ?? NONE).entries()) {
      if (isKept(output, position)) continue;
      claims.set(
        output.key,
        claimsOn(output.key).filter(({ target }) => target !== output.target),
      );
    }
    for (const [position, output] of (after?.outputs ?? NONE).entries()) {
      if (isKept(output, position)) continue;
      const others = claimsOn(output.key);
      claims.set(output.key, others.length === 0 ? output : [...others, output].sort(byTarget));
    }
  }
  return claims;
}

const NONE: readonly never[] = [];

function isList(claim: Claim): claim is readonly TargetOutput[] {
  return Array.isArray(claim);
}

function byTarget(left: TargetOutput, right: TargetOutput): number {
  return left.target < right.target ? -1 : 1;
}

/** The output that all claims want; undefined when there is none, or they differ. */
function agreed(claims: readonly TargetOutput[]): TargetOutput | undefined {
  const [first, ...others] = claims;
  return first !== undefined && others.every(({ resource }) => equalJson(resource, first.resource)) ? first : undefined;
}

/** The output that is written; undefined when there is none. */
function writtenOf(claims: readonly TargetOutput[], sources: WinningOutputSources): TargetOutput | undefined {
  return agreed(claims) ?? winningOutput(claims, sources, agreed);
}

function contestReports(claims: readonly TargetOutput[], sources: WinningOutputSources): readonly Report[] {
  const { targets } = sources;
  const written = writtenOf(claims, sources);
  const yielding = claims.filter(({ resource }) => written === undefined || !equalJson(resource, written.resource));
  if (yielding.length === 0) return NONE;
  const concerns = claims.map((output) => ({ output, concern: concernOf(output, targets) }));
  return concerns.flatMap(({ output, concern }) => {
    const others = concerns.flatMap((other) =>
      other.concern === undefined || other.output === output ? [] : [formatRef(other.concern.target)],
    );
    if (concern === undefined || !yielding.includes(output)) return [];
    const holder = concerns.find((other) => other.output === written)?.concern?.target;
    const reason =
      holder === undefined
        ? `an object for ${others.join(", ")} would have the same name`
        : `an object for ${formatRef(holder)} already has the name`;
    const message = `${formatRef(refOf(output.resource))} is not written, because ${reason}: rename one of the services`;
    return concern.subjects.map((subject: ResourceRef) => reportOf(subject, invalidFinding("OutputCollision", message), concern.target));
  });
}

/** Whom to tell about an output. */
function concernOf(output: TargetOutput, targets: Table<TranslatedTarget>): ReportTargets | undefined {
  const target = targets.row(output.target);
  return target && reportTargetsOf(target.inputs, output);
}
