import { refOf, timedConditions } from "@isthmus/core";
import { addressAt } from "../allocation.ts";
import { timestamp } from "../object.ts";
import type { Context, SimulatedController } from "./controller.ts";
import { withPodStatus } from "./podTemplates.ts";
import { type Container, SimulatedNode, SimulatedPod } from "./workloads.ts";

/** With the value "false" a pod runs and never becomes ready, so that tests and demos can break one. */
export const READY_ANNOTATION = "simulator.isthmus.mesh/ready";

// 254 × 256 addresses behind the first.
const ADDRESSES = 65_024;

/** What kubelets do: pods get an address, run, and are ready. `firstAddress` is the first of the cluster's pods. */
export function podController(firstAddress: string): SimulatedController {
  let next = 0;

  function freeAddress({ snapshot }: Context): string {
    for (let tries = 0; tries < ADDRESSES; tries++) {
      const address = addressAt(firstAddress, next);
      next = (next + 1) % ADDRESSES;
      if (snapshot.of(SimulatedPod).where(byAddress, address).length === 0) return address;
    }
    throw new Error(`all ${ADDRESSES} addresses of pods from ${firstAddress} on are taken`);
  }

  return {
    name: "pods",
    reads: [SimulatedPod, SimulatedNode],
    *affected({ after }) {
      if (after?.kind === "Pod") yield refOf(after);
    },
    async reconcile(ref, context, signal) {
      const pod = context.snapshot.of(SimulatedPod).get(ref);
      if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return;
      const { nodeName } = pod.spec;
      const node = nodeName === undefined ? undefined : context.snapshot.of(SimulatedNode).get({ ...ref, name: nodeName, namespace: "" });
      const hostIP = node?.status?.addresses?.find(({ type }) => type === "InternalIP")?.address;
      const podIP = pod.status?.podIP ?? (pod.spec.hostNetwork === true ? hostIP : undefined) ?? freeAddress(context);
      const updated = withPodStatus(pod, statusOf(pod, { podIP, hostIP }, timestamp(context.clock.now())));
      if (updated !== undefined) await context.cluster.updateStatus(updated, signal);
    },
  };
}

function byAddress(resource: SimulatedPod): readonly string[] {
  return resource.status?.podIP === undefined ? [] : [resource.status.podIP];
}

interface Addresses {
  readonly podIP: string;
  readonly hostIP: string | undefined;
}

function statusOf({ metadata, spec, status }: SimulatedPod, { podIP, hostIP }: Addresses, now: string): Readonly<Record<string, unknown>> {
  const isReady = metadata.annotations?.[READY_ANNOTATION] !== "false";
  const previous = status?.conditions ?? [];
  const startTime = (status as { startTime?: string } | undefined)?.startTime ?? now;
  const conditions = ["PodScheduled", "Initialized", "ContainersReady", "Ready"].map((type) => {
    const holds = isReady || type === "PodScheduled" || type === "Initialized";
    return {
      type,
      status: holds ? ("True" as const) : ("False" as const),
      reason: holds ? "Simulated" : "ContainersNotReady",
      message: "",
    };
  });
  const known = previous.map(({ type, status, reason, message, lastTransitionTime }) => ({
    type,
    status,
    reason,
    message,
    lastTransitionTime,
  }));
  return {
    phase: "Running",
    podIP,
    podIPs: [{ ip: podIP }],
    ...(hostIP === undefined ? {} : { hostIP }),
    startTime,
    conditions: timedConditions(conditions, known, now),
    containerStatuses: spec.containers.map((container) => containerStatus(container, { isReady, startedAt: startTime })),
  };
}

function containerStatus(
  { name, image }: Container,
  { isReady, startedAt }: { readonly isReady: boolean; readonly startedAt: string },
): object {
  return { name, image, imageID: image, ready: isReady, restartCount: 0, started: true, state: { running: { startedAt } } };
}
