import {
  AccessLogRecord,
  type Destination,
  type MeshAgentInfo,
  ServiceDependency,
  Sidecar,
  VirtualDestination,
  WasmDeployment,
  Workload,
} from "@isthmus/api";
import { equalJson, exactly, keyOf, keyOfResource, matchesLabels, type Resource } from "@isthmus/core";
import { derived } from "../../incremental/derived.ts";
import { inputKind, inputTable, join } from "../../incremental/join.ts";
import type { SelectedWorkloadInputs } from "../../meshes/inputs.ts";
import { NETWORKING_OWNER_LABEL } from "../../meshes/outputMetadata.ts";
import { byMesh, byPodLabel, podLabelKey } from "../../policy/indexes.ts";
import { isWithinLimit, policyScopeFrom, workloadLocation } from "../../policy/policyScope.ts";
import { selectsDestination } from "../../policy/selectors.ts";
import { dependencyFormOf } from "../../policy/serviceDependencyFindings.ts";
import { type AttachedSources, destinations, sortedUniqueKeys } from "../destinationJoins.ts";
import { possibleHosts } from "../virtualDestinations/forms.ts";
import { selectingRecords } from "./accessLogRecords/matching.ts";
import { dependedOn, leadingTo, selectingSources } from "./serviceDependencies/matching.ts";
import { inFilterOrder, selectingDeployments } from "./wasmDeployments/matching.ts";

const workloads = inputKind<AttachedSources, Workload>(Workload);
const attachedMeshes = inputTable(
  ({ attachment }: AttachedSources) => attachment.meshes,
  ({ key }) => key,
);

const dependencies = join({
  from: workloads,
  to: inputKind<AttachedSources, ServiceDependency>(ServiceDependency),
  matching: selectingSources,
});
// Thousands of workloads may depend on the same.
const selected = join({ from: dependencies.source, to: destinations, matching: dependedOn, isShared: true });

/** The inputs of each Workload that a ServiceDependency, an AccessLogRecord or a WasmDeployment selects. */
export const workloadInputs = derived({
  from: workloads,
  context: ({ translationContext }) => translationContext,
  joins: {
    dependencies,
    selected,
    virtualDestinations: join({
      from: selected.source,
      to: inputKind<AttachedSources, VirtualDestination>(VirtualDestination),
      matching: leadingTo,
      isShared: true,
    }),
    mesh: join({ from: workloads, key: byMesh, to: attachedMeshes, select: ({ view }) => view }),
    agent: join({
      from: workloads,
      key: byMesh,
      to: attachedMeshes,
      select: ({ mesh }): MeshAgentInfo => mesh.spec?.agentInfo ?? NO_AGENT,
      isSame: (before, after) => equalJson(before, after),
    }),
    accessLogRecords: join({
      from: workloads,
      to: inputKind<AttachedSources, AccessLogRecord>(AccessLogRecord),
      matching: selectingRecords,
    }),
    wasmDeployments: join({
      from: workloads,
      to: inputKind<AttachedSources, WasmDeployment>(WasmDeployment),
      matching: selectingDeployments,
    }),
    // Of those only that have one of its labels: the rest is compared below.
    neighbors: join({ from: workloads, key: byFirstLabel, to: workloads, index: byPodLabel }),
    covering: join({ from: workloads, key: byPodLabel, to: workloads, index: byFirstLabel }),
    userSidecars: join({ from: workloads, key: byPlace, to: inputKind<AttachedSources, Sidecar>(Sidecar), index: byPlaceOfUsers }),
  },
  needsOneOf: ["dependencies", "accessLogRecords", "wasmDeployments"],
  make: (workload, { key, lookup, context: translationContext }): SelectedWorkloadInputs | undefined => {
    const scope = policyScopeFrom(translationContext);
    const isInReach = (one: Resource) => isWithinLimit(scope.limitOf(one), workloadLocation(workload));
    const selecting = lookup("dependencies").filter(isInReach);
    const accessLogRecords = lookup("accessLogRecords").filter(isInReach);
    const wasmDeployments = inFilterOrder(lookup("wasmDeployments").filter(isInReach), translationContext.ages);
    const [mesh] = lookup("mesh");
    const isExtended = accessLogRecords.length > 0 || wasmDeployments.length > 0;
    if ((selecting.length === 0 && !isExtended) || mesh === undefined) return undefined;
    // What is selected by those that are limited to other places is not meant here.
    const isMeant = (destination: Destination) =>
      selecting.some((one) => {
        const { destinations: selectors } = dependencyFormOf(one);
        return selectors !== undefined && selectsDestination(selectors, destination);
      });
    const isAll = selecting.length === lookup("dependencies").length;
    const found = new Map(lookup("selected").map((one) => [keyOfResource(one), one]));
    const own = [...found.keys()].sort().flatMap((key) => found.get(key) ?? []);
    const { podLabels = {} } = workload.spec?.kubernetes ?? {};
    return {
      workload,
      mesh,
      dependencies: selecting,
      open: exactly(selecting.filter((one) => dependencyFormOf(one).destinations === undefined)),
      destinations: isAll ? own : own.filter(isMeant),
      virtualHosts: sortedUniqueKeys(lookup("virtualDestinations").flatMap(possibleHosts)),
      neighbors: exactly(
        [...new Set(lookup("neighbors"))].filter(
          (one) => keyOfResource(one) !== key && matchesLabels(podLabels, one.spec?.kubernetes?.podLabels),
        ),
      ),
      userSidecars: selecting.length === 0 ? NONE : lookup("userSidecars"),
      accessLogRecords,
      wasmDeployments,
      coveredBy: isExtended ? exactly([...new Set(lookup("covering"))].filter((one) => isCovering(one, workload))) : NONE,
      agent: lookup("agent")[0],
      translationContext,
    };
  },
});

const NO_AGENT: MeshAgentInfo = {};

/** Whether what selects the pods of one Workload selects those of another one in its mesh, too. Of two with the same labels the first covers the second. */
function isCovering(one: Workload, other: Workload): boolean {
  const [labels, others] = [one.spec?.kubernetes?.podLabels ?? {}, other.spec?.kubernetes?.podLabels ?? {}];
  if (one === other || !matchesLabels(labels, others) || byMesh(one)[0] !== byMesh(other)[0]) return false;
  return Object.keys(labels).length < Object.keys(others).length || keyOfResource(one) < keyOfResource(other);
}

/** Workloads by one label of their pods, in their place. */
function byFirstLabel({ spec }: Workload): readonly string[] {
  const { controller, podLabels = {} } = spec?.kubernetes ?? {};
  const [first] = Object.entries(podLabels);
  return controller === undefined || first === undefined ? NONE : [podLabelKey(controller, ...first)];
}

/** Workloads by their place. */
function byPlace({ spec }: Workload): readonly string[] {
  const { namespace, clusterName } = spec?.kubernetes?.controller ?? {};
  return namespace === undefined || clusterName === undefined ? NONE : [keyOf({ name: "", namespace, clusterName })];
}

/** Sidecars of users by their place. */
function byPlaceOfUsers({ metadata: { namespace = "", clusterName = "", labels } }: Sidecar): readonly string[] {
  return labels?.[NETWORKING_OWNER_LABEL] === undefined ? [keyOf({ name: "", namespace, clusterName })] : NONE;
}

const NONE: readonly never[] = [];
