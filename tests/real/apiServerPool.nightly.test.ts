import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ApiServer, type ApiServerAccess, apiServerAt, type OwnApiServer, startApiServer } from "./harness/apiServer.ts";
import { type AdminRequests, adminRequests } from "./harness/apiServerPool/adminRequests.ts";
import { type ApiServerPool, apiServerPool } from "./harness/apiServerPool/apiServerPool.ts";
import { type Definitions, type Form, startPooledServer } from "./harness/apiServerPool/pooledServer.ts";
import { listedTypes } from "./harness/apiServerPool/servedObjects.ts";
import { anyKind, clusterOf } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type Etcd, startEtcd } from "./harness/etcd.ts";
import { applyAll, installCrds, objectsIn } from "./harness/manifests.ts";
import { meshCrds, ourCrds } from "./harness/meshCluster.ts";
import { waitFor } from "./harness/waitFor.ts";

// A pool of one server, so that each lease is of the same one.
describeReal("a leased API server", (components) => {
  let directory: string;
  let etcd: Etcd;
  let pool: ApiServerPool;
  let fresh: OwnApiServer & { readonly access: ApiServerAccess };
  const warnings: string[] = [];

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "isthmus-real-"));
    etcd = await startEtcd(components, directory);
    const definitions = new Map<Form, Definitions>();
    const options = { components, directory, etcdUrl: etcd.url, definitions, resetMs: 10_000 };
    pool = apiServerPool({
      most: 1,
      start: (serial) => startPooledServer({ ...options, name: `server-${serial}` }),
      warn: (message) => void warnings.push(message),
    });
    fresh = await startApiServer({ components, name: "fresh", directory, etcdUrl: etcd.url });
  });
  afterAll(async () => {
    await pool?.close();
    await fresh?.program.stop();
    await etcd?.program.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  /** One after the other, on the same server. */
  async function leased<Result>(form: Form, use: (access: ApiServerAccess, server: ApiServer) => Promise<Result>): Promise<Result> {
    const { servers, release } = await pool.lease({ forms: [form] });
    const [access] = servers;
    if (access === undefined) throw new TypeError("a lease without a server");
    const folder = mkdtempSync(join(directory, "lease-"));
    try {
      return await use(access, apiServerAt(access, { name: "one", directory: folder, since: Date.now() }));
    } finally {
      release();
    }
  }

  it.each(["bare", "all"] as const)("is as a new one after a tenant that changed what there is to change: %s", async (form) => {
    const first = await leased(form, async ({ url }, server) => {
      await fill(server, form);
      return url;
    });
    if (form === "all") await installCrds(clusterOf(fresh, ""), [...meshCrds(components), ...ourCrds()]);
    const expected = await everything(fresh.access);
    await leased(form, async (access, server) => {
      expect(access.url).toBe(first);
      expect(await everything(access)).toEqual(expected);
      await expectOpen(server);
    });
    expect(warnings).toEqual([]);
  });

  it("is as a new one in another form too", async () => {
    await leased("bare", async () => undefined);
    const served = await leased("istio", async (access) => (await everything(access)).map(([path]) => path));
    expect(served.some((path) => path.includes("networking.istio.io"))).toBe(true);
    expect(served.filter((path) => path.includes("solo.io"))).toEqual([]);
  });

  it("is replaced when a tenant continues to write", async () => {
    const stop = new AbortController();
    let ended: Promise<void> | undefined;
    const first = await leased("bare", async ({ url }, server) => {
      const cluster = clusterOf(server, "");
      ended = (async () => {
        for (let i = 0; !stop.signal.aborted; i++) await cluster.create(configMap("default", `left-${i}`)).catch(() => undefined);
      })();
      await waitFor("its first object", () => cluster.get(ConfigMap, { name: "left-0", namespace: "default" }));
      return url;
    });
    const second = await leased("bare", async ({ url }, server) => {
      await clusterOf(server, "").create(configMap("default", "mine"));
      return url;
    });
    stop.abort();
    await ended;
    expect(second).not.toBe(first);
    expect(warnings).toEqual([expect.stringContaining("is not as it was after 10 s; last: to be reset: configmaps/default/left-")]);
  });

  it("is replaced when its tenant ends without giving it back", async () => {
    const { servers, abandon } = await pool.lease({ forms: ["bare"] });
    abandon();
    // The new one has the CRDs as the first one stored them.
    await leased("all", async (access) => {
      expect(access.url).not.toBe(servers[0]?.url);
      expect(await everything(access)).toEqual(await everything(fresh.access));
    });
  });
});

