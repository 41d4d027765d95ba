import type { Resource } from "@isthmus/core";
import type { ReactNode } from "react";
import { Destination, KubernetesCluster, Mesh, POLICY_KINDS, VirtualMesh, Workload } from "../data/kinds.ts";
import { ClusterSummary } from "./ClusterSummary.tsx";
import { DestinationSummary } from "./DestinationSummary.tsx";
import { GenericSummary } from "./GenericSummary.tsx";
import { MeshSummary } from "./MeshSummary.tsx";
import { PolicySummary } from "./PolicySummary.tsx";
import { VirtualMeshSummary } from "./VirtualMeshSummary.tsx";
import { WorkloadSummary } from "./WorkloadSummary.tsx";

const POLICIES: ReadonlySet<string> = new Set(POLICY_KINDS.map(({ kind }) => kind));

export interface SummaryProps {
  readonly object: Resource;
  /** Who may call whom, as far as the object is concerned. */
  readonly access?: ReactNode;
}

/** What there is to say of an object at a glance, by its kind. */
export function Summary({ object, access }: SummaryProps) {
  switch (object.kind) {
    case KubernetesCluster.kind:
      return <ClusterSummary cluster={object as KubernetesCluster} />;
    case Destination.kind:
      return <DestinationSummary destination={object as Destination} access={access} />;
    case Workload.kind:
      return <WorkloadSummary workload={object as Workload} access={access} />;
    case Mesh.kind:
      return <MeshSummary mesh={object as Mesh} />;
    case VirtualMesh.kind:
      return <VirtualMeshSummary virtualMesh={object as VirtualMesh} access={access} />;
    default:
      return POLICIES.has(object.kind) ? <PolicySummary policy={object} /> : <GenericSummary object={object} />;
  }
}
