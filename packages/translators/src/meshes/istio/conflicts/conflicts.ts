import type { TrafficPolicy } from "@isthmus/api";
import type { Finding } from "../../../findings.ts";
import type { PolicyEvaluation, PolicyTarget } from "../../meshTranslator.ts";
import { matchesFrom } from "../matches.ts";
import { asksContext } from "../policyFields.ts";
import { type Source, sourcesOf } from "../source.ts";
import { RouteFieldOwners } from "./routeFieldOwners.ts";
import { WorkloadFieldOwners } from "./workloadFieldOwners.ts";

/**
 * Decides which policies are in force on a Destination. A policy counts as a whole or not at all, and one that does not count
 * leaves no trace: what it set is free for those after it.
 */
export function evaluatePolicies(target: PolicyTarget): readonly PolicyEvaluation[] {
  const sources = tellingSources(target).map((source) => new RouteFieldOwners(source, { ...target, object: target.destination }));
  const claimants = [...sources, new WorkloadFieldOwners(target)];
  // What one policy sets matters to others, and to objects of users.
  const mayMatter = target.policies.length > 1 || target.userObjects.length > 0;
  const verdicts = target.policies.map((policy): PolicyEvaluation => {
    const findings = distinct(claimants.flatMap((claimant) => claimant.findingsOf(policy)));
    const isInForce = findings.every(({ state }) => state !== "INVALID");
    if (isInForce && mayMatter) for (const claimant of claimants) claimant.add(policy);
    return { policy, isInForce, findings };
  });
  if (target.userObjects.length === 0) return verdicts;
  return withUserConflicts(verdicts, (policy) => distinct(sources.flatMap((source) => source.userConflicts(policy, target))));
}

/** The sources from which something else may be found than from those before them. */
function tellingSources(target: PolicyTarget): readonly Source[] {
  const [policy, ...others] = target.policies;
  const isAlone = policy !== undefined && others.length === 0 && target.userObjects.length === 0;
  if (!isAlone || asksContext(policy.spec?.policy ?? {})) return sourcesOf(target);
  const byMatches = new Map(sourcesOf(target).map((source) => [matchesFrom(source.clusterName, policy.spec ?? {}), source]));
  return [...byMatches.values()];
}

/** A user's own object for the same host is reported on every policy; where it must not be met, none of them is in force. */
function withUserConflicts(
  verdicts: readonly PolicyEvaluation[],
  findingsFor: (policy: TrafficPolicy) => readonly Finding[],
): readonly PolicyEvaluation[] {
  return verdicts.map((verdict) => {
    const findings = findingsFor(verdict.policy);
    if (findings.length === 0) return verdict;
    const isRefused = findings.some(({ state }) => state === "INVALID");
    return { policy: verdict.policy, isInForce: verdict.isInForce && !isRefused, findings: [...verdict.findings, ...findings] };
  });
}

/** The same finding is made for each source. */
export function distinct(findings: readonly Finding[]): readonly Finding[] {
  return findings.length < 2 ? findings : [...new Map(findings.map((finding) => [finding.message, finding])).values()];
}
