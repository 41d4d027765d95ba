import { allKinds } from "@isthmus/api";
import type { Kind } from "@isthmus/core";
import { agentRoles, serverRoles } from "@isthmus/plane";
import { NAMESPACE } from "./objects.ts";

// What these schedules never have (nodes, OSM) is left out: it would only cost time.
const UNUSED = new Set(["Node", "Endpoints", "DaemonSet", "StatefulSet", "Sidecar", "OsmMeshConfig", "TrafficSplit", "TrafficTarget"]);
const UNUSED_TOO = new Set([
  "HTTPRouteGroup",
  "TCPRoute",
  "IssuedCertificate",
  "PodBounceDirective",
  "CertificateRequest",
  "VirtualDestination",
  "EnvoyFilter",
]);
// Other meshes have a Mesh too.
const OTHER_MESHES = new Set(["appmesh.k8s.aws", "config.openservicemesh.io"]);
const isUsed = ({ apiVersion, kind }: Kind) =>
  !UNUSED.has(kind) && !UNUSED_TOO.has(kind) && !OTHER_MESHES.has(apiVersion.split("/")[0] ?? "");

/** What the simulated API servers know. */
export const SIMULATED = allKinds().filter(isUsed);
const ALL = agentRoles(NAMESPACE);

/** What the agents deal with. */
export const ROLES = {
  ...ALL,
  sentKinds: ALL.sentKinds.filter(isUsed),
  userKinds: ALL.userKinds.filter(isUsed),
  writtenKinds: ALL.writtenKinds.filter(isUsed),
};
const ALL_OF_SERVER = serverRoles(NAMESPACE);
/** What the server reads in the management cluster. */
export const SERVER_ROLES = {
  ...ALL_OF_SERVER,
  kinds: { ...ALL_OF_SERVER.kinds, management: ALL_OF_SERVER.kinds.management.filter(isUsed) },
};
