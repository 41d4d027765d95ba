import {
  type ControlPlaneInputs,
  containerWithImage,
  type DetectedMesh,
  installationInUse,
  installationOf,
  type MeshDetector,
} from "./controlPlane.ts";

const CONTROLLER = "osm-controller";

/** Knows the controller of Open Service Mesh. */
export const osmMesh: MeshDetector = {
  isControlPlane: (deployment) => deployment.metadata.name === CONTROLLER && containerWithImage(deployment, [CONTROLLER]) !== undefined,
  detect: detectOsm,
};

function detectOsm(inputs: ControlPlaneInputs): DetectedMesh {
  const { deployment } = inputs;
  const found = installationOf(deployment, containerWithImage(deployment, [CONTROLLER]), "");
  const { installation, reports } = installationInUse(found, inputs);
  return installation === undefined ? { reports } : { spec: { osm: { installation } }, reports };
}