const RBAC = "rbac.authorization.k8s.io/v1";
const ADMISSION = "admissionregistration.k8s.io/v1";
const everyone = { subjects: [{ kind: "Group", name: "system:authenticated", apiGroup: "rbac.authorization.k8s.io" }] };
const ConfigMap = anyKind("v1", "ConfigMap", "configmaps");
const refusing = {
  clientConfig: { url: "https://127.0.0.1:1/" },
  rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
  failurePolicy: "Fail",
};

function configMap(namespace: string, name: string): AnyResource {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace } };
}

/** Objects of many kinds, some of which would be in the way of others. */
const LEFT = `
{apiVersion: v1, kind: Namespace, metadata: {name: left}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: left, namespace: left}}
---
{apiVersion: v1, kind: Secret, metadata: {name: left, namespace: kube-system}, data: {a: Yg==}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: held, namespace: left, finalizers: [isthmus.example/held]}}
---
{apiVersion: v1, kind: Node, metadata: {name: left}}
---
{apiVersion: v1, kind: Service, metadata: {name: left, namespace: left}, spec: {type: NodePort, clusterIP: 10.96.7.7, ports: [{port: 80, nodePort: 30777}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: left, namespace: left}, spec: {nodeName: left, containers: [{name: a, image: b}]}}
---
{apiVersion: v1, kind: ResourceQuota, metadata: {name: left, namespace: default}, spec: {hard: {configmaps: "0"}}}
---
{apiVersion: v1, kind: Event, metadata: {name: left, namespace: default}, involvedObject: {kind: Pod, namespace: default, name: left}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: left, namespace: left}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: b}]}}}}
---
{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: left, namespace: kube-system}}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: left, namespace: left}, addressType: IPv4, endpoints: []}
---
{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: left, namespace: left}, spec: {podSelector: {}}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: left, namespace: left}, spec: {minAvailable: 1}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: left}, value: 7, globalDefault: true}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: left, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}, provisioner: isthmus.example/left}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: left}, rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: left, namespace: default}, rules: [{apiGroups: [""], resources: ["secrets"], verbs: ["*"]}]}
---
{apiVersion: v1, kind: Namespace, metadata: {name: default, labels: {left: behind}}}
---
{apiVersion: left.isthmus.example/v1, kind: Left, metadata: {name: left, namespace: left, finalizers: [isthmus.example/held]}, spec: {a: b}}
`;

const crd = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "lefts.left.isthmus.example" },
  spec: {
    group: "left.isthmus.example",
    scope: "Namespaced",
    names: { kind: "Left", plural: "lefts" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
} as unknown as AnyResource;

/** Makes, changes and deletes, and closes the cluster in the end. */
async function fill(server: ApiServer, form: Form): Promise<void> {
  const cluster = clusterOf(server, "");
  await installCrds(cluster, [crd]);
  await applyAll(cluster, objectsIn(LEFT));
  const Left = anyKind("left.isthmus.example/v1", "Left", "lefts");
  await cluster.applyStatus(
    { apiVersion: Left.apiVersion, kind: Left.kind, metadata: { name: "left", namespace: "left" }, status: { ready: true } } as AnyResource,
    { fieldManager: "controller", force: true },
  );
  const gone: readonly (readonly [string, string, string, string?])[] = [
    // Stays for its finalizer, and so does its namespace.
    ["v1", "ConfigMap", "held", "left"],
    ["v1", "Namespace", "left"],
    [RBAC, "Role", "extension-apiserver-authentication-reader", "kube-system"],
    [RBAC, "ClusterRoleBinding", "system:basic-user"],
    [RBAC, "ClusterRole", "view"],
    ...(form === "bare"
      ? []
      : ([["apiextensions.k8s.io/v1", "CustomResourceDefinition", "trafficpolicies.networking.mesh.gloo.solo.io"]] as const)),
  ];
  for (const [apiVersion, kind, name, namespace = ""] of gone) await cluster.delete({ apiVersion, kind, name, namespace, clusterName: "" });
  const spec = {
    failurePolicy: "Fail",
    matchConstraints: { resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["secrets"] }] },
    validations: [{ expression: "false" }],
  };
  await applyAll(cluster, [
    { apiVersion: RBAC, kind: "ClusterRoleBinding", metadata: { name: "left" }, ...everyone, roleRef: roleRef("ClusterRole") },
    { apiVersion: RBAC, kind: "RoleBinding", metadata: { name: "left", namespace: "default" }, ...everyone, roleRef: roleRef("Role") },
    { apiVersion: ADMISSION, kind: "ValidatingAdmissionPolicy", metadata: { name: "left" }, spec },
    {
      apiVersion: ADMISSION,
      kind: "ValidatingAdmissionPolicyBinding",
      metadata: { name: "left" },
      spec: { policyName: "left", validationActions: ["Deny"] },
    },
    {
      apiVersion: ADMISSION,
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: "left" },
      webhooks: [{ name: "v.left.example", ...refusing }],
    },
    {
      apiVersion: ADMISSION,
      kind: "MutatingWebhookConfiguration",
      metadata: { name: "left" },
      webhooks: [{ name: "m.left.example", ...refusing }],
    },
  ] as unknown as readonly AnyResource[]);
  // What is left is in force: otherwise the next tenant would not notice it anyway.
  await refused(cluster, configMap("default", "webhooks"), "left.example");
  await refused(
    cluster,
    { apiVersion: "v1", kind: "Secret", metadata: { name: "policy", namespace: "default" } },
    "ValidatingAdmissionPolicy",
  );
  const stranger = clusterOf(server, "", { asStranger: true });
  await waitFor("the stranger's rights", async () => (await stranger.list(ConfigMap)).items.length > 0);
}

