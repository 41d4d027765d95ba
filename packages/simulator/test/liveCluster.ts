import { allKinds } from "@isthmus/api";
import type { AnyResource, Kind, Log, Resource } from "@isthmus/core";
import { onTestFinished } from "vitest";
import { type SimulatedCluster, simulatedCluster, startControllers, type VirtualClock, virtualClock } from "../src/index.ts";

/** A cluster whose controllers run until the test ends, in time that the test owns. */
export interface LiveCluster {
  readonly cluster: SimulatedCluster;
  readonly clock: VirtualClock;
  /** What the controllers warned of. */
  readonly warnings: readonly string[];
  apply(...resources: readonly object[]): Promise<void>;
  all<R extends Resource>(kind: Kind<R>, namespace?: string): Promise<readonly AnyResource[]>;
  one<R extends Resource>(kind: Kind<R>, name: string, namespace?: string): Promise<AnyResource>;
}

export async function liveCluster(resources: readonly Resource[] = [], name = "cluster-1"): Promise<LiveCluster> {
  const clock = virtualClock();
  const cluster = simulatedCluster({ name, clock, kinds: allKinds() });
  const warnings: string[] = [];
  const warn = (_: object, message: string) => void warnings.push(message);
  const log: Log = { debug: () => undefined, info: () => undefined, warn, error: warn };
  const abort = new AbortController();
  const ended = startControllers(cluster, { clock, log }, abort.signal);
  onTestFinished(async () => {
    abort.abort();
    await ended;
  });
  const live: LiveCluster = {
    cluster,
    clock,
    warnings,
    async apply(...objects) {
      for (const resource of objects) await cluster.apply(resource as Resource, { fieldManager: "user" });
      await clock.advance(1_000);
    },
    async all(kind, namespace) {
      const { items } = await cluster.list(kind, namespace === undefined ? {} : { namespace });
      return items.map((item) => ({ ...(item as Resource) }));
    },
    async one(kind, objectName, namespace = "default") {
      const found = await cluster.get(kind, { name: objectName, namespace: kind.namespaced ? namespace : "" });
      if (found === undefined) throw new Error(`there is no ${kind.kind} ${objectName}`);
      return { ...(found as Resource) };
    },
  };
  await live.apply(...resources);
  return live;
}

interface WorkloadOptions {
  readonly kind?: "Deployment" | "StatefulSet" | "DaemonSet";
  readonly name?: string;
  readonly namespace?: string;
  readonly replicas?: number;
  readonly image?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
}

/** A Deployment, or a set of another kind, whose container answers on 8080. */
export function workload(options: WorkloadOptions = {}): Resource {
  const {
    kind = "Deployment",
    name = "web",
    namespace = "default",
    replicas = 1,
    image = "example.com/web:1",
    annotations,
    labels,
  } = options;
  const app = { app: name };
  const metadata = { labels: { ...app, ...labels }, ...(annotations === undefined ? {} : { annotations }) };
  const containers = [{ name: "web", image, ports: [{ name: "http", containerPort: 8080 }] }];
  const spec = {
    ...(kind === "DaemonSet" ? {} : { replicas }),
    selector: { matchLabels: app },
    template: { metadata, spec: { containers } },
  };
  const resource = { apiVersion: "apps/v1", kind, metadata: { name, namespace }, spec };
  return resource;
}

export function service(name = "web", spec: object = {}): Resource {
  const body = { selector: { app: name }, ports: [{ name: "http", port: 80, targetPort: "http" }], ...spec };
  const resource = { apiVersion: "v1", kind: "Service", metadata: { name, namespace: "default" }, spec: body };
  return resource;
}

export function node(name: string, zone = "us-east-1a"): Resource {
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels: { "topology.kubernetes.io/zone": zone } } };
}

/** A member of an object by its path, such as `status.readyReplicas`. */
export function at(resource: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((value, member) => (value as Readonly<Record<string, unknown>> | undefined)?.[member], resource);
}
