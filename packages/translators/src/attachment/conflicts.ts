import type { ConnectionPolicy, Destination, TrafficPolicy } from "@isthmus/api";
import { equalJson, formatRef, refOf } from "@isthmus/core";
import { type Finding, invalid, warning } from "../findings.ts";
import type { DestinationInputs } from "../inputs.ts";
import type { RouteFields } from "../networking/istio/features/feature.ts";
import { defaultConnectionPolicy } from "../networking/istio/features/mtls.ts";
import { bySources, covers, equalMatches, type Matches, matchesFrom } from "../networking/istio/matches.ts";
import { asksContext, connectionFields, routeFields, type SourceContext } from "../networking/istio/policyFields.ts";
import { type References, routeContext } from "../networking/istio/routeContext.ts";
import { type Source, sourcesOf } from "../networking/istio/source.ts";
import { userConflictFinding } from "../networking/istio/userObjects.ts";
import { type Reach, reachIn } from "./reach.ts";

/** A Destination of an Istio mesh with the TrafficPolicies that select it, in order of precedence. */
export interface PolicyTarget extends Pick<DestinationInputs, "destination" | "federatedTo" | "userObjects" | "surroundings"> {
  readonly policies: readonly TrafficPolicy[];
  readonly references: References;
}

/** What was found of one policy on one Destination. */
export interface PolicyVerdict {
  readonly policy: TrafficPolicy;
  readonly isInForce: boolean;
  readonly findings: readonly Finding[];
}

/**
 * Decides which policies are in force on a Destination. A policy counts as a whole or not at all, and one that does not count
 * leaves no trace: what it set is free for those after it.
 */
export function policyVerdicts(target: PolicyTarget): readonly PolicyVerdict[] {
  const sources = tellingSources(target).map((source) => new SourceClaims(source, target));
  // What one policy sets matters to others, and to objects of users.
  const mayMatter = target.policies.length > 1 || target.userObjects.length > 0;
  const verdicts = target.policies.map((policy): PolicyVerdict => {
    const findings = distinct(sources.flatMap((source) => source.findingsOf(policy)));
    const isInForce = findings.every(({ state }) => state !== "INVALID");
    if (isInForce && mayMatter) for (const source of sources) source.claim(policy);
    return { policy, isInForce, findings };
  });
  if (target.userObjects.length === 0) return verdicts;
  return withUserConflicts(verdicts, (policy) => distinct(sources.flatMap((source) => source.userConflicts(policy))));
}

/** The sources from which something else may be found than from those before them. */
function tellingSources(target: PolicyTarget): readonly Source[] {
  const [policy, ...others] = target.policies;
  const isAlone = policy !== undefined && others.length === 0 && target.userObjects.length === 0;
  if (!isAlone || asksContext(policy.spec?.policy ?? {})) return sourcesOf(target);
  const byMatches = new Map(sourcesOf(target).map((source) => [matchesFrom(source.clusterName, policy.spec ?? {}), source]));
  return [...byMatches.values()];
}

/** What policies in force have set for requests from one source. */
class SourceClaims {
  readonly #source: Source;
  readonly #target: PolicyTarget;
  #contextWhenAsked: SourceContext | undefined;
  readonly #routes: { readonly matches: Matches; readonly claims: Claims }[] = [];
  readonly #connections: Claims = new Map();
  readonly #reach: Reach;
  #current: ConnectionPolicy;

  constructor(source: Source, target: PolicyTarget) {
    this.#source = source;
    this.#target = target;
    this.#reach = reachIn(target.surroundings);
    this.#current = defaultConnectionPolicy(target.surroundings.settings, source);
  }

