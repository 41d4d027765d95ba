import {
  type ControlPlaneInputs,
  containerWithImage,
  type DetectedMesh,
  installationOf,
  isReport,
  type MeshDetector,
} from "./controlPlane.ts";

const CONTROLLER = "osm-controller";

/** Knows the controller of Open Service Mesh. */
export const osmMesh: MeshDetector = {
  isControlPlane: (deployment) => deployment.metadata.name === CONTROLLER && containerWithImage(deployment, [CONTROLLER]) !== undefined,
  detect: detectOsm,
};

function detectOsm({ deployment }: ControlPlaneInputs): DetectedMesh {
  const installation = installationOf(deployment, containerWithImage(deployment, [CONTROLLER]), "");
  return isReport(installation) ? { reports: [installation] } : { spec: { osm: { installation } }, reports: [] };
}
