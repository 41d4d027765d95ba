import type { ApprovalStatus } from "@isthmus/api";
import type { Index, Resource } from "@isthmus/core";
import type { Fleet } from "../data/fleet.ts";
import { AccessPolicy, Destination, Mesh, TrafficPolicy } from "../data/kinds.ts";

/** How a policy stands on one of its targets. */
export interface PolicyTarget {
  /** `name.namespace.` of the target. */
  readonly key: string;
  readonly destination: Destination | undefined;
  readonly mesh: Mesh | undefined;
  readonly state: string;
  readonly status: ApprovalStatus;
}

interface StatusWithTargets {
  readonly destinations?: Readonly<Record<string, ApprovalStatus>>;
  readonly meshes?: Readonly<Record<string, ApprovalStatus>>;
}

/** The targets that a policy's status names, those with errors first. */
export function targetsOf(fleet: Fleet, policy: Resource): readonly PolicyTarget[] {
  const { destinations = {}, meshes = {} } = statusOf(policy);
  const targets = [
    ...Object.entries(meshes).map(([key, status]) => ({ key, status, mesh: fleet.snapshot.of(Mesh).row(key), destination: undefined })),
    ...Object.entries(destinations).map(([key, status]) => ({
      key,
      status,
      mesh: undefined,
      destination: fleet.snapshot.of(Destination).row(key),
    })),
  ].map((target) => ({ ...target, state: target.status.state ?? "PENDING" }));
  return targets.sort((a, b) => weight(b.state) - weight(a.state));
}

function weight(state: string): number {
  return state === "ACCEPTED" ? 0 : 1;
}

function statusOf(policy: Resource): StatusWithTargets {
  return (policy as Resource & { readonly status?: StatusWithTargets }).status ?? {};
}

const BY_DESTINATION: Index<Resource> = (policy) => Object.keys(statusOf(policy).destinations ?? {});

/** A policy that selects a Destination, and how it stands there. */
export interface PolicyOnDestination {
  readonly policy: TrafficPolicy | AccessPolicy;
  readonly status: ApprovalStatus;
}

/** TrafficPolicies and AccessPolicies that select a Destination (by key), whether or not they are in force there. */
export function policiesOn(fleet: Fleet, destinationKey: string): readonly PolicyOnDestination[] {
  const policies: readonly (TrafficPolicy | AccessPolicy)[] = [
    ...fleet.snapshot.of(TrafficPolicy).where(BY_DESTINATION, destinationKey),
    ...fleet.snapshot.of(AccessPolicy).where(BY_DESTINATION, destinationKey),
  ];
  return policies.map((policy) => ({ policy, status: statusOf(policy).destinations?.[destinationKey] ?? {} }));
}
