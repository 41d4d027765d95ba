import type { FailureDetection, VirtualMesh } from "@isthmus/api";

/** How federated services of a VirtualMesh fail over to each other. */
export interface Failover {
  readonly outlierDetection?: FailureDetection;
}

/** What is in force of `spec.federation.failover`: nothing without a root that all of its meshes share, as requests go to any of them. */
export function failoverInForce({ spec }: VirtualMesh): Failover | undefined {
  return spec?.mtlsConfig?.shared === undefined ? undefined : spec.federation?.failover;
}
