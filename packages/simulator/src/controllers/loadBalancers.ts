import { refOf } from "@isthmus/core";
import { addressAt } from "../allocation.ts";
import type { SimulatedController } from "./controller.ts";
import { withPodStatus } from "./podTemplates.ts";
import { SimulatedService } from "./workloads.ts";

/** Services of type LoadBalancer get an address, the first of them `firstAddress`. */
export function loadBalancerController(firstAddress: string): SimulatedController {
  return {
    name: "loadBalancers",
    reads: [SimulatedService],
    *affected({ after }) {
      if (after !== undefined) yield refOf(after);
    },
    async reconcile(ref, { cluster, snapshot }, signal) {
      const service = snapshot.of(SimulatedService).get(ref);
      if (service === undefined) return;
      const ingress = service.status?.loadBalancer?.ingress ?? [];
      const isBalanced = service.spec.type === "LoadBalancer";
      if (isBalanced === ingress.length > 0) return;
      const loadBalancer = isBalanced ? { ingress: [{ ip: freeAddress() }] } : {};
      const updated = withPodStatus(service, { loadBalancer });
      if (updated !== undefined) await cluster.updateStatus(updated, signal);

      function freeAddress(): string {
        for (let position = 0; ; position++) {
          const address = addressAt(firstAddress, position);
          if (snapshot.of(SimulatedService).where(byAddress, address).length === 0) return address;
        }
      }
    },
  };
}

function byAddress({ status }: SimulatedService): readonly string[] {
  return (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => (ip === undefined ? [] : [ip]));
}
