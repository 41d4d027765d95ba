import { portFamily } from "@isthmus/translators";
import { CATEGORIES, type Check, type CheckFinding } from "./check.ts";
import { INSIGHT_GROUPS } from "./insightGroups.ts";
import { insightCheck } from "./readInsights.ts";

const category = CATEGORIES.meshes;

/** The meshes that VirtualMeshes name. */
export const groupedMeshesExist: Check = insightCheck({
  category,
  description: "Every mesh of a VirtualMesh was discovered, and is in one VirtualMesh",
  reads: ["meshes", "virtualMeshes"],
  codes: INSIGHT_GROUPS.members,
});

/** Versions of Istio. */
export const istioIsSupported: Check = insightCheck({
  category,
  description: "Istio is of a supported version (1.20 or later), and those of a VirtualMesh differ by one minor version at most",
  reads: ["meshes", "virtualMeshes"],
  codes: INSIGHT_GROUPS.versions,
});

/** Services of several clusters. */
export const servicesAgree: Check = insightCheck({
  category,
  description: "Federated services have endpoints, and a service has the same ports in every cluster",
  reads: ["destinations"],
  codes: INSIGHT_GROUPS.services,
});

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
