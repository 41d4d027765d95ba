import { BlockList, isIP } from "node:net";
import { type Destination, type Mesh, meshInstallationOf, type VirtualMesh } from "@isthmus/api";
import { CATEGORIES, type Check, type CheckFinding, subjectName } from "./check.ts";
import { INSIGHT_GROUPS } from "./insightGroups.ts";
import { endpointCount, objectKey, refKey } from "./objectKeys.ts";
import { insightCheck, insightsWith } from "./readInsights.ts";

const category = CATEGORIES.federation;

/** The gateways through which other clusters reach a mesh. */
export const gatewaysAreReachable: Check = {
  category,
  description: "Each mesh whose services are federated has gateways that other clusters can reach",
  codes: INSIGHT_GROUPS.gateways,
  reads: ["meshes", "virtualMeshes", "destinations"],
  findings: (state) => {
    const meshes = new Map(state.meshes.map((mesh) => [objectKey(mesh), mesh]));
    const destinations = new Map(state.destinations.map((destination) => [objectKey(destination), destination]));
    const ofGateways = state.virtualMeshes.filter(federates).flatMap((virtualMesh) => {
      const members = (virtualMesh.spec?.meshes ?? []).flatMap((ref) => meshes.get(refKey(ref)) ?? []);
      const isAcrossClusters = new Set(members.map(clusterOf)).size > 1;
      if (!isAcrossClusters) return [];
      return members.flatMap((mesh) => gatewayFindings(mesh, virtualMesh, destinations));
    });
    return [...insightsWith(state, INSIGHT_GROUPS.gateways), ...ofGateways];
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
  if (gateways.length === 0) return [];
  const name = `the gateway ${gateways.map(({ destinationRef }) => `Destination ${refKey(destinationRef)}`).join(", ")} of ${subjectName(mesh)}`;
  const addresses = gateways.flatMap(({ externalAddresses = [] }) => externalAddresses);
  const pods = gateways.reduce((sum, { destinationRef }) => sum + endpointCount(destinations.get(refKey(destinationRef))), 0);
  return [...(addresses.length === 0 ? [] : privateAddresses(name, addresses, virtualMesh)), ...(pods === 1 ? [singlePod(name)] : [])];
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
export const exportsAreMeant: Check = insightCheck({
  category,
  description: "VirtualMeshes select the services that they federate, and these have more than one pod",
  reads: ["virtualMeshes", "destinations"],
  codes: INSIGHT_GROUPS.exports,
});
