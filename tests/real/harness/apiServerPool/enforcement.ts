import { waitFor } from "../waitFor.ts";
import type { AdminRequests } from "./adminRequests.ts";

/**
 * Waits until rules that were deleted are out of force. The API server enforces admission and RBAC by copies of its own, which follow etcd in the order of
 * changes: once a marker that was created later is in force, all deletions before it have been seen too. `keys`: those of etcd that were changed. Gives
 * whether any of them is enforced.
 */
export async function outOfForce(server: AdminRequests, keys: readonly string[]): Promise<boolean> {
  const concerned = ENFORCED.filter(({ resources }) => keys.some((key) => resources.some((resource) => key.startsWith(`${resource}/`))));
  for (const { markers, isInForce } of concerned) await whileMarked(server, markers, isInForce);
  return concerned.length > 0;
}

const NAME = "isthmus-marker";

interface Marker {
  /** Of its kind. */
  readonly path: string;
  readonly object: object;
}

/** Creates markers, waits until they are in force, deletes them, and waits until they are not. */
async function whileMarked(server: AdminRequests, markers: readonly Marker[], isInForce: Enforced["isInForce"]): Promise<void> {
  for (const { path, object } of markers) {
    const { status, text } = await server.send("POST", path, object);
    if (status !== CREATED) throw new Error(`POST ${path}: ${status} ${text}`);
  }
  await waitFor("a marker to be in force", () => isInForce(server), SOON);
  for (const { path } of markers) await server.send("DELETE", `${path}/${NAME}`);
  await waitFor("a marker to be out of force", async () => !(await isInForce(server)), SOON);
}

const CREATED = 201;
const SOON = { timeoutMs: 20_000, everyMs: 10 };
const ADMISSION = "admissionregistration.k8s.io/v1";
const RBAC = "rbac.authorization.k8s.io/v1";
const matchLabels = { [NAME]: "here" };
const configMaps = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] };

/** One that nobody answers, so that what it is asked about is refused. */
function webhook(type: "mutating" | "validating"): Marker {
  const kind = type === "mutating" ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration";
  const hook = {
    name: `${NAME}.isthmus.example`,
    clientConfig: { url: "https://127.0.0.1:1/" },
    rules: [configMaps],
    objectSelector: { matchLabels },
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    failurePolicy: "Fail",
  };
  return {
    path: `/apis/${ADMISSION}/${type}webhookconfigurations`,
    object: { apiVersion: ADMISSION, kind, metadata: { name: NAME }, webhooks: [hook] },
  };
}

function refusingPolicy(): readonly Marker[] {
  const metadata = { name: NAME };
  const matchConstraints = { resourceRules: [configMaps], objectSelector: { matchLabels } };
  const spec = { failurePolicy: "Fail", matchConstraints, validations: [{ expression: "false", message: NAME }] };
  const binding = { policyName: NAME, validationActions: ["Deny"] };
  return [
    {
      path: `/apis/${ADMISSION}/validatingadmissionpolicies`,
      object: { apiVersion: ADMISSION, kind: "ValidatingAdmissionPolicy", metadata, spec },
    },
    {
      path: `/apis/${ADMISSION}/validatingadmissionpolicybindings`,
      object: { apiVersion: ADMISSION, kind: "ValidatingAdmissionPolicyBinding", metadata, spec: binding },
    },
  ];
}

async function isRefused(server: AdminRequests): Promise<boolean> {
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: NAME, labels: matchLabels } };
  const { status, text } = await server.send("POST", "/api/v1/namespaces/default/configmaps?dryRun=All", object);
  return status !== CREATED && text.includes(NAME);
}

/** A user's right by each of the four kinds, so that all four copies are asked. */
function grants(): readonly Marker[] {
  const metadata = { name: NAME };
  const subjects = [{ kind: "User", name: NAME, apiGroup: "rbac.authorization.k8s.io" }];
  const rule = (resource: string) => ({ apiGroups: [""], resources: [resource], verbs: ["get"] });
  const marker = (path: string, object: object): Marker => ({
    path: `/apis/${RBAC}/${path}`,
    object: { apiVersion: RBAC, metadata, ...object },
  });
  const refTo = (kind: string) => ({ subjects, roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name: NAME } });
  return [
    marker("clusterroles", { kind: "ClusterRole", rules: [rule("nodes")] }),
    marker("clusterrolebindings", { kind: "ClusterRoleBinding", ...refTo("ClusterRole") }),
    marker("namespaces/default/roles", { kind: "Role", rules: [rule("configmaps")] }),
    marker("namespaces/default/rolebindings", { kind: "RoleBinding", ...refTo("Role") }),
  ];
}

async function isGranted(server: AdminRequests): Promise<boolean> {
  const asked = [
    { verb: "get", resource: "nodes" },
    { verb: "get", resource: "configmaps", namespace: "default" },
  ];
  const answers = await Promise.all(
    asked.map((resourceAttributes) => {
      const review = { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec: { user: NAME, resourceAttributes } };
      return server.send("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review);
    }),
  );
  return answers.every(({ text }) => (JSON.parse(text) as { status: { allowed: boolean } }).status.allowed);
}

interface Enforced {
  /** As keys of etcd begin. */
  readonly resources: readonly string[];
  readonly markers: readonly Marker[];
  readonly isInForce: (server: AdminRequests) => Promise<boolean>;
}

const ENFORCED: readonly Enforced[] = [
  { resources: ["mutatingwebhookconfigurations"], markers: [webhook("mutating")], isInForce: isRefused },
  { resources: ["validatingwebhookconfigurations"], markers: [webhook("validating")], isInForce: isRefused },
  {
    resources: ["validatingadmissionpolicies", "validatingadmissionpolicybindings"],
    markers: refusingPolicy(),
    isInForce: isRefused,
  },
  { resources: ["roles", "rolebindings", "clusterroles", "clusterrolebindings"], markers: grants(), isInForce: isGranted },
];
