import { type Kind, refOf, type Snapshot } from "@isthmus/core";
import { byController, type Context, changedControllers, type SimulatedController } from "./controller.ts";
import { nodeNames, podOf, podSources, stableSuffix, templateHash, withPodStatus } from "./podTemplates.ts";
import {
  isActive,
  isReady,
  SimulatedDaemonSet,
  SimulatedDeployment,
  SimulatedNode,
  SimulatedPod,
  SimulatedStatefulSet,
} from "./workloads.ts";

/** Tells pods of an older template. */
const TEMPLATE_HASH = "controller-revision-hash";

interface Place {
  readonly name: string;
  readonly nodeName: string | undefined;
}

interface NumberedPods<O extends SimulatedStatefulSet | SimulatedDaemonSet> {
  readonly name: string;
  readonly kind: Kind<O>;
  /** The pods that there should be. */
  places(owner: O, snapshot: Snapshot): readonly Place[];
  status(counts: { readonly wanted: number; readonly present: number; readonly ready: number }): Readonly<Record<string, unknown>>;
}

/** A controller of pods that have their places: a pod of an older template makes room for a new one. */
function numberedPods<O extends SimulatedStatefulSet | SimulatedDaemonSet>({
  name,
  kind,
  places,
  status,
}: NumberedPods<O>): SimulatedController {
  async function reconcile(owner: O, context: Context, signal: AbortSignal): Promise<void> {
    const { cluster } = context;
    const hash = templateHash(owner.spec.template);
    const labels = { ...owner.spec.template.metadata?.labels, [TEMPLATE_HASH]: hash };
    const template = { ...owner.spec.template, metadata: { ...owner.spec.template.metadata, labels } };
    const wanted = new Map(places(owner, context.snapshot).map((place) => [place.name, place]));
    const podsNow = () =>
      context.snapshot
        .of(SimulatedPod)
        .where(byController, owner.metadata.uid ?? "")
        .filter(isActive);
    for (const pod of podsNow()) {
      if (wanted.has(pod.metadata.name) && pod.metadata.labels?.[TEMPLATE_HASH] === hash) wanted.delete(pod.metadata.name);
      else await cluster.delete(refOf(pod), {}, signal);
    }
    for (const place of wanted.values()) await cluster.create(podOf(owner, template, { ...place, snapshot: context.snapshot }), signal);
    const pods = podsNow();
    const counts = { wanted: places(owner, context.snapshot).length, present: pods.length, ready: pods.filter(isReady).length };
    const updated = withPodStatus(owner, { ...status(counts), observedGeneration: owner.metadata.generation ?? 1 });
    if (updated !== undefined) await cluster.updateStatus(updated, signal);
  }

  return {
    name,
    reads: [kind, SimulatedPod, SimulatedDeployment, ...podSources],
    *affected(change, snapshot) {
      const resource = change.after ?? change.before;
      if (resource?.kind === kind.kind) yield refOf(resource);
      else if (resource?.kind === "Pod") yield* changedControllers(change, kind.kind);
      // A node that comes or goes moves the pods of every set.
      else if (resource?.kind === "Node" && (change.before === undefined || change.after === undefined)) {
        for (const owner of snapshot.of(kind)) yield refOf(owner);
      }
    },
    async reconcile(ref, context, signal) {
      const owner = context.snapshot.of(kind).get(ref);
      if (owner !== undefined && owner.metadata.deletionTimestamp === undefined) await reconcile(owner, context, signal);
    },
  };
}

/** StatefulSet → pods with numbers. */
export const statefulSetController = numberedPods<SimulatedStatefulSet>({
  name: "statefulSets",
  kind: SimulatedStatefulSet,
  places({ metadata, spec }, snapshot) {
    const nodes = nodeNames(snapshot);
    return Array.from({ length: spec.replicas ?? 1 }, (_, i) => ({ name: `${metadata.name}-${i}`, nodeName: nodes[i % nodes.length] }));
  },
  status: ({ present, ready }) => ({
    replicas: present,
    currentReplicas: present,
    updatedReplicas: present,
    readyReplicas: ready,
    availableReplicas: ready,
  }),
});

/** DaemonSet → a pod on each node. */
export const daemonSetController = numberedPods<SimulatedDaemonSet>({
  name: "daemonSets",
  kind: SimulatedDaemonSet,
  places: ({ metadata }, snapshot) =>
    [...snapshot.of(SimulatedNode)].map((node) => ({
      name: `${metadata.name}-${stableSuffix(node.metadata.uid ?? node.metadata.name, 5)}`,
      nodeName: node.metadata.name,
    })),
  status: ({ wanted, present, ready }) => ({
    currentNumberScheduled: present,
    desiredNumberScheduled: wanted,
    numberMisscheduled: 0,
    numberReady: ready,
    numberAvailable: ready,
    updatedNumberScheduled: present,
  }),
});
