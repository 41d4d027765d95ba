import { join } from "node:path";
import { run, tried, until } from "./commands.ts";
import type { ClusterName } from "./names.ts";
import { planOf } from "./names.ts";
import { inNode, kubectl, load, type Nodes, onLan, pathOf } from "./nodes.ts";

/** Clusters with a mesh. */
export const MESHES = ["east", "west"] as const;
export type MeshName = (typeof MESHES)[number];

/** One image for the mesh and its applications, so that a node unpacks it once. */
export const MESH_IMAGE = "localhost/mesh:1";
const ALSO = ["localhost/istio/pilot:test", "localhost/istio/proxyv2:test", "docker.io/library/redis:7.4-alpine"];

/** Gives each node the images that its pods are made of. */
export function loadImages(nodes: Nodes): void {
  const images = {
    mgmt: ["gloo-mesh-mgmt-server", "gloo-mesh-ui", "mesh"],
    east: ["gloo-mesh-agent", "mesh"],
    west: ["gloo-mesh-agent", "mesh"],
  };
  for (const [name, files] of Object.entries(images)) {
    const plan = planOf(name as ClusterName, nodes.state);
    for (const file of files) load(plan, join(nodes.built.folder, "images", `${file}.tar`));
    run(inNode(plan, ["ctr", "-n", "k8s.io", "images", "tag", "--force", MESH_IMAGE, ...ALSO]));
  }
}

/** A command on the network of the nodes; gives its output, throws Error where it fails. */
export function command(nodes: Nodes, words: readonly string[], input?: string): string {
  return run(onLan(nodes, words), { env: pathOf(nodes), ...(input === undefined ? {} : { input }) });
}

/** kubectl in the context of a cluster; gives its output, throws Error where it fails. */
export function kube(nodes: Nodes, name: ClusterName, args: readonly string[], input?: string): string {
  return command(nodes, ["kubectl", "--context", name, ...args], input);
}

/** Applies objects. */
export function apply(nodes: Nodes, name: ClusterName, objects: readonly object[]): void {
  kube(nodes, name, ["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
}

/**
 * Values of Istio's chart istiod. The filters that are left out need Istio's build of Envoy, which has them compiled in; here it is the stock build. A trust domain
 * and a DNS of its own are what docs/getting-started.md asks for.
 */
function istiodValues(name: MeshName): object {
  return {
    global: { hub: "localhost/istio", tag: "test", imagePullPolicy: "Never", multiCluster: { clusterName: name } },
    pilot: {
      env: { PILOT_ENABLE_METADATA_EXCHANGE: "false", PILOT_ENABLE_ALPN_FILTER: "false", PILOT_SKIP_VALIDATE_TRUST_DOMAIN: "true" },
      resources: { requests: { cpu: "50m", memory: "256Mi" } },
    },
    telemetry: { enabled: false },
    meshConfig: { trustDomain: name, defaultConfig: { proxyMetadata: { ISTIO_META_DNS_CAPTURE: "true" } } },
  };
}

/** Installs Istio by its own charts: base, istiod, and a gateway for other clusters as Istio's guide for several networks has it. */
export function installIstio(nodes: Nodes, name: MeshName): void {
  const chart = (path: string) => join(nodes.built.folder, "istio", path);
  const helm = (release: string, path: string, values: object) => {
    const where = ["--kube-context", name, "--namespace", "istio-system", "--create-namespace"];
    command(nodes, ["helm", "upgrade", "--install", release, chart(path), ...where, "--values", "-"], JSON.stringify(values));
  };
  helm("istio-base", "base", {});
  helm("istiod", "istio-control/istio-discovery", istiodValues(name));
  rolledOut(nodes, name, "istio-system", "istiod");
  const resources = { requests: { cpu: "10m", memory: "64Mi" } };
  const pods = { autoscaling: { enabled: false }, replicaCount: 2, imagePullPolicy: "Never", resources };
  helm("istio-eastwestgateway", "gateway", { networkGateway: name, ...pods });
  rolledOut(nodes, name, "istio-system", "istio-eastwestgateway");
}

/** Waits until a Deployment is rolled out; throws Error after five minutes. */
export function rolledOut(nodes: Nodes, name: ClusterName, namespace: string, deployment: string): void {
  kube(nodes, name, ["-n", namespace, "rollout", "status", `deployment/${deployment}`, "--timeout=5m"]);
}

/** The namespace of applications with sidecars; the other one has none. */
export const INJECTED = "bookinfo";
const PLAIN = "plain";

/** Installs applications: `reviews` with two pods and `ratings` with one, in the mesh, and `client` outside of it. */
export function installApps(nodes: Nodes, name: MeshName): void {
  const namespace = (namespaceName: string, labels: object) => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: namespaceName, labels },
  });
  apply(nodes, name, [
    namespace(INJECTED, { "istio-injection": "enabled" }),
    namespace(PLAIN, {}),
    ...application(name, INJECTED, "reviews", 2),
    ...application(name, INJECTED, "ratings", 1),
    ...application(name, PLAIN, "client", 1),
  ]);
  for (const [place, app] of [
    [INJECTED, "reviews"],
    [INJECTED, "ratings"],
    [PLAIN, "client"],
  ] as const)
    rolledOut(nodes, name, place, app);
}

