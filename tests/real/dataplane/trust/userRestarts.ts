import { Pod, VirtualMesh } from "@isthmus/api";
import type { Cluster } from "@isthmus/ports";
import { waitFor } from "../../harness/waitFor.ts";
import type { EndToEnd } from "../endToEnd/endToEnd.ts";
import { clusterNames, type PairedCluster } from "../harness/testbed.ts";

const ISTIOD = /restart istiod in namespace (\S+) of cluster (\S+),/;
const PODS = /restart the workloads of these pods, which use earlier certificates: ([a-z0-9./, -]+?)(?: and \d+ more)?;/;
const POD_BACK_MS = 120_000;

/** What the status of the VirtualMesh says of the trust of a cluster's mesh. */
export async function trustStatusOf({ clusters }: Pick<EndToEnd, "clusters">, name: PairedCluster): Promise<string> {
  const mesh = await clusters.management.get(VirtualMesh, { name: "virtual-mesh", namespace: "gloo-mesh" });
  const meshes = Object.entries((mesh?.status as { readonly meshes?: Readonly<Record<string, object>> } | undefined)?.meshes ?? {});
  return JSON.stringify(meshes.filter(([key]) => key.includes(`istiod-istio-system-${name}`)).map(([, value]) => value));
}

/** Restarts what the status asks for, as a careful user does: istiod, then one pod after the other; until `isDone`. */
export async function followStatus(endToEnd: Pick<EndToEnd, "clusters">, isDone: () => Promise<boolean>): Promise<void> {
  const step = async () => {
    if (await isDone()) return true;
    await Promise.all(clusterNames.map((name) => followOnce(endToEnd, name)));
    return false;
  };
  await waitFor("the rotation to be over", step, { timeoutMs: 900_000, everyMs: 1_000 });
}

async function followOnce(endToEnd: Pick<EndToEnd, "clusters">, name: PairedCluster): Promise<void> {
  const text = await trustStatusOf(endToEnd, name);
  const cluster = endToEnd.clusters[name];
  if (ISTIOD.test(text)) return restartPods(cluster, await podsWith(cluster, { namespace: "istio-system", app: "istiod" }));
  const named = (PODS.exec(text)?.[1] ?? "").split(", ").filter((pod) => pod !== "");
  for (const pod of named) {
    const [namespace = "", podName = ""] = pod.split("/");
    await restartPods(cluster, [await cluster.get(Pod, { name: podName, namespace })]);
  }
}

/** Deletes pods one by one; each is replaced by a ready one before the next. */
export async function restartPods(cluster: Cluster, pods: readonly (Pod | undefined)[]): Promise<void> {
  for (const pod of pods) {
    // What was named a moment ago may be gone.
    if (pod === undefined) continue;
    const { name, namespace = "", labels = {} } = pod.metadata;
    const { app = "" } = labels;
    const before = (await podsWith(cluster, { namespace, app })).length;
    await cluster.delete({ apiVersion: "v1", kind: "Pod", name, namespace, clusterName: cluster.name });
    const isBack = async () => {
      const now = await podsWith(cluster, { namespace, app });
      return !now.some(({ metadata }) => metadata.name === name) && now.filter(isReady).length >= before;
    };
    await waitFor(`another pod for ${namespace}/${name}`, isBack, { timeoutMs: POD_BACK_MS });
  }
}

export async function podsWith(
  cluster: Cluster,
  { namespace, app }: { readonly namespace: string; readonly app: string },
): Promise<readonly Pod[]> {
  const { items } = await cluster.list(Pod, { namespace });
  return items.filter(({ metadata }) => metadata.labels?.["app"] === app);
}

/** The names of all pods. */
export async function podsOf(cluster: Cluster): Promise<readonly string[]> {
  return (await cluster.list(Pod)).items.map(({ metadata }) => metadata.name).sort();
}

interface Conditions {
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

function isReady(pod: Pod): boolean {
  const { conditions = [] } = (pod as unknown as { readonly status?: Conditions }).status ?? {};
  const { deletionTimestamp } = pod.metadata as { readonly deletionTimestamp?: string };
  return deletionTimestamp === undefined && conditions.some(({ type, status }) => type === "Ready" && status === "True");
}
