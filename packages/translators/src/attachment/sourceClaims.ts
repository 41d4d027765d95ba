import type { ConnectionPolicy, TrafficPolicy } from "@isthmus/api";
import { equalJson, formatRef, refOf } from "@isthmus/core";
import { type Finding, warning } from "../findings.ts";
import type { DestinationInputs } from "../inputs.ts";
import { defaultConnectionPolicy } from "../networking/istio/features/mtls.ts";
import { bySources, covers, equalMatches, type Matches, matchesFrom } from "../networking/istio/matches.ts";
import { connectionFields, routeFields, type SourceContext } from "../networking/istio/policyFields.ts";
import { type References, routeContext } from "../networking/istio/routeContext.ts";
import type { Source } from "../networking/istio/source.ts";
import { userConflictFinding } from "../networking/istio/userObjects.ts";
import { Claims } from "./claims.ts";
import { type Reach, reachIn } from "./reach.ts";

/** A Destination of an Istio mesh with the TrafficPolicies that select it, in order of precedence. */
export interface PolicyTarget extends Pick<DestinationInputs, "destination" | "federatedTo" | "userObjects" | "surroundings"> {
  readonly policies: readonly TrafficPolicy[];
  readonly references: References;
}

/** What policies in force have set for requests from one source. */
export class SourceClaims {
  readonly #source: Source;
  readonly #target: PolicyTarget;
  #contextWhenAsked: SourceContext | undefined;
  readonly #routes: { readonly matches: Matches; readonly claims: Claims<"route"> }[] = [];
  readonly #connections = new Claims("connection");
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
      ...this.#claimsOn(matches).conflicts(routeFields.fieldsOf(policy, this.#context), this.#target.destination),
      ...this.#shadowFindings(policy, matches),
      ...this.#connections.conflicts(connectionFields.fieldsOf(policy, this.#context), this.#target.destination),
    ];
  }

  claim(policy: TrafficPolicy): void {
    const matches = this.#matchesOf(policy);
    if (matches === undefined) return;
    this.#claimsOn(matches).add(routeFields.fieldsOf(policy, this.#context), policy);
    // A policy that says what holds anyway owns nothing: one after it may say otherwise.
    const changed = Object.entries(connectionFields.fieldsOf(policy, this.#context)).filter(
      ([field, value]) => !equalJson(value, fieldOf(this.#current, field)),
    );
    this.#connections.add(Object.fromEntries(changed), policy);
    this.#current = { ...this.#current, ...Object.fromEntries(changed) };
  }

  userConflicts(policy: TrafficPolicy): readonly Finding[] {
    const { clusterName = this.#source.clusterName } = this.#reach.limitOf(policy);
    const isNamed = clusterName === this.#source.clusterName;
    const hasRoutes = this.#routes.some(({ claims }) => claims.first !== undefined);
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
      const claim = claims.first;
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

  #claimsOn(matches: Matches): Claims<"route"> {
    let group = this.#routes.find((candidate) => equalMatches(candidate.matches, matches));
    if (group === undefined) {
      group = { matches, claims: new Claims("route") };
      this.#routes.push(group);
    }
    return group.claims;
  }
}

function fieldOf(policy: ConnectionPolicy, field: string): unknown {
  return Object.entries(policy).find(([name]) => name === field)?.[1];
}
