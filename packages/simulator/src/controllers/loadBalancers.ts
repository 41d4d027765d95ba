import { refOf } from "@isthmus/core";
import { addressAt } from "../allocation.ts";
import type { Controller } from "./controller.ts";
import { withStatus } from "./podTemplates.ts";
import { Service } from "./workloads.ts";

/** Services of type LoadBalancer get an address, the first of them `firstAddress`. */
export function loadBalancerController(firstAddress: string): Controller {
  return {
    name: "loadBalancers",
    reads: [Service],
    *affected({ after }) {
      if (after !== undefined) yield refOf(after);
    },
    async reconcile(ref, { cluster, snapshot }, signal) {
      const service = snapshot.of(Service).get(ref);
      if (service === undefined) return;
      const ingress = service.status?.loadBalancer?.ingress ?? [];
      const isBalanced = service.spec.type === "LoadBalancer";
      if (isBalanced === ingress.length > 0) return;
      const loadBalancer = isBalanced ? { ingress: [{ ip: freeAddress() }] } : {};
      const updated = withStatus(service, { loadBalancer });
      if (updated !== undefined) await cluster.updateStatus(updated, signal);

      function freeAddress(): string {
        for (let position = 0; ; position++) {
          const address = addressAt(firstAddress, position);
          if (snapshot.of(Service).where(byAddress, address).length === 0) return address;
        }
      }
    },
  };
}

function byAddress({ status }: Service): readonly string[] {
  return (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => (ip === undefined ? [] : [ip]));
}
