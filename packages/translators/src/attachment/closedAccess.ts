import { type Destination, Mesh, type VirtualMesh, Workload } from "@isthmus/api";
import { equalJson, keyOfResource, type Resource } from "@isthmus/core";
import type { RowSources } from "../incremental/derived.ts";
import { inputKind, join, unionOf } from "../incremental/join.ts";
import type { MeshInputs } from "../meshes/inputs.ts";
import { meshTranslators } from "../meshes/meshTranslators.ts";
import { NETWORKING_OWNER_LABEL } from "../meshes/outputMetadata.ts";
import { byMesh, byPodLabel, bySelector } from "../policy/indexes.ts";
import { namespaceKey, namespaceLocationOf } from "../policy/podIndexes.ts";
import { meshCluster } from "../policy/policyScope.ts";
import { isAccessClosed } from "../policy/virtualMeshDoubts.ts";
import type { AttachedPolicies } from "./attachedPolicies.ts";
import { type AttachedSources, attachedPoliciesTable, destinations } from "./destinationJoins.ts";

const NONE: readonly never[] = [];
const meshes = inputKind<AttachedSources, Mesh>(Mesh);

// A gateway is called from outside: what closes access must know of each.
const gatewayWorkloads = join({ from: meshes, to: inputKind<AttachedSources, Workload>(Workload), index: gatewaysByMesh });
const gatewayServices = join({
  from: gatewayWorkloads.source,
  key: byPodLabel,
  to: destinations,
  index: bySelector,
  isSame: isSameGatewayService,
});

const userAccess = unionOf(
  meshTranslators.flatMap((translator) => {
    const { userAccess: objects } = translator;
    if (objects === undefined) return [];
    const to = inputKind<AttachedSources, Resource>(objects.kind);
    const byRoot = (mesh: Mesh) =>
      mesh.spec?.[translator.type] === undefined
        ? NONE
        : [namespaceKey({ clusterName: meshCluster(mesh), namespace: objects.rootNamespaceOf(mesh) })];
    return [
      join({ from: meshes, key: byRoot, to, index: byPlace }),
      join({ from: gatewayServices.source, key: byPlaceOfService, to, index: byPlace }),
    ];
  }),
);

/** What a mesh looks up to close access without closing its gateways. */
export const closedAccessJoins = {
  gatewayServices,
  guarded: join({ from: gatewayServices.source, to: attachedPoliciesTable, select: guardedKey }),
  userAccess,
};

type ClosedAccessInputs = Pick<MeshInputs, "gatewayServices" | "guardedServices" | "userAccess">;

/** Of a mesh whose access is open. */
export const noClosedAccess: ClosedAccessInputs = { gatewayServices: NONE, guardedServices: NONE, userAccess: NONE };

/** What the translation of a mesh may read of its gateways, where its VirtualMesh closes access. */
export function closedAccessInputs(
  virtualMesh: VirtualMesh,
  lookup: RowSources<typeof closedAccessJoins, unknown, unknown>["lookup"],
): ClosedAccessInputs {
  if (!isAccessClosed(virtualMesh)) return noClosedAccess;
  return {
    gatewayServices: distinctServices(lookup("gatewayServices")),
    guardedServices: lookup("guarded").filter((key) => key !== ""),
    userAccess: lookup("userAccess").filter(isUsersOwn),
  };
}

/** Workloads that are gateways, by their mesh. */
function gatewaysByMesh(workload: Workload): readonly string[] {
  return workload.spec?.kubernetes?.gateway === true ? byMesh(workload) : NONE;
}

/** Of a Service in front of a gateway, not which pods are ready. */
function isSameGatewayService(before: Destination, after: Destination): boolean {
  const read = ({ spec }: Destination) => {
    const { ref, workloadSelectorLabels, serviceType, externalAddresses } = spec?.kubeService ?? {};
    return [spec?.mesh, ref, workloadSelectorLabels, serviceType, externalAddresses];
  };
  return before === after || equalJson(read(before), read(after));
}

function byPlace(resource: Resource): readonly string[] {
  return [namespaceKey(namespaceLocationOf(resource))];
}

function byPlaceOfService({ spec }: Destination): readonly string[] {
  const ref = spec?.kubeService?.ref;
  return ref === undefined ? NONE : [namespaceKey(ref)];
}

/** The key of a Destination on which AccessPolicies bear; else "". */
export function guardedKey({ key, accessPolicies, heldAccess }: AttachedPolicies): string {
  return accessPolicies.length + heldAccess.length > 0 ? key : "";
}

function isUsersOwn({ metadata }: Resource): boolean {
  return metadata.labels?.[NETWORKING_OWNER_LABEL] === undefined;
}

/** One for each: several gateways may stand behind a Service. */
function distinctServices(services: readonly Destination[]): readonly Destination[] {
  const byKey = new Map(services.map((service) => [keyOfResource(service), service]));
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, service]) => service);
}
