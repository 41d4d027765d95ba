import { Pod } from "@isthmus/api";
import type { Snapshot } from "@isthmus/core";
import type { AccessLog } from "@isthmus/dataplane";
import { requestReader } from "./requestReader.ts";

/** Which proxies somebody asks for. */
export interface ProxySelection {
  /** Clusters that may have some; undefined: all. */
  readonly clusters: ReadonlySet<string> | undefined;
  /** Whether every proxy is asked for. */
  readonly isAll: boolean;
  /** Whether the proxy of an entry is asked for. Labels are those that its pod is known to have; of an unknown pod none. */
  has(clusters: Snapshot, clusterName: string, proxy: AccessLog["proxy"]): boolean;
}

interface Matcher {
  readonly labels: ReadonlyMap<string, string>;
  readonly namespaces: readonly string[];
  readonly clusters: readonly string[];
}

/**
 * What `{"workloadSelectors": [{"kubeWorkloadMatcher": {…}}]}` asks for; an empty text or list is all. Throws PageRefusal for anything that is not
 * understood: it might have narrowed the selection.
 */
export function proxySelectionIn(content: string): ProxySelection {
  const { workloadSelectors = [] } = body(content, ["workloadSelectors"]);
  if (!Array.isArray(workloadSelectors) || workloadSelectors.length > MOST)
    throw refused(`workloadSelectors is no list of at most ${MOST}`);
  const matchers = workloadSelectors.map((selector: unknown) =>
    matcherIn(closed(selector, ["kubeWorkloadMatcher"])["kubeWorkloadMatcher"] ?? {}),
  );
  const named = matchers.length > 0 && matchers.every(({ clusters }) => clusters.length > 0);
  return {
    clusters: named ? new Set(matchers.flatMap(({ clusters }) => clusters)) : undefined,
    isAll:
      matchers.length === 0 || matchers.some(({ labels, namespaces, clusters }) => labels.size + namespaces.length + clusters.length === 0),
    has: (snapshot, clusterName, { namespace, podName }) =>
      matchers.length === 0 ||
      matchers.some(({ labels, namespaces, clusters }) => {
        if (clusters.length > 0 && !clusters.includes(clusterName)) return false;
        if (namespaces.length > 0 && !namespaces.includes(namespace)) return false;
        if (labels.size === 0) return true;
        const own = snapshot.of(Pod).get({ name: podName, namespace, clusterName })?.metadata.labels ?? {};
        return [...labels].every(([key, value]) => Object.hasOwn(own, key) && own[key] === value);
      }),
  };
}

function matcherIn(given: unknown): Matcher {
  const { labels = {}, namespaces = [], clusters = [] } = closed(given, ["labels", "namespaces", "clusters"]);
  if (typeof labels !== "object" || labels === null || Array.isArray(labels)) throw refused("labels is no object");
  const entries = Object.entries(labels as Readonly<Record<string, unknown>>).map(([key, value]): [string, string] => {
    if (typeof value !== "string") throw refused("a label is no text");
    return [key, value];
  });
  return { labels: new Map(entries), namespaces: textsIn(namespaces, "namespaces"), clusters: textsIn(clusters, "clusters") };
}

const { body, closed, refused, textsIn } = requestReader(
  "the selection",
  '{"workloadSelectors":[{"kubeWorkloadMatcher":{"labels":{},"namespaces":[],"clusters":[]}}]}',
);

const MOST = 64;
