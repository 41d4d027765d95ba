import { agentKinds, computedKinds, contributedKinds, deliveredKinds, onDemandKinds } from "@isthmus/api";
import { groupOf, type Kind } from "@isthmus/core";

const READ = ["list", "watch"];
const WRITE = ["create", "update", "patch", "delete"];
const REVIEWS = ["authentication.k8s.io/tokenreviews create", "authorization.k8s.io/subjectaccessreviews create"];
const CRDS = READ.map((verb) => `apiextensions.k8s.io/customresourcedefinitions ${verb}`);
const ELECTION = ["get", "create", "update"].map((verb) => `coordination.k8s.io/leases ${verb}`);

/** What an account may do, as `group/resource verb`. */
export interface Rights {
  readonly everywhere: readonly string[];
  /** In addition, in the namespace of the release. */
  readonly own: readonly string[];
}

/** To write what an agent finds, and to answer who asked for it: of its own, not for the server. */
const API_DOCS = ["get", "create", "patch", "delete"].map((verb) => `apimanagement.gloo.solo.io/apidocs ${verb}`);
const API_STATUSES = ["apidocs", "apischemadiscoveries"].map((plural) => `apimanagement.gloo.solo.io/${plural}/status patch`);

/** To write what is delivered, by an agent or by a server that needs none. */
export function writeRights(by: "agent" | "server"): readonly string[] {
  // An agent keeps in memory what it computes.
  return [
    ...on(
      deliveredKinds().filter((kind) => by === "server" || !computedKinds().includes(kind)),
      WRITE,
    ),
    ...(by === "agent" ? API_DOCS : []),
  ];
}

/** Of an agent with an election, from the table of kinds. */
export function agentRights(): Rights {
  // It keeps in memory what it computes.
  const applied = deliveredKinds().filter((kind) => !computedKinds().includes(kind));
  return {
    everywhere: [
      ...on([...agentKinds(), ...onDemandKinds(), ...contributedKinds(), ...applied], READ),
      ...on(applied, ["get", ...WRITE]),
      ...on(contributedKinds(), ["patch"], "/status"),
      ...API_DOCS,
      ...API_STATUSES,
      ...CRDS,
      ...REVIEWS,
      // Where the chart has it restart pods.
      "/pods/eviction create",
    ],
    // Of Secrets it reads and updates some by their names: `agentSecretRights`.
    own: ["/secrets create", ...ELECTION],
  };
}

/** What an agent may do with single Secrets of its namespace, as `name verb`. */
export const agentSecretRights: readonly string[] = [
  ...["relay-client-tls-secret", "relay-root-tls-secret", "relay-identity-token-secret"].flatMap((name) =>
    ["get", ...READ].map((verb) => `${name} ${verb}`),
  ),
  "relay-client-tls-secret update",
  // Where the chart names control planes.
  "mesh-certificate-keys get",
  "mesh-certificate-keys update",
];

/** What an agent may do with single Secrets of a control plane's namespace that the chart names. */
export const meshSecretRights: readonly string[] = ["cacerts get", "cacerts update", "istio-ca-secret get"];

/** Of a server with an election: not from its rules, but from what is documented of it. */
export function serverRights(): Rights {
  const discovery = ["meshes", "workloads", "destinations"].map((plural) => `discovery.mesh.gloo.solo.io/${plural}`);
  const policies = ["trafficpolicies", "accesspolicies", "virtualmeshes"].map((plural) => `networking.mesh.gloo.solo.io/${plural}`);
  const settings = "settings.mesh.gloo.solo.io/settings";
  const clusters = "multicluster.solo.io/kubernetesclusters";
  const enterprise = [
    ...["virtualdestinations", "servicedependencies", "wasmdeployments"].map(
      (plural) => `networking.enterprise.mesh.gloo.solo.io/${plural}`,
    ),
    "observability.enterprise.mesh.gloo.solo.io/accesslogrecords",
  ];
  return {
    everywhere: [
      ...[...discovery, ...policies, ...enterprise, settings, clusters].flatMap((name) => READ.map((verb) => `${name} ${verb}`)),
      ...[...policies, ...enterprise, settings].map((name) => `${name}/status patch`),
      ...CRDS,
      ...REVIEWS,
      // Where insights.events is on.
      "/events create",
    ],
    own: [
      ...["get", ...READ, "create", "update", "delete"].map((verb) => `/secrets ${verb}`),
      ...discovery.flatMap((name) => [...["get", ...WRITE].map((verb) => `${name} ${verb}`), `${name}/status patch`]),
      ...[`${settings} get`, `${clusters} get`, `${clusters} create`, `${clusters}/status patch`, `${clusters}/status update`],
      ...ELECTION,
    ],
  };
}

function on(kinds: readonly Kind[], verbs: readonly string[], subresource = ""): readonly string[] {
  return kinds.flatMap(({ apiVersion, plural }) => verbs.map((verb) => `${groupOf(apiVersion)}/${plural}${subresource} ${verb}`));
}
