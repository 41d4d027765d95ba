import { BlockList, isIP } from "node:net";
import { type Destination, type Mesh, meshInstallationOf, type VirtualMesh } from "@isthmus/api";
import { CATEGORIES, type Check, type CheckFinding, subjectName } from "./check.ts";
import { endpointCount, objectKey, refKey } from "./objectKeys.ts";
import type { PlaneState } from "./planeState.ts";

const category = CATEGORIES.federation;

/** The gateways through which other clusters reach a mesh. */
export const gatewaysAreReachable: Check = {
  category,
  description: "Each mesh whose services are federated has gateways that other clusters can reach",
  reads: ["meshes", "virtualMeshes", "destinations"],
  findings: (state) => {
    const meshes = new Map(state.meshes.map((mesh) => [objectKey(mesh), mesh]));
    const destinations = new Map(state.destinations.map((destination) => [objectKey(destination), destination]));
    return state.virtualMeshes.filter(federates).flatMap((virtualMesh) => {
      const members = (virtualMesh.spec?.meshes ?? []).flatMap((ref) => meshes.get(refKey(ref)) ?? []);
      const isAcrossClusters = new Set(members.map(clusterOf)).size > 1;
      if (!isAcrossClusters) return [];
      return members.flatMap((mesh) => gatewayFindings(mesh, virtualMesh, destinations));
    });
  },
};

/** Whether a VirtualMesh exports services at all. */
function federates({ spec }: VirtualMesh): boolean {
  const { selectors = [], permissive } = spec?.federation ?? {};
  return selectors.length > 0 || permissive !== undefined;
}

function clusterOf(mesh: Mesh): string {
  return meshInstallationOf(mesh)?.cluster ?? "";
}

function gatewayFindings(mesh: Mesh, virtualMesh: VirtualMesh, destinations: ReadonlyMap<string, Destination>): readonly CheckFinding[] {
  // A mesh that another VirtualMesh has taken says nothing of this one.
  if (mesh.spec?.istio === undefined || refKey(mesh.status?.appliedVirtualMesh?.ref) !== objectKey(virtualMesh)) return [];
  const gateways = mesh.status?.appliedEastWestIngressGateways ?? [];
  const describe = `meshctl describe virtualmesh ${objectKey(virtualMesh)}`;
  if (gateways.length === 0) {
    const message = `${subjectName(mesh)}: has no gateway that can take traffic from other clusters, so its services cannot be called from there`;
    return [{ code: "FED1003", severity: "error", message, remedy: describe }];
  }
  const name = `the gateway ${gateways.map(({ destinationRef }) => `Destination ${refKey(destinationRef)}`).join(", ")} of ${subjectName(mesh)}`;
  const addresses = gateways.flatMap(({ externalAddresses = [] }) => externalAddresses);
  const pods = gateways.reduce((sum, { destinationRef }) => sum + endpointCount(destinations.get(refKey(destinationRef))), 0);
  return [
    ...(addresses.length === 0 ? [unaddressed(name, clusterOf(mesh))] : privateAddresses(name, addresses, virtualMesh)),
    ...(pods === 1 ? [singlePod(name)] : []),
  ];
}

function unaddressed(name: string, cluster: string): CheckFinding {
  const remedy = `kubectl --context CONTEXT get services -A -o wide, with the context of ${cluster}: its load balancer gives it an address`;
  return { code: "FED1004", severity: "error", message: `${name} has no external address`, remedy };
}

function privateAddresses(name: string, addresses: readonly string[], { spec }: VirtualMesh): readonly CheckFinding[] {
  if (spec?.federation?.flatNetwork === true || !addresses.every(isPrivate)) return [];
  const message = `${name} has private addresses only: ${addresses.slice(0, 3).join(", ")}`;
  return [{ code: "FED1005", severity: "info", message, remedy: "check that the networks of the other clusters route them" }];
}

function singlePod(name: string): CheckFinding {
  const message = `${name} has a single pod: traffic from other clusters stops while it restarts`;
  return { code: "RES1003", severity: "warning", message, remedy: "scale its Deployment to 2 or more" };
}

/** Whether an address is one that others' networks do not route. A host name is not known to be. */
function isPrivate(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && PRIVATE.check(address, version === 6 ? "ipv6" : "ipv4");
}

