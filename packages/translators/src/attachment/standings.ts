import { type AccessPolicy, type Destination, type Mesh, type TrafficPolicy, VirtualDestination } from "@isthmus/api";
import { emptyTable, equalJson, exactly, keyOf, type Report, refOf, type Steps, type Table } from "@isthmus/core";
import { reported } from "../findings.ts";
import { isSame, remade } from "../incremental/rows.ts";
import type { UserObject } from "../inputs.ts";
import { allowsHeaderOperators, firstOf, type References } from "../networking/istio/routeContext.ts";
import { sourcesOf } from "../networking/istio/source.ts";
import { sharedList } from "../sharedLists.ts";
import type { HeldAccess } from "./accessBearing.ts";
import type { AttachmentStep } from "./attachment.ts";
import { policyVerdicts } from "./conflicts.ts";
import { byService } from "./indexes.ts";
import type { AttachedMesh } from "./meshes.ts";
import { accessOn, type CheckedAccess, type CheckedPolicy, policiesOn } from "./policies.ts";
import { subsetServices } from "./policyReferences.ts";
import { destinationPlace, isWithin, type Reach, reachIn } from "./reach.ts";
import { type HostClaim, userObjectsFor } from "./userObjects.ts";
import { meshKey } from "./virtualMeshes.ts";

/** What bears on one Destination. */
export interface Standing {
  /** Of the Destination. */
  readonly key: string;
  /** In force, in order of precedence. */
  readonly trafficPolicies: readonly TrafficPolicy[];
  /** Those that select it and are not in force. */
  readonly refused: readonly TrafficPolicy[];
  /** In order of precedence; translation may still refuse one that names identities nobody knows. */
  readonly accessPolicies: readonly AccessPolicy[];
  /** What stands for AccessPolicies that can't be in force as they are written, in order of precedence. */
  readonly heldAccess: readonly HeldAccess[];
  /** Whether its mesh knows subsets: where it doesn't, translation refuses policies that want some. */
  readonly hasSubsets: boolean;
  /** The Istio meshes it is federated to. */
  readonly federatedTo: readonly Mesh[];
  /** Istio objects of users that may be about its hosts. */
  readonly userObjects: readonly UserObject[];
  readonly reports: readonly Report[];
}

/** No Destination. */
export function noStandings(): Table<Standing> {
  return emptyTable(({ key }) => key);
}

/** What standings are made of. */
export interface StandingSources {
  /** Destinations as policies are judged by: with nothing in their statuses but where they are federated to. */
  readonly known: Table<Destination>;
  readonly traffic: Table<CheckedPolicy<TrafficPolicy>>;
  readonly access: Table<CheckedAccess>;
  readonly claims: Table<HostClaim>;
  readonly meshes: Table<AttachedMesh>;
}

/** What bears on each of some Destinations. */
export function* judgeDestinations(
  step: AttachmentStep,
  sources: StandingSources,
  { before, affected }: { readonly before: Table<Standing>; readonly affected: Iterable<string> },
): Steps<Table<Standing>> {
  const references = referencesIn(step, sources);
  const { ages } = step.surroundings;
  const reach = reachIn(step.surroundings);
  return yield* remade(before, affected, (key, row) => {
    const destination = sources.known.row(key);
    if (destination === undefined) return undefined;
    const traffic = withinReach(policiesOn(destination, sources.traffic, ages), destination, reach);
    const { policies, held } = accessOn(destination, sources.access, ages);
    const access = withinReach(policies, destination, reach);
    const next = judged(step, destination, { policies: traffic.within, references, sources });
    // They are counted no further: their own statuses say once that they ask for more than they may.
    const beyond = traffic.beyond.filter((policy) => subsetServices(policy).length > 0);
    // Named one by one: an object that begins with a spread has a hidden class of its own (docs/decisions/0026).
    const standing: Standing = {
      key,
      trafficPolicies: next.trafficPolicies,
      accessPolicies: sharedList(access.within),
      heldAccess: sharedList(heldWithinReach(held, destination, reach)),
      refused: beyond.length === 0 ? next.refused : sharedList([...next.refused, ...beyond]),
      hasSubsets: next.hasSubsets,
      federatedTo: next.federatedTo,
      userObjects: next.userObjects,
      reports: next.reports,
    };
    return row !== undefined && isSameStanding(row, standing) ? row : standing;
  });
}

