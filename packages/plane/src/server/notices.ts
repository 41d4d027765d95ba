import { equalJson, kindKeyOf, type Resource, type ResourceRef, refOf, resourceKeyOf } from "@isthmus/core";
import type { ServerLink } from "@isthmus/ports";
import { changedStatuses, type Statuses } from "@isthmus/translators";
import type { DesiredStatus } from "../apply/statusWriter.ts";
import type { ClusterState } from "../snapshots/snapshotStore.ts";

/** Tells agents what concerns them and is not to be applied: settings, what they may write, and statuses of what users wrote in their clusters. */
export interface AgentNoticeSender {
  /** To be called when the settings may be others, or a cluster has connected. */
  settings(): void;
  /** The statuses that objects should have now, those in workload clusters among them. */
  statuses(now: Statuses): void;
  forget(clusterName: string): void;
}

export interface AgentNoticeSenderOptions {
  readonly link: Pick<ServerLink, "sendNotices">;
  readonly clusters: () => ReadonlyMap<string, ClusterState>;
  /** What the agent of a cluster is to know of the settings, and of what it may write; nothing as long as that is not known here. */
  readonly settingsFor: (clusterName: string) => readonly Resource[];
  /** Whether an object of a kind (`kindKeyOf`) may be a user's in a workload cluster. */
  readonly isContributed: (kindKey: string) => boolean;
}

/**
 * Sends differences: what each agent was sent is kept in memory. Statuses of a cluster in phase `unknown` wait until its objects are known.
 */
export function agentNoticeSender({ link, clusters, settingsFor, isContributed }: AgentNoticeSenderOptions): AgentNoticeSender {
  const settings = new Map<string, readonly Resource[]>();
  let before: Statuses | undefined;
  /** By cluster, what was sent to its agent, by `resourceKeyOf`. */
  const told = new Map<string, Map<string, ResourceRef>>();
  /** What changed in clusters that have not reported: nothing is said of what is only remembered, as it may be other there by now. */
  const waiting = new Map<string, Map<string, ResourceRef>>();

  function isHeard(clusterName: string): boolean {
    return (clusters().get(clusterName)?.phase ?? "unknown") !== "unknown";
  }

  function tell(clusterName: string, refs: Iterable<readonly [string, ResourceRef]>, now: Statuses): void {
    const known = listIn(told, clusterName);
    const put: Resource[] = [];
    const remove: ResourceRef[] = [];
    for (const [key, ref] of refs) {
      const update = now.of(ref);
      if (update !== undefined) {
        put.push(documentOf(update));
        known.set(key, ref);
      } else if (known.delete(key)) remove.push(ref);
    }
    if (put.length + remove.length > 0) link.sendNotices(clusterName, { put, remove });
  }

  return {
    settings() {
      for (const [clusterName, { connected }] of clusters()) {
        const resources = connected ? settingsFor(clusterName) : [];
        const known = settings.get(clusterName) ?? [];
        const put = resources.filter((resource) => !known.some((one) => equalJson(one, resource)));
        if (put.length === 0) continue;
        settings.set(clusterName, resources);
        link.sendNotices(clusterName, { put, remove: [] });
      }
    },
    statuses(now) {
      for (const ref of changedStatuses(now, before)) {
        if (ref.clusterName !== "" && isContributed(kindKeyOf(ref))) listIn(waiting, ref.clusterName).set(resourceKeyOf(ref), ref);
      }
      before = now;
      for (const [clusterName, refs] of waiting) {
        if (!isHeard(clusterName)) continue;
        waiting.delete(clusterName);
        tell(clusterName, refs, now);
      }
    },
    forget(clusterName) {
      const known = (settings.get(clusterName) ?? []).map(refOf);
      const statuses = [...(told.get(clusterName)?.values() ?? [])];
      settings.delete(clusterName);
      told.delete(clusterName);
      waiting.delete(clusterName);
      link.sendNotices(clusterName, { put: [], remove: [...known, ...statuses] });
    },
  };
}

function listIn<V>(lists: Map<string, Map<string, V>>, name: string): Map<string, V> {
  const list = lists.get(name) ?? new Map<string, V>();
  lists.set(name, list);
  return list;
}

/** A status as it travels: its object, with nothing else in it. */
function documentOf({ ref, status }: DesiredStatus): Resource & { readonly status: object } {
  const { apiVersion, kind, name, namespace, clusterName } = ref;
  return { apiVersion, kind, metadata: { name, namespace, clusterName }, status };
}