// RFC 1918, 3927, 4193, 4291, 6598.
const PRIVATE = new BlockList();
for (const [network, prefix, type] of [
  ["10.0.0.0", 8, "ipv4"],
  ["172.16.0.0", 12, "ipv4"],
  ["192.168.0.0", 16, "ipv4"],
  ["100.64.0.0", 10, "ipv4"],
  ["169.254.0.0", 16, "ipv4"],
  ["127.0.0.0", 8, "ipv4"],
  ["fc00::", 7, "ipv6"],
  ["fe80::", 10, "ipv6"],
  ["::1", 128, "ipv6"],
] as const)
  PRIVATE.addSubnet(network, prefix, type);

/** The names in the identities of workloads. */
export const trustDomainsAreKnown: Check = {
  category,
  description: "The trust domain of each mesh is known",
  reads: ["meshes"],
  findings: ({ meshes }) =>
    meshes.flatMap((mesh) => {
      const problem = mesh.spec?.istio?.trustDomainProblem ?? "";
      if (problem === "") return [];
      const { namespace = "" } = mesh.spec?.istio?.installation ?? {};
      const remedy = `kubectl --context CONTEXT -n ${namespace} get configmaps, with the context of ${clusterOf(mesh)}: correct its mesh configuration`;
      return [{ code: "FED1006", severity: "warning", message: `${subjectName(mesh)}: ${problem}`, remedy }];
    }),
};

/** Whether what counts as installed is there. */
export const controlPlanesAreThere: Check = {
  category,
  description: "The control plane of each mesh, and Cilium where it was found, are there",
  reads: ["meshes"],
  findings: ({ meshes }) =>
    meshes.flatMap((mesh) => {
      const reasons = [mesh.spec?.held?.reason ?? "", mesh.spec?.cilium?.held ?? ""].filter((reason) => reason !== "");
      const remedy = `install it again, or confirm that it was removed: meshctl cluster confirm-removed ${clusterOf(mesh)} NAMESPACE/NAME`;
      return reasons.map(
        (reason) => ({ code: "SEC1020", severity: "warning", message: `${subjectName(mesh)}: ${reason}`, remedy }) as const,
      );
    }),
};

/** How much is exported. */
export const exportsAreMeant: Check = {
  category,
  description: "VirtualMeshes select the services that they federate, and these have more than one pod",
  reads: ["virtualMeshes", "destinations"],
  findings: (state) => [...state.virtualMeshes.flatMap((virtualMesh) => everything(virtualMesh, state)), ...singlePods(state.destinations)],
};

function everything(virtualMesh: VirtualMesh, { destinations }: PlaneState): readonly CheckFinding[] {
  const { selectors = [], permissive } = virtualMesh.spec?.federation ?? {};
  const isAll = selectors.some((selector) => (selector.destinationSelectors ?? []).length === 0 && (selector.meshes ?? []).length === 0);
  if (!isAll && !(selectors.length === 0 && permissive !== undefined)) return [];
  const exported = destinations.filter(({ status }) => refKey(status?.appliedFederation?.virtualMeshRef) === objectKey(virtualMesh));
  if (exported.length === 0) return [];
  const isEnabled = virtualMesh.spec?.globalAccessPolicy === "ENABLED";
  const unused = isEnabled ? exported.filter(({ status }) => (status?.appliedAccessPolicies ?? []).length === 0).length : 0;
  const rest = unused === 0 ? "" : `; ${unused} of them have no AccessPolicy, so nobody may call them`;
  const message = `${subjectName(virtualMesh)}: federates all ${exported.length} services to all of its meshes${rest}`;
  const remedy = "name those that other clusters call with destinationSelectors in spec.federation.selectors";
  return [{ code: "FED1013", severity: "info", message, remedy }];
}

function singlePods(destinations: readonly Destination[]): readonly CheckFinding[] {
  const services = new Map<string, { pods: number; isFederated: boolean }>();
  for (const destination of destinations) {
    const { ref } = destination.spec?.kubeService ?? {};
    if (ref === undefined) continue;
    const service = services.get(`${ref.namespace}/${ref.name}`) ?? { pods: 0, isFederated: false };
    service.pods += endpointCount(destination);
    service.isFederated ||= destination.status?.appliedFederation?.federatedHostname !== undefined;
    services.set(`${ref.namespace}/${ref.name}`, service);
  }
  return [...services].flatMap(([name, { pods, isFederated }]): readonly CheckFinding[] =>
    isFederated && pods === 1
      ? [
          {
            code: "RES1002",
            severity: "info",
            message: `Service ${name} is federated and has a single pod in all clusters together`,
            remedy: "scale its workload to 2 or more, in more than one cluster if it has to outlast one",
          },
        ]
      : [],
  );
}
