import { channel } from "node:diagnostics_channel";
import { setMaxListeners } from "node:events";
import type { Socket } from "node:net";
import { allKinds, KubernetesCluster } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import { systemClock } from "@isthmus/plane";
import { type SimulatedCluster, simulatedCluster } from "@isthmus/simulator";
import { clusterName, clusterObjects, type FleetSize, managementObjects, reportedObjects, serviceAt } from "../fleet.ts";
import { PLANE } from "../planeObjects.ts";
import type { ServerAddress } from "./serverUnderTest.ts";
import { type RunningAgent, startReporter, startWholeAgent, type Wallet } from "./simulatedAgent.ts";

export interface HostedFleetOptions {
  readonly size: FleetSize;
  /** `whole`: each agent works on a simulated cluster. `reporters`: it only reports what such a cluster would hold. */
  readonly agents: "whole" | "reporters";
  /** Whether KubernetesClusters are there before their agents. Default: they are. */
  readonly isRegistered?: boolean;
}

/** Simulated clusters and the agents of some of them, in the process that holds them. */
export interface HostedFleet {
  readonly size: FleetSize;
  readonly management: SimulatedCluster;
  /** Empty for reporters. */
  readonly clusters: ReadonlyMap<string, SimulatedCluster>;
  readonly agents: ReadonlyMap<string, RunningAgent>;
  /** The agents' certificates. */
  readonly wallet: Wallet;
  start(names: readonly string[], address: ServerAddress): void;
  stopAgents(): Promise<void>;
  /** What was sent to agents so far does not count for `settled` any more. */
  mark(): void;
  /**
   * Settles when every agent has answered what it was sent since `mark`, and nothing has been said for `quietMs`. Gives the
   * milliseconds from `mark` to the last answer.
   */
  settled(quietMs: number): Promise<number>;
  /** Settles when nothing has been written in the management cluster for `quietMs`: all is published, and every status written. */
  atRest(quietMs: number): Promise<void>;
  /** What the agents' connections have carried so far, TLS and all. */
  bytes(): { readonly up: number; readonly down: number };
}

export function hostedFleet({ size, agents: kindOfAgent, isRegistered = true }: HostedFleetOptions): HostedFleet {
  const names = Array.from({ length: size.clusters }, (_, i) => clusterName(i));
  const management = newCluster("", isRegistered ? managementObjects(size) : withoutRegistrations(size));
  const clusters = new Map(
    kindOfAgent === "reporters" ? [] : names.map((name, i) => [name, newCluster(name, clusterObjects(name, i, size))] as const),
  );
  const wallet: Wallet = new Map();
  const agents = new Map<string, RunningAgent>();
  const sockets = new Set<Socket>();
  channel("net.client.socket").subscribe((message) => sockets.add((message as { readonly socket: Socket }).socket));
  let life = quietController();
  let markedAt = performance.now();

  return {
    size,
    management,
    clusters,
    agents,
    wallet,
    start(started, address) {
      for (const name of started) {
        const place = { clusterName: name, address, wallet };
        const cluster = clusters.get(name);
        const agent =
          cluster === undefined
            ? startReporter(place, [...reportedObjects(name, names.indexOf(name), size)], life.signal)
            : startWholeAgent(place, cluster, life.signal);
        agents.set(name, agent);
      }
    },
    async stopAgents() {
      life.abort(new Error("the benchmark stops its agents"));
      await Promise.all([...agents.values()].map(({ ended }) => ended));
      agents.clear();
      life = quietController();
    },
    mark() {
      markedAt = performance.now();
      for (const { progress } of agents.values()) progress.desired = 0;
    },
    async settled(quietMs) {
      for (;;) {
        await systemClock.sleep(Math.min(quietMs, POLL_MS));
        const all = [...agents.values()];
        const last = Math.max(...all.map(({ lastActiveAt }) => lastActiveAt));
        const isDone = all.every(({ progress }) => progress.desired > 0 && progress.answered === progress.desired);
        if (isDone && performance.now() - last >= quietMs) return last - markedAt;
      }
    },
    async atRest(quietMs) {
      const version = async () => (await management.list(KubernetesCluster)).resourceVersion;
      for (let before = ""; before !== (await version()); ) {
        before = await version();
        await systemClock.sleep(quietMs);
      }
    },
    bytes() {
      const all = [...sockets];
      return {
        up: all.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0),
        down: all.reduce((sum, { bytesRead }) => sum + bytesRead, 0),
      };
    },
  };
}

const POLL_MS = 50;

function newCluster(name: string, objects: Iterable<AnyResource>): SimulatedCluster {
  const cluster = simulatedCluster({ name, clock: systemClock, kinds: allKinds(), historyLimit: 512 });
  cluster.load([...namespaces(), ...objects]);
  return cluster;
}

function* namespaces(): Iterable<AnyResource> {
  const names = new Set([PLANE, "istio-system", ...Array.from({ length: 10 }, (_, i) => serviceAt(i).namespace)]);
  for (const name of names) yield { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}

function* withoutRegistrations(size: FleetSize): Iterable<AnyResource> {
  for (const object of managementObjects(size)) if (object.kind !== "KubernetesCluster") yield object;
}

/** Every watch of every kind listens to one signal. */
function quietController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
