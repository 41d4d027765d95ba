import { type Delta, isEmpty, type Kind, kindKeyOf, type Owner, refOf, resourceKeyOf } from "@isthmus/core";
import type { ClusterView } from "../clusterView.ts";
import { bearsLabelOf } from "../ownership.ts";
import type { AgentLink, Log } from "../ports.ts";
import { newTraceId } from "../traceId.ts";

/** Reports what changes in the cluster to the server: objects of `kinds`, but for those that we wrote ourselves. */
export interface Upstream {
  observed(delta: Delta): void;
}

export interface UpstreamOptions {
  readonly link: AgentLink;
  readonly kinds: readonly Kind[];
  /** Whose objects are outputs of ours, and no news. */
  readonly owners: readonly Owner[];
  readonly random: () => number;
  readonly log: Log;
}

export function upstream({ link, kinds, owners, random, log }: UpstreamOptions): Upstream & { view(view: ClusterView): void } {
  const sentKinds = new Set(kinds.map(kindKeyOf));
  /** Kinds that were announced, and whether as unserved. */
  const announced = new Map<string, boolean>();
  const ours = new Set<string>();
  let view: ClusterView | undefined;

  /** The first announcement waits for every kind, as the server acts on it; later ones name kinds that were served later. */
  function announceSynced(): void {
    if (view === undefined) return;
    const sent = [...view.kinds].filter(([kindKey]) => sentKinds.has(kindKey));
    if (sent.some(([, state]) => state === "unknown")) return;
    const news = sent.filter(([kindKey, state]) => announced.get(kindKey) !== (state === "unserved"));
    if (news.length === 0) return;
    for (const [kindKey, state] of news) announced.set(kindKey, state === "unserved");
    // Objects that exist and cannot be understood: the server must not take them for gone.
    const withheld = [...view.malformed.values()]
      .filter(({ ref }) => sentKinds.has(kindKeyOf(ref)))
      .map(({ ref, message }) => ({ ref, code: "Malformed", message }) as const);
    if (withheld.length > 0) link.observe({ put: [], remove: [], withheld });
    const named = (unserved: boolean) => news.filter(([, state]) => (state === "unserved") === unserved).map(([kindKey]) => kindKey);
    link.synced(named(false), named(true));
  }

  return {
    view(clusterView) {
      view = clusterView;
    },
    observed(delta) {
      const put = delta.put.filter((resource) => sentKinds.has(kindKeyOf(resource)) && !bearsLabelOf(resource, owners));
      const remove = delta.remove.filter((ref) => sentKinds.has(kindKeyOf(ref)) && !ours.delete(resourceKeyOf(ref)));
      for (const resource of delta.put) {
        if (!bearsLabelOf(resource, owners) || !sentKinds.has(kindKeyOf(resource))) continue;
        const key = resourceKeyOf(refOf(resource));
        // Handed over to us by its label: as a user's object it is gone.
        if (!ours.has(key)) remove.push(refOf(resource));
        ours.add(key);
      }
      for (const resource of put) ours.delete(resourceKeyOf(refOf(resource)));
      if (!isEmpty({ put, remove })) {
        const traces = [newTraceId(random)];
        log.debug({ traces, put: put.length, remove: remove.length }, "observed");
        link.observe({ put, remove, traces });
      }
      announceSynced();
    },
  };
}
