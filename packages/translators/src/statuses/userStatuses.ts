import {
  AccessLogRecord,
  type AccessPolicy,
  ServiceDependency,
  Settings,
  type TrafficPolicy,
  VirtualDestination,
  VirtualMesh,
  WasmDeployment,
} from "@isthmus/api";
import { type JsonObject, type Report, type Resource, type ResourceRef, refOf } from "@isthmus/core";
import { backingSelectors } from "../attachment/backingSelectors.ts";
import { observedMetadata } from "../attachment/meshes.ts";
import { derived } from "../incremental/derived.ts";
import { isSame, reuseIfEqual } from "../incremental/rows.ts";
import { byMesh } from "../policy/indexes.ts";
import { isWithinLimit, type PolicyScope } from "../policy/policyScope.ts";
import { userKeyOf } from "../policy/userResources.ts";
import { accessLogRecordStatus } from "./accessLogRecords.ts";
import { conditionsOf, messagesOf, NO_PROGRESS } from "./approval.ts";
import { unknownStatus } from "./faults.ts";
import { groupAlone } from "./meshGroups.ts";
import { policyStatus } from "./policies.ts";
import { serviceDependencyStatus } from "./serviceDependencies.ts";
import type { StatusContext } from "./statusIndex.ts";
import {
  dependentWorkloads,
  destinationsOfPolicies,
  extendedWorkloads,
  federated,
  filterReports,
  findings,
  isPolicy,
  loggingWorkloads,
  membership,
  meshGroups,
  orders,
  progress,
  reporting,
  type StatusTables,
  selectableVirtualDestinations,
  selectedWorkloads,
  trafficInForce,
  translatedVirtualDestinations,
  type UserFindings,
  users,
} from "./statusJoins.ts";
import { virtualDestinationStatus } from "./virtualDestinations.ts";
import { virtualMeshStatus } from "./virtualMeshes.ts";
import { wasmDeploymentStatus } from "./wasmDeployments.ts";
import { type PolicySelection, workloadSelectionOf } from "./workloads.ts";

/** The status of an object that a user wrote. */
export interface UserStatus {
  /** `userKeyOf` */
  readonly key: string;
  readonly ref: ResourceRef;
  readonly status: JsonObject;
}

/** What is reported of each object that a user wrote. */
export const userFindings = derived({
  from: users,
  context: () => undefined,
  joins: { reporting },
  make: (_, { key, lookup, before }): UserFindings | undefined => {
    const rows = lookup("reporting");
    if (rows.length === 0) return undefined;
    const reports = rows.flatMap((row) => row.reports.filter(({ subject }) => userKeyOf(subject) === key));
    return before !== undefined && isSame(before.reports, reports) ? before : { key, reports };
  },
});

/** What each policy asks about workloads: those that it selects in the meshes of its Destinations, and in those grouped with them. */
export const policySelections = derived({
  from: users,
  context: ({ index }: StatusTables) => index.context,
  joins: { destinations: destinationsOfPolicies, meshGroups, trafficInForce },
  make: (object, { key, lookup, context, before }): PolicySelection | undefined => {
    if (!isPolicy(object)) return undefined;
    const groupOf = new Map(lookup("meshGroups").map((entry) => [entry.key, entry.value]));
    const meshes = new Set(lookup("destinations").flatMap(byMesh));
    const groups = new Set([...meshes].map((mesh) => groupOf.get(mesh) ?? groupAlone(mesh)));
    const policy = lookup("trafficInForce")[0] ?? object;
    const selection = workloadSelectionOf(policy, groups, context.scope.limitOf(object));
    return before?.policy === policy && before.query === selection.query ? before : { key, ...selection };
  },
  // Its status says so, which is made of the same object.
  fault: () => undefined,
});

function selectorsInServices(policy: TrafficPolicy | AccessPolicy, candidates: readonly VirtualDestination[], scope: PolicyScope) {
  const limit = scope.limitOf(policy);
  const within = candidates.filter(({ metadata: { namespace = "" } }) => isWithinLimit(limit, { clusterName: "", namespace }));
  return backingSelectors(policy.spec?.destinationSelector, { candidates: within, limitOf: (one) => scope.limitOf(one) });
}

