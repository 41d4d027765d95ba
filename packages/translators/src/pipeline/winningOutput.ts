import type { Snapshot, Table } from "@isthmus/core";
import { serviceAge } from "../attachment/federation/virtualIps.ts";
import { meshTranslators } from "../meshes/meshTranslators.ts";
import { meshCluster } from "../policy/policyScope.ts";
import { type Age, compareAges, precedence } from "../policy/precedence.ts";
import { objectOf } from "./reportTargets.ts";
import type { TargetOutput, TranslatedTarget } from "./targets.ts";

const ACCESS_KINDS: ReadonlySet<string> = new Set(meshTranslators.flatMap(({ accessKinds = [] }) => accessKinds));

/** What decides between outputs that several targets want under one name. */
export interface WinningOutputSources {
  readonly targets: Table<TranslatedTarget>;
  /** Where the Services of Destinations are, which have the ages. */
  readonly inputs: Snapshot;
}

/**
 * Of outputs that differ the one that is about what is in the cluster it is written to: nobody else's federated services take its name.
 * Else the one that is about the service which the plane received first. What keeps callers out is written in any case, as its first
 * holder wants it: without it anybody gets in. Undefined where none of this says which, or several want it so.
 */
export function winningOutput(
  claims: readonly TargetOutput[],
  sources: WinningOutputSources,
  agreed: (claims: readonly TargetOutput[]) => TargetOutput | undefined,
): TargetOutput | undefined {
  return (
    homeOrEldest(claims, sources, agreed) ?? (ACCESS_KINDS.has(claims[0]?.resource.kind ?? "") ? firstHolder(claims, sources) : undefined)
  );
}

function homeOrEldest(
  claims: readonly TargetOutput[],
  sources: WinningOutputSources,
  agreed: (claims: readonly TargetOutput[]) => TargetOutput | undefined,
): TargetOutput | undefined {
  const placed = claims.map((output) => ({ output, ...homeOf(output, sources) }));
  const atHome = placed.filter(({ output, clusterName }) => clusterName === (output.resource.metadata.clusterName ?? ""));
  if (atHome.length > 0) return agreed(atHome.map(({ output }) => output));
  const [first, second] = placed
    .flatMap(({ output, age }) => (age === undefined ? [] : [{ output, age }]))
    .sort((a, b) => compareAges(a.age, b.age));
  if (first === undefined || !Number.isFinite(first.age.since)) return undefined;
  return second === undefined || compareAges(first.age, second.age) < 0 ? first.output : undefined;
}

/** Where that is which a target is about, and how old it is as the management plane has recorded. */
function homeOf(
  { target }: TargetOutput,
  { targets, inputs }: WinningOutputSources,
): { readonly clusterName: string; readonly age: Age | undefined } {
  const of = targets.row(target)?.inputs;
  if (of === undefined) return { clusterName: "", age: undefined };
  if ("destination" in of) {
    const clusterName = of.destination.spec?.kubeService?.ref?.clusterName ?? "";
    // Of files nothing was received: names decide there.
    return { clusterName, age: of.translationContext.ages === "FIRST_SEEN" ? serviceAge(of.destination, inputs, "FIRST_SEEN") : undefined };
  }
  return { clusterName: "mesh" in of ? meshCluster(of.mesh) : "", age: undefined };
}

/** A mesh before its Destinations, as what it says is about all of them, then by precedence. */
function firstHolder(claims: readonly TargetOutput[], { targets }: WinningOutputSources): TargetOutput | undefined {
  const holders = claims.flatMap((claim) => {
    const inputs = targets.row(claim.target)?.inputs;
    return inputs === undefined
      ? []
      : [{ claim, isWide: !("destination" in inputs), holder: objectOf(inputs), ages: inputs.translationContext.ages }];
  });
  const byPrecedence = precedence(holders[0]?.ages ?? "FIRST_SEEN");
  return holders.sort((a, b) => Number(b.isWide) - Number(a.isWide) || byPrecedence(a.holder, b.holder))[0]?.claim;
}