  findingsOf(policy: TrafficPolicy): readonly Finding[] {
    const matches = this.#matchesOf(policy);
    if (matches === undefined) return [];
    const own = [...routeFields.findingsOf(policy, this.#context), ...connectionFields.findingsOf(policy, this.#context)];
    // Alone, there is nobody to be in conflict with.
    if (this.#target.policies.length < 2 || own.some(({ state }) => state === "INVALID")) return own;
    return [
      ...own,
      ...conflicts(routeFields.fieldsOf(policy, this.#context), this.#claimsOn(matches), this.#target.destination),
      ...this.#shadowFindings(policy, matches),
      ...conflicts(connectionFields.fieldsOf(policy, this.#context), this.#connections, this.#target.destination),
    ];
  }

  claim(policy: TrafficPolicy): void {
    const matches = this.#matchesOf(policy);
    if (matches === undefined) return;
    addClaims(this.#claimsOn(matches), routeFields.fieldsOf(policy, this.#context), policy);
    // A policy that says what holds anyway owns nothing: one after it may say otherwise.
    const changed = Object.entries(connectionFields.fieldsOf(policy, this.#context)).filter(
      ([field, value]) => !equalJson(value, fieldOf(this.#current, field)),
    );
    addClaims(this.#connections, Object.fromEntries(changed), policy);
    this.#current = { ...this.#current, ...Object.fromEntries(changed) };
  }

  userConflicts(policy: TrafficPolicy): readonly Finding[] {
    const { clusterName = this.#source.clusterName } = this.#reach.limitOf(policy);
    const isNamed = clusterName === this.#source.clusterName;
    const hasRoutes = this.#routes.some(({ claims }) => claims.size > 0);
    const findings = [
      hasRoutes ? userConflictFinding(this.#target, { kind: "VirtualService", source: this.#source }, isNamed) : undefined,
      userConflictFinding(this.#target, { kind: "DestinationRule", source: this.#source }, isNamed),
    ];
    return findings.filter((finding) => finding !== undefined);
  }

  /** A route comes to nothing where one before it, of a policy that says the same of its sources in other words, takes all its requests. */
  #shadowFindings(policy: TrafficPolicy, matches: Matches): readonly Finding[] {
    if (Object.keys(routeFields.fieldsOf(policy, this.#context)).length === 0) return [];
    for (const { matches: earlier, claims } of this.#routes) {
      const [claim] = claims.values();
      // One for this cluster and one for all are as any narrow and wide route beside each other.
      if (claim === undefined || bySources(earlier, matches) !== 0) continue;
      if (equalMatches(earlier, matches) || !covers(earlier, matches)) continue;
      const [owner, destination] = [claim.owner, this.#target.destination].map((one) => formatRef(refOf(one)));
      const requests = `requests from ${this.#source.clusterName} to ${destination}`;
      return [
        warning(
          "RouteShadowed",
          `${owner} has precedence and routes the same ${requests}, so this policy's routes have no effect on them: narrow one of them`,
        ),
      ];
    }
    return [];
  }

  get #context(): SourceContext {
    this.#contextWhenAsked ??= routeContext(this.#source, this.#target.references);
    return this.#contextWhenAsked;
  }

  #matchesOf(policy: TrafficPolicy): Matches | undefined {
    return matchesFrom(this.#source.clusterName, policy.spec ?? {});
  }

  #claimsOn(matches: Matches): Claims {
    let group = this.#routes.find((candidate) => equalMatches(candidate.matches, matches));
    if (group === undefined) {
      group = { matches, claims: new Map() };
      this.#routes.push(group);
    }
    return group.claims;
  }
}

/** Output fields that are set, by name. */
type Claims = Map<string, { readonly value: unknown; readonly owner: TrafficPolicy }>;

function addClaims(claims: Claims, fields: RouteFields | ConnectionPolicy, owner: TrafficPolicy): void {
  for (const [field, value] of Object.entries(fields)) if (!claims.has(field)) claims.set(field, { value, owner });
}

/** Fields that a policy with precedence sets to another value. Equal values are no conflict. */
function conflicts(fields: RouteFields | ConnectionPolicy, claims: Claims, destination: Destination): readonly Finding[] {
  return Object.entries(fields).flatMap(([field, value]) => {
    const claim = claims.get(field);
    if (claim === undefined || equalJson(claim.value, value)) return [];
    const owner = formatRef(refOf(claim.owner));
    const where = `for the same traffic to ${formatRef(refOf(destination))}`;
    const remedy = "make both equal, narrow one of them, or remove this one";
    return [invalid("FieldConflict", `${POLICY_FIELDS[field] ?? field}: ${owner} has precedence and sets ${field} ${where}: ${remedy}`)];
  });
}

/** Where users set the output fields. */
const POLICY_FIELDS: Readonly<Record<string, string>> = {
  route: "spec.policy.trafficShift",
  fault: "spec.policy.faultInjection",
  timeout: "spec.policy.requestTimeout",
  retries: "spec.policy.retries",
  corsPolicy: "spec.policy.corsPolicy",
  mirror: "spec.policy.mirror",
  mirrorPercentage: "spec.policy.mirror.percentage",
  headers: "spec.policy.headerManipulation",
  outlierDetection: "spec.policy.outlierDetection",
  connectionPool: "spec.policy.connectionPoolSettings",
  tls: "spec.policy.mtls",
};

function fieldOf(policy: ConnectionPolicy, field: string): unknown {
  return Object.entries(policy).find(([name]) => name === field)?.[1];
}

/** A user's own object for the same host is told to every policy; where it must not be met, none of them is in force. */
function withUserConflicts(
  verdicts: readonly PolicyVerdict[],
  findingsFor: (policy: TrafficPolicy) => readonly Finding[],
): readonly PolicyVerdict[] {
  return verdicts.map((verdict) => {
    const findings = findingsFor(verdict.policy);
    if (findings.length === 0) return verdict;
    const isRefused = findings.some(({ state }) => state === "INVALID");
    return { policy: verdict.policy, isInForce: verdict.isInForce && !isRefused, findings: [...verdict.findings, ...findings] };
  });
}

/** The same finding is made for each source. */
function distinct(findings: readonly Finding[]): readonly Finding[] {
  return findings.length < 2 ? findings : [...new Map(findings.map((finding) => [finding.message, finding])).values()];
}
