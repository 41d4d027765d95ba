import { run } from "./commands.ts";
import { apply, INJECTED, kube, MESH_IMAGE, MESHES, type MeshName, rolledOut } from "./fleet.ts";
import { planOf } from "./names.ts";
import { inNode, type Nodes } from "./nodes.ts";

/** A second of each host. */
const RATE = 20;
const CALLER = "caller";
// On the node: what a pod wrote is there when the pod is gone.
const RESULTS = "/opt/results";

/** What became of requests: how many had which status, by URL, and what the first failures said. */
export interface Requests {
  readonly results: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly failures: readonly string[];
}

/** Starts a pod with a sidecar in each mesh that calls hosts until it is ended, and once more each time that it is restarted. */
export function startCallers(nodes: Nodes, urlsOf: (from: MeshName) => readonly string[]): void {
  for (const name of MESHES) {
    run(inNode(planOf(name, nodes.state), ["sh", "-c", `rm -rf ${RESULTS} && mkdir -p ${RESULTS} && chmod 777 ${RESULTS}`]));
    apply(nodes, name, [deployment(urlsOf(name))]);
  }
  for (const name of MESHES) rolledOut(nodes, name, INJECTED, CALLER);
}

/** Ends the callers and gives what became of all requests of each. */
export function endCallers(nodes: Nodes): readonly (readonly [MeshName, Requests])[] {
  for (const name of MESHES) {
    kube(nodes, name, ["-n", INJECTED, "delete", `deployment/${CALLER}`, "--cascade=foreground", "--timeout=2m"]);
  }
  return MESHES.map((name) => {
    const lines = run(inNode(planOf(name, nodes.state), ["sh", "-c", `cat ${RESULTS}/*`]))
      .trim()
      .split("\n");
    return [name, lines.map((line) => JSON.parse(line) as Requests).reduce(sum)];
  });
}

function sum(one: Requests, other: Requests): Requests {
  const results: Record<string, Record<string, number>> = {};
  for (const [url, counts] of [...Object.entries(one.results), ...Object.entries(other.results)]) {
    const all = { ...results[url] };
    for (const [status, count] of Object.entries(counts)) all[status] = (all[status] ?? 0) + count;
    results[url] = all;
  }
  return { results, failures: [...one.failures, ...other.failures] };
}

function deployment(urls: readonly string[]): object {
  // exec: so that SIGTERM reaches it.
  const script = `exec probe load 0 ${RATE} ${urls.join(" ")} >${RESULTS}/$HOSTNAME`;
  const container = {
    name: "app",
    image: MESH_IMAGE,
    imagePullPolicy: "Never",
    command: ["sh", "-c", script],
    securityContext: { runAsUser: 1000 },
    resources: { requests: { cpu: "10m", memory: "16Mi" } },
    volumeMounts: [{ name: "results", mountPath: RESULTS }],
  };
  // Else the first requests of a new pod find no proxy.
  const annotations = { "proxy.istio.io/config": "{holdApplicationUntilProxyStarts: true}" };
  const metadata = { labels: { app: CALLER }, annotations };
  const spec = { containers: [container], volumes: [{ name: "results", hostPath: { path: RESULTS } }] };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: CALLER, namespace: INJECTED },
    spec: { replicas: 1, selector: { matchLabels: { app: CALLER } }, template: { metadata, spec } },
  };
}
