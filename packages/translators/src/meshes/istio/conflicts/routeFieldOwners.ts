import type { ConnectionPolicy, TrafficPolicy } from "@isthmus/api";
import { equalJson, formatRef, keyOf, type Resource, refOf } from "@isthmus/core";
import { type Finding, warningFinding } from "../../../findings.ts";
import { type PolicyScope, policyScopeFrom } from "../../../policy/policyScope.ts";
import type { PolicyTarget } from "../../meshTranslator.ts";
import { canBeCarried, usersRulesInForce } from "../access/usersRules.ts";
import { defaultConnectionPolicy } from "../features/mtls.ts";
import { connectionFields, routeFields, type SourceContext } from "../policyFields.ts";
import { bySources, covers, equalMatches, type Matches, matchesFrom } from "../routes/matches.ts";
import { referencesIn, routeContext } from "../routes/routeContext.ts";
import type { Source } from "../source.ts";
import { asksForSubsetsOf } from "../subsets.ts";
import { ROUTES_BEFORE_OURS, userConflict, userConflictFinding } from "../userObjects.ts";
import { FieldOwners } from "./fieldOwners.ts";

/** What policies are about: a Destination, or the host of a VirtualDestination. */
export interface ContestedTarget extends Pick<PolicyTarget, "policies" | "references" | "translationContext"> {
  readonly object: Resource;
}

/** That a policy meets a user's object. */
export interface UserConflict {
  readonly finding: Finding;
  /** Whether only what the policy says of connections can't be in force beside it. */
  readonly isOfConnections: boolean;
}

/** What policies in force have set for requests from one source. */
export class RouteFieldOwners {
  readonly #source: Source;
  readonly #target: ContestedTarget;
  #contextWhenAsked: SourceContext | undefined;
  readonly #routes: { readonly matches: Matches; readonly owners: FieldOwners<"route"> }[] = [];
  readonly #connections = new FieldOwners("connection");
  readonly #reach: PolicyScope;
  #current: ConnectionPolicy;

  constructor(source: Source, target: ContestedTarget) {
    this.#source = source;
    this.#target = target;
    this.#reach = policyScopeFrom(target.translationContext);
    this.#current = defaultConnectionPolicy(target.translationContext.settings, source);
  }

