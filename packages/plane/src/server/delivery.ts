import { type Output, type OutputSet, type ResourceRef, resourceKeyOf } from "@isthmus/core";
import type { DeliveryState } from "@isthmus/translators";
import type { Acknowledgement, Rejection } from "../ports.ts";

/** Which outputs have reached their clusters. */
export interface DeliveryLog {
  wanted(clusterName: string, wanted: OutputSet): void;
  acknowledged(clusterName: string, acknowledgement: Acknowledgement, wanted: OutputSet): void;
  forget(clusterName: string): void;
  stateOf(ref: ResourceRef): DeliveryState;
  /** How many removals a cluster's agent holds back until somebody says that so many objects may go. */
  heldIn(clusterName: string): number;
  /** How many objects of a cluster are not as they ought to be, by the code of their rejection. */
  rejectedIn(clusterName: string): ReadonlyMap<string, number>;
}

interface ClusterDelivery {
  wanted: OutputSet | undefined;
  /** Undefined until the first answer since this server started. */
  answered: OutputSet | undefined;
  rejections: ReadonlyMap<string, Rejection>;
  held: number;
}

export function deliveryLog(): DeliveryLog {
  const clusters = new Map<string, ClusterDelivery>();

  function of(clusterName: string): ClusterDelivery {
    let delivery = clusters.get(clusterName);
    if (delivery === undefined) {
      delivery = { wanted: undefined, answered: undefined, rejections: new Map(), held: 0 };
      clusters.set(clusterName, delivery);
    }
    return delivery;
  }

  return {
    wanted(clusterName, wanted) {
      of(clusterName).wanted = wanted;
    },
    acknowledged(clusterName, { rejected }, wanted) {
      const delivery = of(clusterName);
      delivery.answered = wanted;
      delivery.rejections = new Map(rejected.map((rejection) => [resourceKeyOf(rejection.ref), rejection]));
      delivery.held = rejected.filter(({ code }) => code === "Held").length;
    },
    forget(clusterName) {
      clusters.delete(clusterName);
    },
    heldIn: (clusterName) => clusters.get(clusterName)?.held ?? 0,
    rejectedIn(clusterName) {
      const counts = new Map<string, number>();
      for (const { code } of clusters.get(clusterName)?.rejections.values() ?? []) counts.set(code, (counts.get(code) ?? 0) + 1);
      return counts;
    },
    stateOf(ref) {
      const delivery = clusters.get(ref.clusterName);
      const key = resourceKeyOf(ref);
      const rejection = delivery?.rejections.get(key);
      if (rejection !== undefined && rejection.code !== "Held") return { code: rejection.code, message: rejection.message };
      if (delivery?.answered === undefined) return "unheard";
      const wanted = resourceAt(delivery.wanted, key);
      return wanted !== undefined && resourceAt(delivery.answered, key) === wanted ? "applied" : "pending";
    },
  };
}

function resourceAt(outputs: OutputSet | undefined, key: string): Output["resource"] | undefined {
  return outputs?.at(key)?.resource;
}
