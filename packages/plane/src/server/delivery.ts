import { type Resource, type ResourceRef, resourceKeyOf } from "@isthmus/core";
import type { DeliveryState } from "@isthmus/translators";
import type { Acknowledgement, Rejection } from "../ports.ts";

/** Which outputs have reached their clusters. */
export interface DeliveryLog {
  wanted(clusterName: string, wanted: ReadonlyMap<string, Resource>): void;
  acknowledged(clusterName: string, acknowledgement: Acknowledgement, wanted: ReadonlyMap<string, Resource>): void;
  forget(clusterName: string): void;
  stateOf(ref: ResourceRef): DeliveryState;
  /** How many removals a cluster's agent holds back until somebody says that so many objects may go. */
  heldIn(clusterName: string): number;
}

interface ClusterDelivery {
  wanted: ReadonlyMap<string, Resource>;
  /** Undefined until the first answer since this server started. */
  answered: ReadonlyMap<string, Resource> | undefined;
  rejections: ReadonlyMap<string, Rejection>;
}

export function deliveryLog(): DeliveryLog {
  const clusters = new Map<string, ClusterDelivery>();

  function of(clusterName: string): ClusterDelivery {
    let delivery = clusters.get(clusterName);
    if (delivery === undefined) {
      delivery = { wanted: new Map(), answered: undefined, rejections: new Map() };
      clusters.set(clusterName, delivery);
    }
    return delivery;
  }

  return {
    wanted(clusterName, wanted) {
      of(clusterName).wanted = wanted;
    },
    acknowledged(clusterName, acknowledgement, wanted) {
      const delivery = of(clusterName);
      delivery.answered = wanted;
      delivery.rejections = new Map(acknowledgement.rejected.map((rejection) => [resourceKeyOf(rejection.ref), rejection]));
    },
    forget(clusterName) {
      clusters.delete(clusterName);
    },
    heldIn(clusterName) {
      return [...(clusters.get(clusterName)?.rejections.values() ?? [])].filter(({ code }) => code === "Held").length;
    },
    stateOf(ref) {
      const delivery = clusters.get(ref.clusterName);
      const key = resourceKeyOf(ref);
      const rejection = delivery?.rejections.get(key);
      if (rejection !== undefined && rejection.code !== "Held") return { code: rejection.code, message: rejection.message };
      if (delivery?.answered === undefined) return "unheard";
      const wanted = delivery.wanted.get(key);
      return wanted !== undefined && delivery.answered.get(key) === wanted ? "applied" : "pending";
    },
  };
}