  findingsOf(policy: TrafficPolicy): readonly Finding[] {
    const matches = this.#matchesOf(policy);
    if (matches === undefined) return [];
    const own = [...routeFields.findingsOf(policy, this.#context), ...connectionFields.findingsOf(policy, this.#context)];
    // Alone, there is nobody to be in conflict with.
    if (this.#target.policies.length < 2 || own.some(({ state }) => state === "INVALID")) return own;
    return [
      ...own,
      ...this.#claimsOn(matches).conflicts(routeFields.fieldsOf(policy, this.#context), this.#target.object),
      ...this.#shadowFindings(policy, matches),
      ...this.#connections.conflicts(connectionFields.fieldsOf(policy, this.#context), this.#target.object),
    ];
  }

  add(policy: TrafficPolicy): void {
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

  userConflicts(policy: TrafficPolicy, target: PolicyTarget): readonly UserConflict[] {
    const { clusterName = this.#source.clusterName } = this.#reach.limitOf(policy);
    const isNamed = clusterName === this.#source.clusterName;
    const hasRoutes = this.#routes.some(({ owners }) => owners.first !== undefined);
    const { ref: service } = target.destination.spec?.kubeService ?? {};
    const shiftsToOwnSubsets = service !== undefined && asksForSubsetsOf(policy.spec?.policy ?? {}, keyOf(service));
    const hasRule = Object.keys(this.#current).length > 0 || shiftsToOwnSubsets;
    const asksForRule =
      target.translationContext.disallowIntersectingConfig ||
      (this.#matchesOf(policy) !== undefined &&
        (shiftsToOwnSubsets || Object.keys(connectionFields.fieldsOf(policy, this.#context)).length > 0));
    const ofRule = hasRule ? this.#meeting(target, "DestinationRule", { isNamed, shiftsToOwnSubsets }) : [];
    return [
      ...(hasRoutes ? this.#meeting(target, "VirtualService", { isNamed, shiftsToOwnSubsets }) : []),
      ...(this.#setsRoutes(policy) ? this.#meetingRoutes(target, isNamed) : []),
      // Without a rule of ours, what a policy says of routes is in force all the same, unless they lead to its subsets.
      ...(asksForRule ? ofRule : ofRule.filter(({ finding }) => finding.state !== "INVALID")),
    ];
  }

  #meeting(
    target: PolicyTarget,
    kind: "VirtualService" | "DestinationRule",
    { isNamed, shiftsToOwnSubsets }: { readonly isNamed: boolean; readonly shiftsToOwnSubsets: boolean },
  ): readonly UserConflict[] {
    const place = { kind, source: this.#source };
    const met = userConflict(target, place);
    if (met === undefined) return [];
    if (target.translationContext.disallowIntersectingConfig) {
      return [{ finding: userConflictFinding(target, met, { place, isNamed, outcome: "STANDS" }), isOfConnections: false }];
    }
    const [inForce, ...others] = kind === "DestinationRule" ? usersRulesInForce(target, this.#source) : [];
    if (inForce === undefined) {
      return [{ finding: userConflictFinding(target, met, { place, isNamed, outcome: "BESIDE" }), isOfConnections: false }];
    }
    const outcome = canBeCarried([inForce, ...others]) ? "CARRIED" : shiftsToOwnSubsets ? "FOR_SOME_WITH_SUBSETS" : "FOR_SOME";
    return [{ finding: userConflictFinding(target, inForce, { place, isNamed, outcome }), isOfConnections: outcome === "FOR_SOME" }];
  }

  #setsRoutes(policy: TrafficPolicy): boolean {
    return this.#matchesOf(policy) !== undefined && Object.keys(routeFields.fieldsOf(policy, this.#context)).length > 0;
  }

  /** Routes of the Gateway API come first: ours is written, and is not in force for callers of theirs. */
  #meetingRoutes(target: PolicyTarget, isNamed: boolean): readonly UserConflict[] {
    return ROUTES_BEFORE_OURS.flatMap((kind) => {
      const place = { kind, source: this.#source };
      const met = userConflict(target, place);
      if (met === undefined) return [];
      return [{ finding: userConflictFinding(target, met, { place, isNamed, outcome: "BEFORE" }), isOfConnections: false }];
    });
  }

  /** What a policy sets comes to nothing where one with precedence, which says the same of its sources in other words, sets it for all its requests. */
  #shadowFindings(policy: TrafficPolicy, matches: Matches): readonly Finding[] {
    const fields = routeFields.fieldsOf(policy, this.#context);
    for (const { matches: earlier, owners } of this.#routes) {
      const claim = owners.first;
      // One for this cluster and one for all are as any narrow and wide route beside each other.
      if (claim === undefined || bySources(earlier, matches) !== 0) continue;
      if (equalMatches(earlier, matches) || !covers(earlier, matches)) continue;
      const paths = owners.pathsHeld(fields);
      if (paths.length === 0) continue;
      const [owner, destination] = [claim.owner, this.#target.object].map((one) => formatRef(refOf(one)));
      const requests = `requests from ${this.#source.clusterName} to ${destination}`;
      const field = paths.join(", ");
      return [
        warningFinding(
          "RouteShadowed",
          `${field}: ${owner} has precedence and sets the same for ${requests}, so this policy has no effect there: narrow one of the policies`,
        ),
      ];
    }
    return [];
  }

  get #context(): SourceContext {
    this.#contextWhenAsked ??= routeContext(this.#source, referencesIn(this.#target.references, this.#target.translationContext));
    return this.#contextWhenAsked;
  }

  #matchesOf(policy: TrafficPolicy): Matches | undefined {
    return matchesFrom(this.#source.clusterName, policy.spec ?? {});
  }

  #claimsOn(matches: Matches): FieldOwners<"route"> {
    let group = this.#routes.find((candidate) => equalMatches(candidate.matches, matches));
    if (group === undefined) {
      group = { matches, owners: new FieldOwners("route") };
      this.#routes.push(group);
    }
    return group.owners;
  }
}

function fieldOf(policy: ConnectionPolicy, field: string): unknown {
  return Object.entries(policy).find(([name]) => name === field)?.[1];
}
