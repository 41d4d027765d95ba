import { networkInterfaces } from "node:os";
import { Lease } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import type { ApiServer } from "./apiServer.ts";
import { type App, startAgent } from "./apps.ts";
import { freePorts } from "./freePorts.ts";
import { applyAll } from "./manifests.ts";
import { waitFor } from "./waitFor.ts";

/** One of two replicas of an agent. */
export interface AgentReplica {
  readonly app: App;
  /** For proxies, on all addresses of this machine. */
  readonly workloadPort: number;
}

/** An agent that runs twice, with Wasm filters. */
export interface AgentReplicas {
  readonly leading: AgentReplica;
  readonly standby: AgentReplica;
  /** Which of them has the Lease: agent-a, as which `leading` is started, or agent-b. */
  leader(): Promise<string>;
}

/** An address of this machine that an EndpointSlice may have: API servers refuse loopback. */
export function addressOfThisMachine(): string {
  const found = Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.family === "IPv4" && !one.internal)?.address;
  if (found === undefined) throw new Error("this machine has no address beside loopback, which a pod could have");
  return found;
}

/** An EndpointSlice of a Service, with one pod at an address of this machine. */
export function sliceOf(name: string, namespace: string, { pod, service, port }: SliceOptions): AnyResource {
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name, namespace, labels: { "kubernetes.io/service-name": service } },
    addressType: "IPv4",
    endpoints: [{ addresses: [addressOfThisMachine()], conditions: { ready: true }, targetRef: { kind: "Pod", name: pod, namespace } }],
    ports: [port],
  } as unknown as AnyResource;
}

/** Makes a pod with this machine's address. */
export async function runPod(cluster: Cluster, name: string, namespace: string, app: string): Promise<void> {
  const metadata = { name, namespace, labels: { app } };
  const spec = { containers: [{ name: "app", image: "image" }] };
  await applyAll(cluster, [{ apiVersion: "v1", kind: "Pod", metadata, spec } as unknown as AnyResource]);
  await placePod(cluster, name, namespace);
}

/** Gives a pod this machine's address in its status, as a kubelet would. */
export async function placePod(cluster: Cluster, name: string, namespace: string): Promise<void> {
  const podIP = addressOfThisMachine();
  const status = { phase: "Running", podIP, podIPs: [{ ip: podIP }] };
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name, namespace }, status } as unknown as AnyResource;
  await cluster.applyStatus(pod, { fieldManager: "kubelet", force: true });
}

interface SliceOptions {
  /** The name of the pod. */
  readonly pod: string;
  readonly service: string;
  readonly port: { readonly name: string; readonly port: number | undefined };
}

const at = { namespace: "gloo-mesh" };
const labels = { app: "gloo-mesh-agent" };
const containers = [{ name: "agent", image: "image" }];

/**
 * Starts both, with a pod of each in their cluster, where the namespace gloo-mesh and the relay's Secrets are. The one that leads is on loopback, so that the other one can
 * have the same port for replicas.
 */
export async function startAgentReplicas({
  server,
  cluster,
  relayAddress,
  directory,
}: {
  readonly server: ApiServer;
  /** The one of `server`. */
  readonly cluster: Cluster;
  readonly relayAddress: string;
  readonly directory: string;
}): Promise<AgentReplicas> {
  const pods = ["agent-a", "agent-b"].map((name) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...at, name, labels },
    spec: { containers },
  }));
  const slice = sliceOf("gloo-mesh-agent-1", at.namespace, {
    pod: "agent-b",
    service: "gloo-mesh-agent",
    port: { name: "grpc", port: 9977 },
  });
  await applyAll(cluster, [...pods, slice]);
  const [replicaPort = 0] = await freePorts(1);
  async function replica(name: string, host: string): Promise<AgentReplica> {
    const [workloadPort = 0] = await freePorts(1);
    const more = [
      "--leader-election",
      "--wasm-filters",
      `--instance=${name}`,
      "--workload-host=0.0.0.0",
      `--workload-port=${workloadPort}`,
      `--replica-host=${host}`,
      `--replica-port=${replicaPort}`,
    ];
    const app = await startAgent({ server, relayAddress, directory, cluster: cluster.name, name, more });
    await app.ready();
    return { app, workloadPort };
  }
  async function leader(): Promise<string> {
    const lease = await cluster.get(Lease, { ...at, name: "gloo-mesh-agent" });
    return lease?.spec?.holderIdentity?.slice(0, "agent-a".length) ?? "";
  }
  const leading = await replica("agent-a", "127.0.0.1");
  await waitFor("agent-a to lead", async () => (await leader()) === "agent-a");
  return { leading, standby: await replica("agent-b", addressOfThisMachine()), leader };
}
