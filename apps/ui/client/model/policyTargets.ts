import type { ApprovalStatus } from "@isthmus/api";
import { type ClusterObjectRef, type Index, keyOf, type Resource } from "@isthmus/core";
import type { Fleet } from "../data/fleet.ts";
import { AccessLogRecord, AccessPolicy, Destination, Mesh, TrafficPolicy, Workload } from "../data/kinds.ts";

/** How a policy stands on one of its targets. */
export interface PolicyTarget {
  /** `name.namespace.` of the target. */
  readonly key: string;
  readonly destination: Destination | undefined;
  readonly mesh: Mesh | undefined;
  readonly workload: Workload | undefined;
  readonly state: string;
  readonly status: ApprovalStatus;
}

interface StatusWithTargets {
  readonly destinations?: Readonly<Record<string, ApprovalStatus>>;
  readonly meshes?: Readonly<Record<string, ApprovalStatus>>;
  /** Of a ServiceDependency how it stands on each; of an AccessLogRecord which they are. */
  readonly workloads?: Readonly<Record<string, ApprovalStatus>> | readonly Partial<ClusterObjectRef>[];
  /** Of a WasmDeployment: what became of its filters on each. */
  readonly workloadStates?: Readonly<Record<string, string>>;
}

/** The targets that a policy's status names, those with errors first. */
export function targetsOf(fleet: Fleet, policy: Resource): readonly PolicyTarget[] {
  const { destinations = {}, meshes = {} } = statusOf(policy);
  const { snapshot } = fleet;
  const nothing = { destination: undefined, mesh: undefined, workload: undefined };
  const targets = [
    ...Object.entries(meshes).map(([key, status]) => ({ ...nothing, key, status, mesh: snapshot.of(Mesh).row(key) })),
    ...Object.entries(destinations).map(([key, status]) => ({ ...nothing, key, status, destination: snapshot.of(Destination).row(key) })),
    ...workloadsOf(policy).map(([key, status]) => ({ ...nothing, key, status, workload: snapshot.of(Workload).row(key) })),
  ].map((target) => ({ ...target, state: target.status.state ?? "PENDING" }));
  return targets.sort((a, b) => weight(b.state) - weight(a.state));
}

/** The workloads that are targets themselves: not those whose traffic a TrafficPolicy is for. */
function workloadsOf(policy: Resource): readonly (readonly [string, ApprovalStatus])[] {
  const { workloads = {}, workloadStates } = statusOf(policy);
  if (workloadStates !== undefined)
    return Object.entries(workloadStates).map(([key, state]) => [key, { state: STATES[state] ?? "PENDING" }]);
  if (!Array.isArray(workloads)) return Object.entries(workloads as Readonly<Record<string, ApprovalStatus>>);
  if (policy.kind !== AccessLogRecord.kind) return [];
  return (workloads as readonly Partial<ClusterObjectRef>[]).map(({ name = "", namespace = "", clusterName = "" }) => [
    keyOf({ name, namespace, clusterName }),
    // It lists those on which it is in force.
    { state: "ACCEPTED" },
  ]);
}

const STATES: Readonly<Record<string, NonNullable<ApprovalStatus["state"]>>> = {
  FILTERS_DEPLOYED: "ACCEPTED",
  DEPLOYMENT_FAILED: "FAILED",
};

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
