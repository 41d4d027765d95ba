import { refOf } from "@isthmus/core";
import { byController, changedControllers, type SimulatedController } from "./controller.ts";
import { nodeNames, podOf, podSources, randomSuffix, withPodStatus } from "./podTemplates.ts";
import { isActive, isReady, SimulatedDeployment, SimulatedPod, SimulatedReplicaSet } from "./workloads.ts";

/** ReplicaSet → as many pods as it says. */
export const replicaSetController: SimulatedController = {
  name: "replicaSets",
  reads: [SimulatedReplicaSet, SimulatedPod, SimulatedDeployment, ...podSources],
  *affected(change) {
    const resource = change.after ?? change.before;
    if (resource?.kind === "ReplicaSet") yield refOf(resource);
    else if (resource?.kind === "Pod") yield* changedControllers(change, "ReplicaSet");
  },
  async reconcile(ref, context, signal) {
    const { cluster } = context;
    const replicaSet = context.snapshot.of(SimulatedReplicaSet).get(ref);
    if (replicaSet === undefined || replicaSet.metadata.deletionTimestamp !== undefined) return;
    const { replicas = 1, template } = replicaSet.spec;
    const podsNow = () =>
      context.snapshot
        .of(SimulatedPod)
        .where(byController, replicaSet.metadata.uid ?? "")
        .filter(isActive);

    const pods = podsNow();
    const nodes = nodeNames(context.snapshot);
    for (let missing = replicas - pods.length; missing > 0; missing--) {
      const name = `${replicaSet.metadata.name}-${randomSuffix(context.random)}`;
      // Spread over the nodes, each ReplicaSet beginning at another one.
      const nodeName = nodes[Math.floor(context.random() * nodes.length)];
      await cluster.create(podOf(replicaSet, template, { name, nodeName, snapshot: context.snapshot }), signal);
    }
    for (const pod of surplus(pods, replicas)) await cluster.delete(refOf(pod), uidOf(pod), signal);

    const remaining = podsNow();
    const ready = remaining.filter(isReady).length;
    const counts = { replicas: remaining.length, fullyLabeledReplicas: remaining.length, readyReplicas: ready, availableReplicas: ready };
    const status = withPodStatus(replicaSet, { ...counts, observedGeneration: replicaSet.metadata.generation ?? 1 });
    if (status !== undefined) await cluster.updateStatus(status, signal);
  },
};

/** The pods that are too many: those that are not ready first, then the youngest. */
function surplus(pods: readonly SimulatedPod[], replicas: number): readonly SimulatedPod[] {
  const age = (pod: SimulatedPod) => pod.metadata.creationTimestamp ?? "";
  const byWorth = [...pods].sort((a, b) => Number(isReady(b)) - Number(isReady(a)) || (age(a) < age(b) ? -1 : age(a) > age(b) ? 1 : 0));
  return byWorth.slice(replicas);
}

/** Only this very pod: one of its name may have been made again. */
function uidOf({ metadata }: SimulatedPod): { readonly uid?: string } {
  return metadata.uid === undefined ? {} : { uid: metadata.uid };
}
