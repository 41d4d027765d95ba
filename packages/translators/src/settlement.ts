import { AccessPolicy, Destination, type DestinationStatus, TrafficPolicy, VirtualMesh } from "@isthmus/api";
import { type ObjectRef, type Report, refOf, resourceKeyOf, type Snapshot } from "@isthmus/core";

/** The attached snapshot without what translation found not to hold: a policy or federation that is INVALID on a Destination. */
export function settled(attached: Snapshot, reports: readonly Report[]): Snapshot {
  const refused = new Map<string, Set<string>>();
  for (const { subject, target, state } of reports) {
    if (state !== "INVALID" || target?.kind !== Destination.kind) continue;
    const key = resourceKeyOf(target);
    refused.set(key, (refused.get(key) ?? new Set()).add(nameIn(subject.kind, subject)));
  }
  if (refused.size === 0) return attached;
  const put = [...attached.of(Destination)].flatMap((destination) => {
    const names = refused.get(resourceKeyOf(refOf(destination)));
    return names === undefined ? [] : [{ ...destination, status: without(names, destination.status ?? {}) }];
  });
  return attached.apply({ put, remove: [] });
}

function without(names: ReadonlySet<string>, status: DestinationStatus): DestinationStatus {
  const { appliedTrafficPolicies, appliedAccessPolicies, appliedFederation, ...rest } = status;
  const traffic = appliedTrafficPolicies?.filter(({ ref }) => !names.has(nameIn(TrafficPolicy.kind, ref))) ?? [];
  const access = appliedAccessPolicies?.filter(({ ref }) => !names.has(nameIn(AccessPolicy.kind, ref))) ?? [];
  const isFederated = appliedFederation !== undefined && !names.has(nameIn(VirtualMesh.kind, appliedFederation.virtualMeshRef));
  return {
    ...rest,
    ...(traffic.length === 0 ? {} : { appliedTrafficPolicies: traffic }),
    ...(access.length === 0 ? {} : { appliedAccessPolicies: access }),
    ...(isFederated ? { appliedFederation } : {}),
  };
}

function nameIn(kind: string, { name = "", namespace = "" }: Partial<ObjectRef> = {}): string {
  return `${kind}/${name}.${namespace}`;
}
