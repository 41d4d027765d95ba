import type { Destination, Mesh } from "@isthmus/api";
import { isAtLeast, minorVersion, nearestName } from "@isthmus/core";
import { portFamily } from "@isthmus/translators";
import { CATEGORIES, type Check, type CheckFinding, subjectName } from "./check.ts";
import { endpointCount, objectKey } from "./objectKeys.ts";

const category = CATEGORIES.meshes;

/** The meshes that VirtualMeshes name. */
export const groupedMeshesExist: Check = {
  category,
  description: "Every mesh of a VirtualMesh was discovered, and is in one VirtualMesh",
  reads: ["meshes", "virtualMeshes"],
  findings: ({ meshes, virtualMeshes }) => {
    const known = new Set(meshes.map(objectKey));
    const first = new Map<string, string>();
    return virtualMeshes.flatMap((virtualMesh) =>
      (virtualMesh.spec?.meshes ?? []).flatMap((ref): readonly CheckFinding[] => {
        const mesh = `${ref.namespace ?? ""}/${ref.name ?? ""}`;
        const remedy = `kubectl -n ${virtualMesh.metadata.namespace} edit virtualmesh ${virtualMesh.metadata.name}`;
        if (!known.has(mesh)) {
          const nearest = nearestName(mesh, known);
          const message = `${subjectName(virtualMesh)}: Mesh ${mesh} not found${nearest === undefined ? "" : `: did you mean ${nearest}?`}`;
          return [{ code: "FED1001", severity: "error", message, remedy }];
        }
        const other = first.get(mesh);
        first.set(mesh, other ?? subjectName(virtualMesh));
        if (other === undefined || other === subjectName(virtualMesh)) return [];
        return [{ code: "FED1002", severity: "error", message: `Mesh ${mesh} is in ${other} and in ${subjectName(virtualMesh)}`, remedy }];
      }),
    );
  },
};

/** Versions of Istio. */
export const istioIsSupported: Check = {
  category,
  description: `Istio is of a supported version (1.20 or later), and those of a VirtualMesh differ by one minor version at most`,
  reads: ["meshes"],
  findings: ({ meshes }) => [...meshes.flatMap(oldMesh), ...differingVersions(meshes)],
};

function versionOf({ spec }: Mesh): string {
  return spec?.istio?.installation?.version ?? "";
}

function oldMesh(mesh: Mesh): readonly CheckFinding[] {
  const version = versionOf(mesh);
  if (isAtLeast(version, "1.20") !== false) return [];
  const message = `${subjectName(mesh)}: Istio ${version} is older than 1.20, the oldest supported version`;
  return [{ code: "UPG1001", severity: "warning", message, remedy: "upgrade Istio in this cluster" }];
}

function differingVersions(meshes: readonly Mesh[]): readonly CheckFinding[] {
  const groups = new Map<string, Mesh[]>();
  for (const mesh of meshes) {
    const { name, namespace } = mesh.status?.appliedVirtualMesh?.ref ?? {};
    if (name !== undefined) groups.set(`${namespace}/${name}`, [...(groups.get(`${namespace}/${name}`) ?? []), mesh]);
  }
  return [...groups].flatMap(([virtualMesh, members]) => {
    const known = members.flatMap((mesh) => {
      const minor = minorVersion(versionOf(mesh));
      return minor === undefined ? [] : [{ mesh, minor: minor.minor }];
    });
    const [oldest, newest] = [known.toSorted((a, b) => a.minor - b.minor)[0], known.toSorted((a, b) => b.minor - a.minor)[0]];
    if (oldest === undefined || newest === undefined || newest.minor - oldest.minor <= 1) return [];
    const message =
      `VirtualMesh ${virtualMesh}: Istio is ${versionOf(oldest.mesh)} in Mesh ${objectKey(oldest.mesh)}, ` +
      `and ${versionOf(newest.mesh)} in Mesh ${objectKey(newest.mesh)}`;
    return [{ code: "FED1012", severity: "warning" as const, message, remedy: "upgrade the older one" }];
  });
}

/** Services of several clusters. */
export const servicesAgree: Check = {
  category,
  description: "Federated services have endpoints, and a service has the same ports in every cluster",
  reads: ["destinations"],
  findings: ({ destinations }) => [...destinations.flatMap(withoutEndpoints), ...differingPorts(destinations)],
};

function withoutEndpoints(destination: Destination): readonly CheckFinding[] {
  const { spec, status } = destination;
  const { kubeService } = spec ?? {};
  const isFederated = status?.appliedFederation?.federatedHostname !== undefined;
  if (kubeService === undefined || !isFederated || endpointCount(destination) > 0) return [];
  const { name, namespace, clusterName } = kubeService.ref ?? {};
  const message = `Service ${namespace}/${name} in ${clusterName} is federated and has no endpoints`;
  return [{ code: "FED1009", severity: "warning", message, remedy: "scale its workload up, or do not federate it" }];
}

function differingPorts(destinations: readonly Destination[]): readonly CheckFinding[] {
  const services = new Map<string, { readonly cluster: string; readonly ports: string }>();
  return destinations.flatMap(({ spec }): readonly CheckFinding[] => {
    const { ref, ports = [] } = spec?.kubeService ?? {};
    if (ref === undefined) return [];
    const service = `${ref.namespace}/${ref.name}`;
    const here = { cluster: ref.clusterName ?? "", ports: portsText(ports) };
    const other = services.get(service);
    if (other === undefined) services.set(service, here);
    if (other === undefined || other.ports === here.ports) return [];
    const message = `Service ${service} has ports ${other.ports} in ${other.cluster}, and ${here.ports} in ${here.cluster}`;
    return [{ code: "FED1007", severity: "warning", message, remedy: "give both the same ports if one stands in for the other" }];
  });
}

function portsText(ports: readonly { readonly port?: number; readonly name?: string; readonly protocol?: string }[]): string {
  const texts = ports.map(({ port, protocol = "TCP" }) => `${port}/${protocol}`);
  return texts.sort().join(", ") || "none";
}

/** Services of one cluster that share pods. */
export const sharedPortsAgree: Check = {
  category,
  description: "Services that share pods and a port agree on its protocol",
  reads: ["destinations"],
  findings: ({ destinations }) => {
    const first = new Map<string, { readonly service: string; readonly family: string }>();
    return destinations.flatMap(({ spec }) => {
      const { ref, workloadSelectorLabels = {}, ports = [] } = spec?.kubeService ?? {};
      if (ref === undefined || Object.keys(workloadSelectorLabels).length === 0) return [];
      const pods = JSON.stringify([ref.clusterName, ref.namespace, Object.entries(workloadSelectorLabels).sort()]);
      return ports.flatMap((its): readonly CheckFinding[] => {
        const { port, targetPortNumber, targetPortName } = its;
        const family = portFamily(its);
        // What is detected is whatever the other says, and UDP is a port of its own.
        if (family === undefined || family === "detected" || family === "UDP") return [];
        const target = targetPortNumber ?? targetPortName ?? port;
        const here = { service: `${ref.namespace}/${ref.name}`, family };
        const other = first.get(`${pods} ${target}`);
        if (other === undefined) first.set(`${pods} ${target}`, here);
        if (other === undefined || other.family === family) return [];
        const message = `Services ${other.service} and ${here.service} in ${ref.clusterName} have the same pods, whose port ${target} is ${other.family} by the one and ${family} by the other`;
        return [{ code: "CFG1003", severity: "warning", message, remedy: "give the port the same name or appProtocol in both" }];
      });
    });
  },
};
