import type { Kind, Resource } from "@isthmus/core";
import { UsageError } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { type DeploymentState, DeploymentStates, deploymentOf } from "./deployments.ts";

/** The management server, or the agent of a cluster. */
export interface ProgramPlace {
  readonly program: "server" | "agent";
  readonly namespace: string;
}

/** A pod, as far as commands read it. */
export interface PodState extends Resource {
  readonly spec?: { readonly containers?: readonly PodContainer[] };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type?: string; readonly status?: string }[];
  };
}

interface PodContainer {
  readonly name?: string;
  readonly args?: readonly string[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort?: number }[];
}

const PodStates: Kind<PodState> = {
  apiVersion: "v1",
  kind: "Pod",
  plural: "pods",
  namespaced: true,
  versions: ["v1"],
  parse: (input) => input as PodState,
};

/** The pods of a program, as many as anybody looks at. Throws UsageError when there are none. */
export async function programPods(
  cluster: Cluster,
  { program, namespace }: ProgramPlace,
  signal: AbortSignal,
): Promise<readonly PodState[]> {
  const { items } = await cluster.list(DeploymentStates, { namespace }, signal);
  const deployment = deploymentOf(program, items);
  if (deployment?.spec?.selector === undefined) {
    const hint = program === "server" ? "--context selects the management cluster" : "--context selects the cluster of the agent";
    throw new UsageError(
      `no Deployment of ${program === "server" ? "a management server" : "an agent"} in namespace ${namespace}: ${hint}, and --namespace its namespace`,
    );
  }
  return podsOf(cluster, deployment, signal);
}

/** The pods of a Deployment with a selector, as many as anybody looks at. Throws UsageError when there are none. */
export async function podsOf(
  cluster: Cluster,
  { metadata: { name, namespace = "" }, spec }: DeploymentState,
  signal: AbortSignal,
): Promise<readonly PodState[]> {
  const labels = spec?.selector ?? {};
  const pods = await cluster.list(PodStates, { namespace, labels }, signal);
  if (pods.items.length === 0) {
    throw new UsageError(`Deployment ${namespace}/${name} has no pods: kubectl -n ${namespace} describe deployment ${name}`);
  }
  return pods.items.slice(0, MOST_PODS);
}

// As many as one terminal can show; replicas are a few.
const MOST_PODS = 20;