function application(cluster: MeshName, namespace: string, app: string, replicas: number): readonly object[] {
  const metadata = { name: app, namespace, labels: { app } };
  const container = {
    name: "app",
    image: MESH_IMAGE,
    imagePullPolicy: "Never",
    command: ["/usr/local/bin/probe", "serve"],
    env: [{ name: "CLUSTER", value: cluster }],
    ports: [{ containerPort: 9080 }],
    readinessProbe: { httpGet: { path: "/", port: 9080 }, periodSeconds: 1 },
    securityContext: { runAsUser: 1000 },
    resources: { requests: { cpu: "10m", memory: "16Mi" } },
  };
  const template = { metadata: { labels: { app } }, spec: { serviceAccountName: app, containers: [container] } };
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    { apiVersion: "v1", kind: "Service", metadata, spec: { selector: { app }, ports: [{ name: "http", port: 9080 }] } },
    { apiVersion: "apps/v1", kind: "Deployment", metadata, spec: { replicas, selector: { matchLabels: { app } }, template } },
  ];
}

/** Installs the management plane with Helm, as README.md says, and registers the clusters with meshctl. */
export async function installPlane(nodes: Nodes): Promise<void> {
  const chart = (name: string) => join(nodes.built.folder, "checkout/deploy/helm", name);
  const where = ["--kube-context", "mgmt", "--namespace", "gloo-mesh"];
  command(nodes, ["helm", "upgrade", "--install", "gloo-mesh-crds", chart("gloo-mesh-crds"), ...where, "--create-namespace"]);
  command(nodes, ["helm", "upgrade", "--install", "gloo-mesh-mgmt-server", chart("gloo-mesh-mgmt-server"), ...where]);
  for (const one of ["mgmt-server", "redis", "ui"]) rolledOut(nodes, "mgmt", "gloo-mesh", `gloo-mesh-${one}`);
  for (const name of MESHES)
    command(nodes, [
      "meshctl",
      "cluster",
      "register",
      name,
      "--remote-context",
      name,
      "--mgmt-context",
      "mgmt",
      "--set",
      "meshCertificates.restartPods=true,meshCertificates.namespaces={istio-system}",
    ]);
  const found = () => kubectl(nodes, "mgmt", ["-n", "gloo-mesh", "get", "destinations", "-o", "name"]).stdout.split("\n");
  await until("Destinations of both meshes", 60, () =>
    MESHES.every((name) => found().some((one) => one.endsWith(`/reviews-${INJECTED}-${name}`))),
  );
}

/** Who calls, and what. */
export interface Call {
  readonly from: MeshName;
  /** Namespace and app of the caller. */
  readonly caller: readonly [namespace: string, app: string];
  readonly url: string;
}

/** What becomes of one request: its status, "000" where there is none, by curl in the pod of the caller. */
export function statusOf(nodes: Nodes, { from, caller: [namespace, app], url }: Call): string {
  const curl = ["curl", "-s", "-m", "5", "-o", "/dev/null", "-w", "%{http_code}", url];
  return tried(onLan(nodes, ["kubectl", "--context", from, "-n", namespace, "exec", `deploy/${app}`, "-c", "app", "--", ...curl]), {
    env: pathOf(nodes),
  }).stdout.trim();
}

/** The calls within each mesh: with a sidecar at both ends, at one, at none. */
export function callsWithin(): readonly Call[] {
  const callers = [
    [INJECTED, "ratings"],
    [PLAIN, "client"],
  ] as const;
  const hosts = [`reviews.${INJECTED}`, `ratings.${INJECTED}`, `client.${PLAIN}`];
  return MESHES.flatMap((from) => callers.flatMap((caller) => hosts.map((host) => ({ from, caller, url: `http://${host}:9080/` }))));
}

/** The status of each call, by what it is. */
export function matrixOf(nodes: Nodes, calls: readonly Call[]): Readonly<Record<string, string>> {
  return Object.fromEntries(calls.map((call) => [`${call.from} ${call.caller.join("/")} ${call.url}`, statusOf(nodes, call)]));
}
