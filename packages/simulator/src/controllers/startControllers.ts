import { type Clock, type Kind, type Log, md5Hex } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { deploymentController } from "./deployments.ts";
import { endpointSliceController } from "./endpointSlices.ts";
import { endpointsController } from "./endpoints.ts";
import { runControllers } from "./engine.ts";
import { garbageCollector } from "./garbageCollection.ts";
import { loadBalancerController } from "./loadBalancers.ts";
import { namespaceController } from "./namespaces.ts";
import { nodeController } from "./nodes.ts";
import { daemonSetController, statefulSetController } from "./numberedPods.ts";
import { podController } from "./pods.ts";
import { replicaSetController } from "./replicaSets.ts";
import {
  SimulatedDaemonSet,
  SimulatedDeployment,
  SimulatedEndpointSlice,
  SimulatedPod,
  SimulatedReplicaSet,
  SimulatedService,
  SimulatedStatefulSet,
} from "./workloads.ts";

/** The first addresses of what gets one, such as `10.1.0.1`. */
export interface ClusterAddresses {
  readonly pods: string;
  readonly nodes: string;
  readonly loadBalancers: string;
}

export interface ControllersOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** 0..1. Default: a sequence that depends on the cluster's name alone. */
  readonly random?: () => number;
  /** Default: ranges that depend on the cluster's name. */
  readonly addresses?: ClusterAddresses;
  /** Kinds whose objects go with their owners, beside those that the controllers make. */
  readonly collected?: readonly Kind[];
}

/**
 * Makes a cluster without a control plane live: what kube-controller-manager, scheduler, kubelets, a cloud's load balancers
 * and Istio's injector would do, as far as a mesh sees it. Works on any Cluster. Resolves when aborted.
 */
export function startControllers(cluster: Cluster, options: ControllersOptions, signal: AbortSignal): Promise<void> {
  const { clock, log, random = sequence(cluster.name), addresses = addressesOf(cluster.name), collected = [] } = options;
  const controllers = [
    nodeController(addresses.nodes),
    deploymentController,
    replicaSetController,
    statefulSetController,
    daemonSetController,
    podController(addresses.pods),
    endpointSliceController,
    endpointsController,
    loadBalancerController(addresses.loadBalancers),
    garbageCollector([
      SimulatedDeployment,
      SimulatedReplicaSet,
      SimulatedStatefulSet,
      SimulatedDaemonSet,
      SimulatedPod,
      SimulatedService,
      SimulatedEndpointSlice,
      ...collected,
    ]),
    namespaceController,
  ];
  return runControllers({ cluster, controllers, clock, random, log }, signal);
}

/** Private addresses; two clusters seldom share them. */
function addressesOf(name: string): ClusterAddresses {
  const number = Number.parseInt(md5Hex(name).slice(0, 4), 16);
  // Services have 10.96.0.0/12; docker's own networks begin at 172.17.
  const [pods, others] = [number % 90, number % 200];
  return { pods: `10.${pods}.0.1`, nodes: `172.18.${others}.2`, loadBalancers: `172.19.${others}.10` };
}

/** Pseudo-random numbers from a seed. Source: mulberry32, Tommy Ettinger, public domain. */
function sequence(seed: string): () => number {
  let state = Number.parseInt(md5Hex(seed).slice(0, 8), 16);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