/** Policies that may target a Destination, and those that may not. */
function withinReach<P extends TrafficPolicy | AccessPolicy>(policies: readonly P[], destination: Destination, reach: Reach) {
  const place = destinationPlace(destination);
  const mayTarget = (policy: P) => isWithin(reach.limitOf(policy), place);
  if (policies.every(mayTarget)) return { within: policies, beyond: NONE };
  return { within: policies.filter(mayTarget), beyond: policies.filter((policy) => !mayTarget(policy)) };
}

function heldWithinReach(held: readonly HeldAccess[], destination: Destination, reach: Reach): readonly HeldAccess[] {
  if (held.length === 0) return held;
  const place = destinationPlace(destination);
  return exactly(held.filter(({ policy }) => isWithin(reach.limitOf(policy), place)));
}

function isSameStanding(left: Standing, right: Standing): boolean {
  return (
    isSame(left.trafficPolicies, right.trafficPolicies) &&
    isSame(left.refused, right.refused) &&
    isSame(left.accessPolicies, right.accessPolicies) &&
    isSame(left.heldAccess, right.heldAccess) &&
    left.hasSubsets === right.hasSubsets &&
    isSame(left.federatedTo, right.federatedTo) &&
    isSame(left.userObjects, right.userObjects) &&
    equalJson(left.reports, right.reports)
  );
}

function referencesIn({ inputs, surroundings }: AttachmentStep, { known }: StandingSources): References {
  return {
    destinationOf: (service) => known.where(byService, keyOf(service)).at(-1),
    virtualDestinationOf: (ref) => firstOf(ref, (key) => inputs.of(VirtualDestination).row(key)),
    clusterDomains: surroundings.clusterDomains,
    allowsHeaderOperators: allowsHeaderOperators(surroundings),
  };
}

interface Circumstances {
  /** TrafficPolicies that select the Destination, in order of precedence. */
  readonly policies: readonly TrafficPolicy[];
  readonly references: References;
  readonly sources: StandingSources;
}

/** Which of the TrafficPolicies that select a Destination are in force on it. */
function judged(
  { surroundings }: AttachmentStep,
  destination: Destination,
  { policies, references, sources: { claims, meshes } }: Circumstances,
): Omit<Standing, "key" | "accessPolicies" | "heldAccess"> {
  const mesh = meshNamed(destination.spec?.mesh, meshes);
  if (destination.spec?.kubeService?.ref === undefined || mesh?.spec?.istio === undefined) {
    // Nothing of Istio comes of them, nor of a Service that nobody names; other meshes judge policies as they translate them.
    const hasSubsets = mesh?.spec?.osm === undefined;
    return { trafficPolicies: policies, refused: NONE, hasSubsets, federatedTo: NONE, userObjects: NONE, reports: NONE };
  }
  const refs = destination.status?.appliedFederation?.federatedToMeshes ?? NONE;
  const federatedTo = sharedList(
    exactly(refs.flatMap((ref) => meshNamed(ref, meshes) ?? []).filter(({ spec }) => spec?.istio !== undefined)),
    refs,
  );
  const userObjects = userObjectsFor(destination, sourcesOf({ destination, federatedTo }), { claims, surroundings });
  const nothing = { trafficPolicies: NONE, refused: NONE, hasSubsets: true, federatedTo, userObjects, reports: NONE };
  if (policies.length === 0) return nothing;
  const verdicts = policyVerdicts({ destination, federatedTo, userObjects, surroundings, references, policies });
  const target = refOf(destination);
  return {
    ...nothing,
    trafficPolicies: verdicts.filter(({ isInForce }) => isInForce).map(({ policy }) => policy),
    refused: verdicts.filter(({ isInForce }) => !isInForce).map(({ policy }) => policy),
    reports: verdicts.flatMap(({ policy, findings }) => findings.map((finding) => reported(refOf(policy), finding, target))),
  };
}

const NONE: readonly never[] = [];

function meshNamed(ref: { readonly name: string; readonly namespace: string } | undefined, meshes: Table<AttachedMesh>): Mesh | undefined {
  return ref === undefined ? undefined : meshes.row(meshKey(ref))?.face;
}
