import type { TrafficPolicy } from "@isthmus/api";
import { type Finding, invalidFinding } from "../../../findings.ts";
import type { PolicyEvaluation, PolicyTarget } from "../../meshTranslator.ts";
import { evaluatedInOrder } from "../../policyEvaluation.ts";
import { asksContext, withoutConnections } from "../policyFields.ts";
import { findingsOfPorts } from "../routes/connectionRoutes.ts";
import { matchesFrom } from "../routes/matches.ts";
import { referencesIn } from "../routes/routeContext.ts";
import { type Source, sourcesOf } from "../source.ts";
import { RouteFieldOwners, type UserConflict } from "./routeFieldOwners.ts";
import { WorkloadFieldOwners } from "./workloadFieldOwners.ts";

/**
 * Decides which policies are in force on a Destination. A policy counts as a whole or not at all, but for what it says of connections where
 * a user's rule must stay; and one that does not count leaves no trace: what it set is free for those after it.
 */
export function evaluatePolicies(target: PolicyTarget): readonly PolicyEvaluation[] {
  const sources = tellingSources(target).map((source) => new RouteFieldOwners(source, { ...target, object: target.destination }));
  const claimants = [...sources, new WorkloadFieldOwners(target)];
  // What one policy sets matters to others, and to objects of users.
  const mayMatter = target.policies.length > 1 || target.userObjects.length > 0;
  const verdicts = evaluatedInOrder(target, {
    findingsOf: (policy) => distinct(claimants.flatMap((claimant) => claimant.findingsOf(policy))),
    add(policy) {
      if (mayMatter) for (const claimant of claimants) claimant.add(policy);
    },
  });
  const lookup = referencesIn(target.references, target.translationContext);
  const told = verdicts.map(({ policy, inForce, findings }) => {
    const ofPorts = inForce === undefined ? [] : findingsOfPorts(target.destination, inForce, lookup);
    return ofPorts.length === 0 ? { policy, inForce, findings } : { policy, inForce, findings: [...findings, ...ofPorts] };
  });
  if (target.userObjects.length === 0) return told;
  return withUserConflicts(told, (policy) => sources.flatMap((source) => source.userConflicts(policy, target)));
}

/** The sources from which something else may be found than from those before them. */
function tellingSources(target: PolicyTarget): readonly Source[] {
  const [policy, ...others] = target.policies;
  const isAlone = policy !== undefined && others.length === 0 && target.userObjects.length === 0 && target.lastAccepted.size === 0;
  if (!isAlone || asksContext(policy.spec?.policy ?? {})) return sourcesOf(target);
  const byMatches = new Map(sourcesOf(target).map((source) => [matchesFrom(source.clusterName, policy.spec ?? {}), source]));
  return [...byMatches.values()];
}

/**
 * A user's own object for the same host is reported on every policy; where it must not be met, none of them is in force, or nothing that
 * they say of connections.
 */
function withUserConflicts(
  verdicts: readonly PolicyEvaluation[],
  conflictsOf: (policy: TrafficPolicy) => readonly UserConflict[],
): readonly PolicyEvaluation[] {
  return verdicts.map(({ policy, inForce, findings }) => {
    const conflicts = conflictsOf(inForce ?? policy);
    if (conflicts.length === 0) return { policy, inForce, findings };
    const told = [...findings, ...distinct(conflicts.map(({ finding }) => finding))];
    const refusing = conflicts.filter(({ finding }) => finding.state === "INVALID");
    if (refusing.length === 0 || inForce === undefined) return { policy, inForce, findings: told };
    const rest = refusing.every(({ isOfConnections }) => isOfConnections) ? withoutConnections(inForce) : undefined;
    return { policy, inForce: rest, findings: rest === undefined ? told : [...told, REST] };
  });
}

const REST = invalidFinding("PartlyInForce", "what this policy says of anything but connections is in force here");

/** The same finding is made for each source. */
export function distinct(findings: readonly Finding[]): readonly Finding[] {
  return findings.length < 2 ? findings : [...new Map(findings.map((finding) => [finding.message, finding])).values()];
}
