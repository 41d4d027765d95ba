import {
  type Delta,
  emptyDelta,
  equalJson,
  isEmpty,
  kindKeyOf,
  type Resource,
  type ResourceRef,
  refOf,
  resourceKeyOf,
} from "@isthmus/core";
import type { AgentLink, DesiredUpdate, Notices } from "@isthmus/ports";

/**
 * Resources that an agent holds in memory and that no cluster stores: what the server orders of them comes as notices, what the agent
 * makes of it is reported like objects of its cluster. Which kinds these are, the one who starts the agent says.
 */
export interface InternalResources {
  /** What the server has ordered, by `resourceKeyOf`. Undefined before it has said everything. */
  readonly ordered: ReadonlyMap<string, Resource> | undefined;
  /** Takes what the server sent. */
  onNotices(notices: Notices): void;
  /** What is to be applied of a desired set. */
  withoutInternal(desired: DesiredUpdate): DesiredUpdate;
  /** All that there is: what was reported before and is not among it is gone. */
  report(resources: readonly Resource[]): void;
  /** The cluster is not registered any more: nothing is ordered. */
  release(): void;
}

export interface InternalResourcesOptions {
  readonly link: Pick<AgentLink, "observe" | "synced">;
  /** The kinds, by `kindKeyOf`. */
  readonly kinds: ReadonlySet<string>;
  /** Called when something else is ordered. */
  readonly changed: () => void;
}

/**
 * Holds the resources of `kinds` in memory. `ordered` is undefined until complete notices have arrived; the first `report` is sent in full,
 * and marks `kinds` as synced.
 */
export function internalResources({ link, kinds, changed }: InternalResourcesOptions): InternalResources {
  let ordered: Map<string, Resource> | undefined;
  let reported: ReadonlyMap<string, Resource> | undefined;
  const isInternal = (object: Resource | ResourceRef) => kinds.has(kindKeyOf(object));

  return {
    get ordered() {
      return ordered;
    },
    onNotices({ complete, put, remove }) {
      if (kinds.size === 0 || (!complete && ordered === undefined)) return;
      ordered = new Map(complete ? [] : ordered);
      for (const ref of remove) ordered.delete(resourceKeyOf(ref));
      for (const resource of put) if (isInternal(resource)) ordered.set(resourceKeyOf(refOf(resource)), resource);
      changed();
    },
    withoutInternal(desired) {
      const { put, remove } = desired;
      if (!put.some(isInternal) && !remove.some(({ ref }) => isInternal(ref))) return desired;
      return {
        ...desired,
        put: put.filter((resource) => !isInternal(resource)),
        remove: remove.filter(({ ref }) => !isInternal(ref)),
      };
    },
    report(resources) {
      const now = new Map(resources.map((resource) => [resourceKeyOf(refOf(resource)), resource]));
      const delta = reported === undefined ? { ...emptyDelta, put: resources } : changesBetween(reported, now);
      const isFirst = reported === undefined;
      reported = now;
      if (!isEmpty(delta)) link.observe(delta);
      // Until then the server keeps what an earlier process of this agent reported.
      if (isFirst) link.synced([...kinds], []);
    },
    release() {
      ordered = undefined;
    },
  };
}

function changesBetween(before: ReadonlyMap<string, Resource>, now: ReadonlyMap<string, Resource>): Delta {
  const put = [...now].filter(([key, resource]) => !equalJson(before.get(key), resource)).map(([, resource]) => resource);
  const remove = [...before].filter(([key]) => !now.has(key)).map(([, resource]) => refOf(resource));
  return { put, remove };
}
