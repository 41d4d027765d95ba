import { type AccessPolicy, Destination, Mesh, type TrafficPolicy, VirtualMesh } from "@isthmus/api";
import { keyOfResource, type Report, refOf, type Snapshot } from "@isthmus/core";
import { reported } from "../findings.ts";
import type { Surroundings, UserObject } from "../inputs.ts";
import { serviceKeyOf } from "../networking/istio/hostnames.ts";
import { sourcesOf } from "../networking/istio/source.ts";
import { type PolicyVerdict, policyVerdicts } from "./conflicts.ts";
import { attachedDestination } from "./destinations.ts";
import { type KnownDestinations, knownDestinations } from "./knownDestinations.ts";
import { attachMeshes } from "./meshes.ts";
import { accessPolicies, trafficPolicies } from "./policies.ts";
import { requiredSubsets } from "./requiredSubsets.ts";
import { type UserObjectIndex, userObjectIndex, userObjectsFor } from "./userObjects.ts";
import { type Memberships, memberships } from "./virtualMeshes.ts";

/** Which policies are in force where. */
export interface Attachment {
  /** The snapshot given, with what is in force in the statuses of its Destinations and Meshes. */
  readonly snapshot: Snapshot;
  /** By the key of the Destination. */
  readonly targets: ReadonlyMap<string, AttachedTarget>;
  readonly membership: Memberships;
  readonly reports: readonly Report[];
}

/** What bears on one Destination. */
export interface AttachedTarget {
  /** In force, in order of precedence. */
  readonly trafficPolicies: readonly TrafficPolicy[];
  /** In order of precedence; translation may still refuse one that names identities nobody knows. */
  readonly accessPolicies: readonly AccessPolicy[];
  /** The Istio meshes it is federated to. */
  readonly federatedTo: readonly Mesh[];
  /** Istio objects of users that may be about its hosts. */
  readonly userObjects: readonly UserObject[];
}

/**
 * Decides which policies apply to which Destination and Mesh, in which order. Returns a new snapshot that shares what did not
 * change, with `previous` also what did not change since then; nothing given is altered.
 */
export function attachPolicies(snapshot: Snapshot, surroundings: Surroundings, previous?: Attachment): Attachment {
  const membership = memberships(snapshot.of(VirtualMesh), snapshot.of(Mesh), snapshot.of(Destination));
  const meshes = attachMeshes(snapshot, membership, previous?.snapshot);
  const traffic = trafficPolicies(snapshot);
  const access = accessPolicies(snapshot);
  const known = knownDestinations(meshes.snapshot, membership, surroundings);
  const index = userObjectIndex(snapshot, surroundings);

  const targets = new Map<string, AttachedTarget>();
  const verdicts: PolicyVerdict[] = [];
  const reports = [...membership.reports, ...meshes.reports, ...known.reports, ...traffic.reports, ...access.reports];
  for (const [key, destination] of known.byKey) {
    const judged = judge(destination, traffic.byDestination.get(key) ?? [], { meshes: meshes.snapshot, known, index, surroundings });
    for (const verdict of judged.verdicts) {
      // Where a mesh has no subsets, translation refuses policies that want some.
      verdicts.push(judged.hasSubsets ? verdict : { ...verdict, isInForce: false });
      for (const finding of verdict.findings) reports.push(reported(refOf(verdict.policy), finding, refOf(destination)));
    }
    targets.set(key, { ...judged.target, accessPolicies: access.byDestination.get(key) ?? [] });
  }

  const attached = withStatuses(meshes.snapshot, { known, targets, verdicts, policies: traffic.valid, surroundings }, previous);
  return { snapshot: attached, targets, membership, reports };
}

interface Surrounding {
  readonly meshes: Snapshot;
  readonly known: KnownDestinations;
  readonly index: UserObjectIndex;
  readonly surroundings: Surroundings;
}

/** Which of the TrafficPolicies that select a Destination are in force on it. */
function judge(destination: Destination, policies: readonly TrafficPolicy[], { meshes, known, index, surroundings }: Surrounding) {
  const mesh = meshOf(destination.spec?.mesh, meshes);
  if (destination.spec?.kubeService === undefined || mesh?.spec?.istio === undefined) {
    // Nothing of Istio comes of them; other meshes judge policies as they translate them.
    const verdicts = policies.map((policy): PolicyVerdict => ({ policy, isInForce: true, findings: [] }));
    return { verdicts, hasSubsets: mesh?.spec?.osm === undefined, target: { trafficPolicies: policies, federatedTo: [], userObjects: [] } };
  }
  const refs = destination.status?.appliedFederation?.federatedToMeshes ?? [];
  const federatedTo = refs.flatMap((ref) => meshOf(ref, meshes) ?? []).filter(({ spec }) => spec?.istio !== undefined);
  const userObjects = userObjectsFor(destination, sourcesOf({ destination, federatedTo }), { index, surroundings });
  const verdicts =
    policies.length === 0
      ? []
      : policyVerdicts({ destination, federatedTo, userObjects, surroundings, references: known.references, policies });
  const inForce = verdicts.filter(({ isInForce }) => isInForce).map(({ policy }) => policy);
  return { verdicts, hasSubsets: true, target: { trafficPolicies: inForce, federatedTo, userObjects } };
}

function meshOf(ref: { readonly name: string; readonly namespace: string } | undefined, snapshot: Snapshot): Mesh | undefined {
  return ref === undefined ? undefined : snapshot.of(Mesh).get({ ...ref, clusterName: "" });
}

interface Judged {
  readonly known: KnownDestinations;
  readonly targets: ReadonlyMap<string, AttachedTarget>;
  readonly verdicts: readonly PolicyVerdict[];
  readonly policies: readonly TrafficPolicy[];
  readonly surroundings: Surroundings;
}

/** Statuses come last: which subsets are needed is known only when every policy has been judged everywhere. */
function withStatuses(snapshot: Snapshot, judged: Judged, previous: Attachment | undefined): Snapshot {
  const { known, targets, verdicts, policies, surroundings } = judged;
  const inForce = new Set(verdicts.filter((verdict) => verdict.isInForce).map(({ policy }) => policy));
  const refused = new Set(verdicts.filter((verdict) => !verdict.isInForce).map(({ policy }) => policy));
  const subsets = requiredSubsets(policies.filter((policy) => inForce.has(policy) || !refused.has(policy)));
  const before = previous?.snapshot.of(Destination);
  const put = [...snapshot.of(Destination)].map((destination) => {
    const key = keyOfResource(destination);
    const { trafficPolicies: traffic = [], accessPolicies: access = [] } = targets.get(key) ?? {};
    return attachedDestination(
      destination,
      {
        trafficPolicies: traffic,
        accessPolicies: access,
        appliedFederation: known.byKey.get(key)?.status?.appliedFederation,
        requiredSubsets: subsets.get(serviceKeyOf(destination) ?? ""),
        clusterDomains: surroundings.clusterDomains,
      },
      before,
    );
  });
  return snapshot.apply({ put, remove: [] });
}
