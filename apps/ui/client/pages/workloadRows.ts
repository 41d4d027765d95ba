import { fullKeyOf, type Resource, refOf, resourceKeyOf } from "@isthmus/core";
import { useMemo } from "react";
import { DaemonSet, Deployment, Destination, Mesh, Namespace, Pod, ReplicaSet, StatefulSet, Workload } from "../data/kinds.ts";
import { useFleet } from "../data/store.ts";
import { clusterOf } from "../model/clusters/clusterOf.ts";
import { insightCountsAbout } from "../model/insights/insightIndex.ts";
import { type OutsideReason, type OutsideWorkload, outsideWorkloads } from "../model/outsideMesh.ts";
import { type WorkloadFacts, workloadFacts } from "../model/workloadFacts.ts";
import { t } from "../strings.ts";
import type { DiscoveredRow } from "./discoveredColumns.tsx";

/** A Workload, or what runs in no mesh, with what is looked up when somebody sees it, sorts by it or filters. */
export interface WorkloadRow extends DiscoveredRow<Resource> {
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly mesh: string;
  /** Why it is in no mesh. */
  readonly reason?: OutsideReason;
  readonly labels: Readonly<Record<string, string>>;
  readonly serviceAccount: string;
  readonly facts: () => WorkloadFacts;
}

const NO_FACTS: WorkloadFacts = { identity: "", trustDomain: "", policies: "" };

/** All that runs: Workloads, then what is in no mesh. */
export function useWorkloadRows(): readonly WorkloadRow[] {
  const fleet = useFleet();
  const { snapshot, insights, viewer } = fleet;
  const kinds = [Workload, Destination, Mesh, Deployment, StatefulSet, DaemonSet, ReplicaSet, Pod, Namespace];
  const [workloads, destinations, meshes, ...reported] = kinds.map((kind) => snapshot.of(kind));
  // While a cluster reports everything again, what it has not reported yet is not what is in no mesh.
  const phases = (fleet.clock?.clusters ?? []).map(({ name, phase }) => (phase === "unknown" ? name : "")).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: of the fleet only these are read
  const inMesh = useMemo(
    () => [...snapshot.of(Workload)].map((one) => rowOf(one, workloadFacts(fleet, one))),
    [workloads, destinations, meshes],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: of the fleet only these are read
  const outside = useMemo(() => outsideWorkloads(fleet).map(outsideRow), [workloads, viewer, phases, ...reported]);
  return useMemo(
    () => [...inMesh, ...outside].map((row) => ({ ...row, insights: insightCountsAbout({ insights }, resourceKeyOf(refOf(row.object))) })),
    [inMesh, outside, insights],
  );
}

type RowWithoutInsights = Omit<WorkloadRow, "insights">;

function rowOf(object: Workload, facts: () => WorkloadFacts): RowWithoutInsights {
  const { kubernetes, mesh } = object.spec ?? {};
  return {
    ...{ object, key: fullKeyOf(object), cluster: clusterOf(object), facts },
    name: kubernetes?.controller?.name ?? object.metadata.name,
    namespace: kubernetes?.controller?.namespace ?? "",
    mesh: mesh?.name ?? "",
    labels: kubernetes?.podLabels ?? {},
    serviceAccount: kubernetes?.serviceAccountName || "default",
  };
}

function outsideRow({ object, name, namespace, cluster, labels, serviceAccount, reason }: OutsideWorkload): RowWithoutInsights {
  const isUnknown = reason === "ambient" || reason === "sidecar";
  return {
    ...{ object, key: fullKeyOf(object), cluster, name, namespace, labels, serviceAccount, reason },
    mesh: isUnknown ? t.workloads.outsideUnknown : t.workloads.outside,
    facts: () => NO_FACTS,
  };
}