/** The status of each object that a user wrote; none of those of which nothing is said. */
export const userStatuses = derived({
  from: users,
  context: ({ index }: StatusTables) => index.context,
  joins: {
    findings,
    orders,
    progress,
    selectedWorkloads,
    membership,
    federated,
    selectableVirtualDestinations,
    translatedVirtualDestinations,
    dependentWorkloads,
    loggingWorkloads,
    extendedWorkloads,
    filterReports,
  },
  make: (object, { key, lookup, context, before }): UserStatus | undefined => {
    const told = () => ({
      reports: lookup("findings")[0]?.reports ?? NONE,
      progress: context.isDelivered ? (lookup("progress")[0] ?? NO_PROGRESS) : undefined,
    });
    const statusOf = (): object | undefined => {
      if (isPolicy(object)) {
        const places = new Map(lookup("orders")[0]?.value);
        const selectors = selectorsInServices(object, lookup("selectableVirtualDestinations"), context.scope);
        return policyStatus(object, { ...told(), orders: places, workloads: lookup("selectedWorkloads")[0]?.keys ?? NONE, selectors });
      }
      const [known] = lookup("membership");
      if (isVirtualMesh(object) && known !== undefined) {
        const federates = [...(lookup("federated")[0] ?? NONE)].map(([destination]) => destination);
        return virtualMeshStatus(object, { ...told(), membership: known, federated: federates });
      }
      if (isVirtualDestination(object)) {
        const [inputs] = lookup("translatedVirtualDestinations");
        return virtualDestinationStatus(object, { ...told(), inputs: inputs !== undefined && "homes" in inputs ? inputs : undefined });
      }
      if (isServiceDependency(object)) return serviceDependencyStatus(object, { ...told(), workloads: lookup("dependentWorkloads") });
      if (isAccessLogRecord(object)) return accessLogRecordStatus(object, { ...told(), workloads: lookup("loggingWorkloads") });
      if (isWasmDeployment(object)) {
        const sources = { workloads: lookup("extendedWorkloads"), filterReports: lookup("filterReports") };
        return wasmDeploymentStatus(object, { ...told(), ...sources });
      }
      return isSettings(object) && isUsed(object, context) ? settingsStatus(object, told().reports) : undefined;
    };
    const status = statusOf();
    return status && statusRow(key, object, status as JsonObject, before);
  },
  fault: (object, key, error) => ({ key, ref: refOf(object), status: unknownStatus(object, error) }),
});

const NONE: readonly never[] = [];

function statusRow(key: string, object: Resource, status: JsonObject, before: UserStatus | undefined): UserStatus {
  const same = reuseIfEqual(status, before?.status);
  return before !== undefined && same === before.status ? before : { key, ref: refOf(object), status: same };
}

function isVirtualMesh(object: Resource): object is VirtualMesh {
  return object.kind === VirtualMesh.kind;
}

function isVirtualDestination(object: Resource): object is VirtualDestination {
  return object.kind === VirtualDestination.kind;
}

function isServiceDependency(object: Resource): object is ServiceDependency {
  return object.kind === ServiceDependency.kind;
}

function isAccessLogRecord(object: Resource): object is AccessLogRecord {
  return object.kind === AccessLogRecord.kind;
}

function isWasmDeployment(object: Resource): object is WasmDeployment {
  return object.kind === WasmDeployment.kind;
}

function isSettings(object: Resource): object is Settings {
  return object.kind === Settings.kind;
}

/** Only the Settings in use have a status. */
function isUsed({ metadata: { name, namespace, clusterName = "" } }: Settings, context: StatusContext): boolean {
  return name === "settings" && namespace === context.namespace && clusterName === "";
}

// There may be one for each service of the fleet; the count includes all.
const MOST_LISTED = 100;

function settingsStatus(settings: Settings, reports: readonly Report[]): object {
  return {
    ...observedMetadata(settings),
    state: "ACCEPTED",
    ...messagesOf(reports.slice(0, MOST_LISTED)),
    ...(reports.length === 0 ? {} : { warningCount: reports.length }),
    conditions: conditionsOf({ reports, targets: 1, accepted: 1, progress: undefined }).filter(({ type }) => type === "Accepted"),
  };
}
