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
]);
const isUsed = ({ kind }: Kind) => !UNUSED.has(kind) && !UNUSED_TOO.has(kind);

/** What the simulated API servers know. */
export const SIMULATED = allKinds().filter(isUsed);
const ALL = agentRoles(NAMESPACE);

/** What the agents deal with. */
export const ROLES = { ...ALL, sentKinds: ALL.sentKinds.filter(isUsed), writtenKinds: ALL.writtenKinds.filter(isUsed) };
/** What the server reads in the management cluster. */
export const SERVER_ROLES = serverRoles(NAMESPACE);