function roleRef(kind: string): object {
  return { apiGroup: "rbac.authorization.k8s.io", kind, name: "left" };
}

function refused(cluster: Cluster, object: AnyResource, by: string): Promise<true> {
  return waitFor(`a refusal by ${by}`, async () => {
    const error = await cluster.create(object).then(
      () => undefined,
      (reason: Error) => reason,
    );
    if (error === undefined) await cluster.delete({ ...object, ...object.metadata, namespace: "default", clusterName: "" } as never);
    return error?.message.includes(by);
  });
}

/** Nothing that the tenant before left is in the way, from the first request on. */
async function expectOpen(server: ApiServer): Promise<void> {
  const cluster = clusterOf(server, "");
  const stranger = clusterOf(server, "", { asStranger: true });
  await expect(stranger.list(ConfigMap)).rejects.toMatchObject({ code: "Forbidden" });
  await cluster.create(configMap("default", "webhooks"));
  await cluster.create({ apiVersion: "v1", kind: "Secret", metadata: { name: "policy", namespace: "default" } });
  await cluster.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "left" } });
  const spec = { type: "NodePort", clusterIP: "10.96.7.7", ports: [{ port: 80, nodePort: 30_777 }] };
  await cluster.create({ apiVersion: "v1", kind: "Service", metadata: { name: "left", namespace: "left" }, spec } as AnyResource);
  expect(server.planeWrites()).toEqual([]);
}

/** Path of each type that can be listed, and its objects, apart from what is different in each cluster: times, UIDs, versions, its port and its own lease. */
async function everything(access: ApiServerAccess): Promise<readonly (readonly [string, readonly unknown[]])[]> {
  const requests = adminRequests(access);
  try {
    const types = (await listedTypes(requests)).filter(({ type }) => type !== "/componentstatuses");
    const paths = types.map(({ path }) => path).sort();
    return await Promise.all(paths.map(async (path) => [path, await objectsAt(requests, path)] as const));
  } finally {
    requests.close();
  }
}

async function objectsAt(requests: AdminRequests, path: string): Promise<readonly unknown[]> {
  const { items } = await requests.get<{ readonly items: readonly AnyResource[] | null }>(path);
  return (items ?? []).filter(({ metadata }) => !metadata.name.startsWith("apiserver-")).map(steady);
}

const VARIABLE = new Set(["uid", "resourceVersion", "targetPort"]);
const TIME = /^\d{4}-\d\d-\d\d(T|$)/;

function steady(value: unknown): unknown {
  if (typeof value === "string") return TIME.test(value) ? "a time" : value;
  if (Array.isArray(value)) return value.map(steady);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !VARIABLE.has(key))
      .map(([key, inner]) => [key, steady(inner)]),
  );
}
