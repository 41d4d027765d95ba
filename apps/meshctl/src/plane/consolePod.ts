import { UsageError } from "@isthmus/core";
import type { PodPort } from "@isthmus/kubernetes";
import type { Cluster } from "@isthmus/ports";
import { plainText } from "../output/plainText.ts";
import { DeploymentStates } from "./deployments.ts";
import { type PodState, podsOf } from "./programPods.ts";

/** Where browsers would connect to in the newest pod of the console that is ready. Throws UsageError with the remedy when there is none. */
export async function consolePod(cluster: Cluster, namespace: string, signal: AbortSignal): Promise<PodPort> {
  const { items } = await cluster.list(DeploymentStates, { namespace }, signal);
  const deployment = items.find(({ metadata, spec }) => metadata.name === CONSOLE && spec?.selector !== undefined);
  if (deployment === undefined) {
    throw new UsageError(
      `no Deployment ${CONSOLE} in namespace ${plainText(namespace)}: --context selects the management cluster, and --namespace its namespace; the chart of the management server installs the console with glooUi.enabled: true, which needs a Redis`,
    );
  }
  const pods = await podsOf(cluster, deployment, signal);
  const [ready] = pods.filter(isReady).sort((a, b) => (createdAt(a) < createdAt(b) ? 1 : -1));
  if (ready === undefined) {
    throw new UsageError(
      `no pod of Deployment ${namespace}/${CONSOLE} is ready: it starts once a management server has made Secret relay-store-key-secret, and is ready once it has read Redis; to look further: kubectl -n ${namespace} describe pods -l app=${CONSOLE}`,
    );
  }
  return { namespace, pod: ready.metadata.name, port: portOf(ready) };
}

const CONSOLE = "gloo-mesh-ui";
const DEFAULT_PORT = 8090;

function isReady({ metadata, status }: PodState): boolean {
  if ((metadata as { readonly deletionTimestamp?: string }).deletionTimestamp !== undefined) return false;
  return status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True") === true;
}

function createdAt({ metadata }: PodState): string {
  return metadata.creationTimestamp ?? "";
}

function portOf({ spec }: PodState): number {
  const ports = (spec?.containers ?? []).flatMap((container) => container.ports ?? []);
  return ports.find(({ name }) => name === "console")?.containerPort ?? DEFAULT_PORT;
}
