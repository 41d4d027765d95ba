import { AuthorizationPolicy } from "@isthmus/api";
import {
  clusterNameIn,
  emptyOutputSet,
  emptyTable,
  equalJson,
  formatRef,
  type OutputSet,
  type Owner,
  type Report,
  type ResourceRef,
  refOf,
  type Steps,
  type Table,
  withEach,
} from "@isthmus/core";
import { invalid, reported } from "./findings.ts";
import { isSame, remade } from "./incremental/rows.ts";
import { type Concern, concernedBy, objectOf } from "./networking/concern.ts";
import { precedence } from "./precedence.ts";
import type { Target, TargetOutput } from "./targets.ts";

/** What all targets together want. */
export interface Outputs {
  readonly set: OutputSet<TargetOutput>;
  /** Outputs that several targets want. */
  readonly contests: Table<Contest>;
}

/** One name that several targets want something under. */
export interface Contest {
  /** `resourceKeyOf` the outputs. */
  readonly key: string;
  /** In the order of the targets. */
  readonly claims: readonly TargetOutput[];
  /** Empty when they want the same. */
  readonly reports: readonly Report[];
}

/** Nothing wanted. */
export function noOutputs(owner: Owner): Outputs {
  return { set: emptyOutputSet(owner), contests: emptyTable(({ key }) => key) };
}

/**
 * All outputs but those that two targets want to write differently: of them neither is written, and both sides are told. But that which
 * keeps callers out is written as its first holder wants it: without it anybody gets in. What both want alike is one output: revisions
 * of a control plane share its namespace, and so what is said of it.
 */
export function* collectedOutputs(
  targets: Table<Target>,
  { before, targetsBefore }: { readonly before: Outputs; readonly targetsBefore: Table<Target> },
): Steps<Outputs> {
  const claims = yield* claimed(targets, before, targetsBefore);
  const contested: string[] = [];
  const changes: (readonly [string, TargetOutput | undefined])[] = [];
  for (const [key, claim] of claims) {
    if (isList(claim) || before.contests.row(key) !== undefined) contested.push(key);
    changes.push([key, isList(claim) ? written(claim, targets) : claim]);
    yield;
  }
  const contests = yield* remade(before.contests, contested, (key, row) => {
    const claim = claims.get(key);
    if (claim === undefined || !isList(claim) || claim.length < 2) return undefined;
    const reports = contestReports(claim, targets);
    return row !== undefined && isSame(row.claims, claim) && equalJson(row.reports, reports) ? row : { key, claims: claim, reports };
  });
  return { set: yield* withChanges(before.set, changes), contests };
}

/** Cluster by cluster, as sets are kept: else each step would change them all. */
function* withChanges(
  before: OutputSet<TargetOutput>,
  changes: readonly (readonly [string, TargetOutput | undefined])[],
): Steps<OutputSet<TargetOutput>> {
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
function* claimed(targets: Table<Target>, before: Outputs, targetsBefore: Table<Target>): Steps<ReadonlyMap<string, Claim>> {
  const claims = new Map<string, Claim>();
  const claimsOn = (key: string): readonly TargetOutput[] => {
    const claim = claims.get(key) ?? before.contests.row(key)?.claims ?? before.set.at(key);
    return claim === undefined ? NONE : isList(claim) ? claim : [claim];
  };
  for (const { before: was, after } of targets.changesSince(targetsBefore)) {
    yield;
    for (const output of was?.outputs ?? NONE) {
      claims.set(
        output.key,
        claimsOn(output.key).filter(({ target }) => target !== output.target),
      );
    }
    for (const output of after?.outputs ?? NONE) {
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

/** What is written of all claims: what they agree on, else nothing, but for an AuthorizationPolicy. */
function written(claims: readonly TargetOutput[], targets: Table<Target>): TargetOutput | undefined {
  return agreed(claims) ?? (claims[0]?.resource.kind === AuthorizationPolicy.kind ? rightful(claims, targets) : undefined);
}

/** The claim of the first holder: a mesh before its Destinations, as what it says is about all of them, then by precedence. */
function rightful(claims: readonly TargetOutput[], targets: Table<Target>): TargetOutput | undefined {
  const holders = claims.flatMap((claim) => {
    const target = targets.row(claim.target);
    return target === undefined
      ? []
      : [{ claim, isWide: !("destination" in target.inputs), holder: objectOf(target.inputs), ages: target.inputs.surroundings.ages }];
  });
  const [first] = holders;
  const byPrecedence = precedence(first?.ages ?? "FIRST_SEEN");
  return holders.sort((a, b) => Number(b.isWide) - Number(a.isWide) || byPrecedence(a.holder, b.holder))[0]?.claim;
}

function contestReports(claims: readonly TargetOutput[], targets: Table<Target>): readonly Report[] {
  if (agreed(claims) !== undefined) return NONE;
  const held = written(claims, targets);
  const concerns = claims.map((output) => ({ output, concern: concernOf(output, targets) }));
  return concerns.flatMap(({ output, concern }) => {
    const others = concerns.flatMap((other) =>
      other.concern === undefined || other.output === output ? [] : [formatRef(other.concern.target)],
    );
    if (concern === undefined || output === held) return [];
    const holder = concerns.find((other) => other.output === held)?.concern?.target;
    const reason =
      holder === undefined
        ? `${others.join(", ")} would be written under the same name`
        : `it is written for ${formatRef(holder)}, which had the name first`;
    const message = `${formatRef(refOf(output.resource))} is not written, as ${reason}: rename one of the services`;
    return concern.subjects.map((subject: ResourceRef) => reported(subject, invalid("OutputCollision", message), concern.target));
  });
}

/** Whom to tell about an output. */
function concernOf(output: TargetOutput, targets: Table<Target>): Concern | undefined {
  const target = targets.row(output.target);
  return target && concernedBy(target.inputs, output);
}
