import { refOf, timedConditions } from "@isthmus/core";
import { addressAt } from "../allocation.ts";
import { timestamp } from "../object.ts";
import type { SimulatedController } from "./controller.ts";
import { withPodStatus } from "./podTemplates.ts";
import { SimulatedNode } from "./workloads.ts";

/** Nodes are ready, and have the addresses that begin with `firstAddress`. */
export function nodeController(firstAddress: string): SimulatedController {
  return {
    name: "nodes",
    reads: [SimulatedNode],
    *affected({ after }) {
      if (after !== undefined) yield refOf(after);
    },
    async reconcile(ref, { cluster, snapshot, clock }, signal) {
      const node = snapshot.of(SimulatedNode).get(ref);
      if (node === undefined) return;
      const now = timestamp(clock.now());
      const ready = { type: "Ready", status: "True" as const, reason: "KubeletReady", message: "kubelet is posting ready status" };
      const known = (node.status?.conditions ?? []).map(({ type, status, reason, message, lastTransitionTime }) => ({
        type,
        status,
        reason,
        message,
        lastTransitionTime,
      }));
      const taken = new Set([...snapshot.of(SimulatedNode)].map(internalAddress));
      const updated = withPodStatus(node, {
        addresses: [
          { type: "InternalIP", address: internalAddress(node) ?? firstFree(firstAddress, taken) },
          { type: "Hostname", address: node.metadata.name },
        ],
        conditions: timedConditions([ready], known, now),
      });
      if (updated !== undefined) await cluster.updateStatus(updated, signal);
    },
  };
}

function internalAddress({ status }: SimulatedNode): string | undefined {
  return status?.addresses?.find(({ type }) => type === "InternalIP")?.address;
}

function firstFree(firstAddress: string, taken: ReadonlySet<string | undefined>): string {
  for (let position = 0; ; position++) {
    const address = addressAt(firstAddress, position);
    if (!taken.has(address)) return address;
  }
}
