import type { IssuedCertificate } from "@isthmus/api";
import { equalJson, kindKeyOf, type Resource, type ResourceRef, refOf, resourceKeyOf, type Snapshot } from "@isthmus/core";
import type { DesiredUpdate } from "@isthmus/ports";
import type { Applier } from "../../apply/applier.ts";

/**
 * Orders for an agent that no server is connected to: what is desired of their kinds is stored in the cluster as the server orders it, and
 * that agent reads it there.
 */
export interface StoredOrders {
  /** A desired set, in which objects of these kinds say what is ordered. */
  withOrders(desired: DesiredUpdate): DesiredUpdate;
  /** Something else is ordered: what is desired already is put again where it differs. */
  changed(): void;
  /**
   * Whether an object is not to be written yet: nothing is ordered of it, and a step stands there. A server that starts has not read the root that
   * steps follow from; what it ordered before stays in force until it has.
   */
  isUndecided(resource: Resource): boolean;
}

export interface StoredOrdersOptions {
  /** The kinds, by `kindKeyOf`. */
  readonly kinds: ReadonlySet<string>;
  /** What the server has ordered, by `resourceKeyOf`. */
  readonly ordered: () => ReadonlyMap<string, Resource> | undefined;
  readonly applier: () => Pick<Applier, "put" | "desired">;
  /** The cluster as it is known now. */
  readonly live: () => Snapshot;
}

/** An object is as translation desires it as long as nothing is ordered of it: an agent that finds no order changes nothing. */
export function storedOrders({ kinds, ordered, applier, live }: StoredOrdersOptions): StoredOrders {
  /** As translation desires them, by `resourceKeyOf`. */
  let desiredOf = new Map<string, Resource>();
  const isOrdered = (object: Resource | ResourceRef) => kinds.has(kindKeyOf(object));

  function withOrder(resource: Resource): Resource {
    const order = ordered()?.get(resourceKeyOf(refOf(resource)));
    return order === undefined || !("spec" in order) ? resource : ({ ...resource, spec: order.spec } as Resource);
  }

  return {
    withOrders(desired) {
      if (desired.complete) desiredOf = new Map();
      for (const { ref } of desired.remove) desiredOf.delete(resourceKeyOf(ref));
      if (!desired.put.some(isOrdered)) return desired;
      const put = desired.put.map((resource) => {
        if (!isOrdered(resource)) return resource;
        desiredOf.set(resourceKeyOf(refOf(resource)), resource);
        return withOrder(resource);
      });
      return { ...desired, put };
    },
    changed() {
      for (const [key, resource] of desiredOf) {
        const before = applier().desired.get(key);
        const next = withOrder(resource);
        if (before !== undefined && !equalJson(before, next)) applier().put(next, key);
      }
    },
    isUndecided(resource) {
      if (!isOrdered(resource) || ordered()?.has(resourceKeyOf(refOf(resource))) === true) return false;
      const standing = live().collections().get(kindKeyOf(resource))?.get(refOf(resource)) as IssuedCertificate | undefined;
      return standing?.spec?.trust?.step !== undefined;
    },
  };
}
