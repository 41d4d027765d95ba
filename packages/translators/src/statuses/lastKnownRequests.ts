import { AccessPolicy, Destination, Mesh, TrafficPolicy, VirtualDestination, VirtualMesh } from "@isthmus/api";
import { FIRST_SEEN, type Kind, kindKeyOf, type Metadata, type Resource } from "@isthmus/core";
import type { UserRef } from "../policy/userResources.ts";

/**
 * What users asked in workload clusters, as far as the status of a published Destination or Mesh repeats it: it is in force there. For
 * clusters that are silent since the server started.
 */
export function lastKnownRequests(published: Resource): readonly Resource[] {
  if (kindKeyOf(published) === kindKeyOf(Destination)) {
    const { appliedTrafficPolicies = [], appliedAccessPolicies = [] } = (published as Destination).status ?? {};
    return [
      ...appliedTrafficPolicies.flatMap((applied) => asked(TrafficPolicy, applied)),
      ...appliedTrafficPolicies.flatMap(({ virtualDestinations = [] }) =>
        virtualDestinations.flatMap((named) => asked(VirtualDestination, named)),
      ),
      ...appliedAccessPolicies.flatMap((applied) => asked(AccessPolicy, applied)),
    ];
  }
  const { appliedVirtualMesh } = kindKeyOf(published) === kindKeyOf(Mesh) ? ((published as Mesh).status ?? {}) : {};
  return appliedVirtualMesh === undefined ? [] : asked(VirtualMesh, appliedVirtualMesh);
}

interface Applied {
  readonly ref?: UserRef;
  readonly observedGeneration?: number;
  readonly creationTimestamp?: string;
  readonly firstSeen?: string;
  readonly spec?: object;
  readonly lastAccepted?: object;
}

function asked(
  { apiVersion, kind }: Kind,
  { ref, observedGeneration, creationTimestamp, firstSeen, spec, lastAccepted }: Applied,
): readonly Resource[] {
  const { name = "", namespace = "", clusterName = "" } = ref ?? {};
  if (clusterName === "" || name === "" || spec === undefined) return [];
  const metadata: Metadata = {
    name,
    namespace,
    clusterName,
    ...(observedGeneration === undefined ? {} : { generation: observedGeneration }),
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    ...(firstSeen === undefined ? {} : { annotations: { [FIRST_SEEN]: firstSeen } }),
  };
  const status = lastAccepted === undefined ? {} : { status: { lastAccepted } };
  const resource: Resource & { readonly spec: object } = { apiVersion, kind, metadata, spec, ...status };
  return [resource];
}
