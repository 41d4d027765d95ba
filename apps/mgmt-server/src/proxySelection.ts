import { Pod } from "@isthmus/api";
import { excessOf, type Snapshot } from "@isthmus/core";
import type { AccessLog } from "@isthmus/dataplane";
import { PageRefusal } from "@isthmus/process";

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
  const { workloadSelectors = [] } = closed(content.trim() === "" ? {} : parsed(content), ["workloadSelectors"]);
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
  const { labels = {}, namespaces, clusters } = closed(given, ["labels", "namespaces", "clusters"]);
  if (typeof labels !== "object" || labels === null || Array.isArray(labels)) throw refused("labels is no object");
  const entries = Object.entries(labels as Readonly<Record<string, unknown>>).map(([key, value]): [string, string] => {
    if (typeof value !== "string") throw refused("a label is no text");
    return [key, value];
  });
  return { labels: new Map(entries), namespaces: textsIn(namespaces, "namespaces"), clusters: textsIn(clusters, "clusters") };
}

function textsIn(value: unknown, name: string): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || !value.every((one) => typeof one === "string")) throw refused(`${name} is no list of texts`);
  return value;
}

function closed(value: unknown, members: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw refused("it is no object");
  if (!Object.keys(value).every((name) => members.includes(name))) throw refused(`only ${members.join(", ")} may stand there`);
  return value as Readonly<Record<string, unknown>>;
}

function parsed(content: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    throw refused("it is no JSON");
  }
  if (excessOf(value) !== undefined) throw refused("it is too deep");
  return value;
}

function refused(why: string): PageRefusal {
  const example = '{"workloadSelectors":[{"kubeWorkloadMatcher":{"labels":{},"namespaces":[],"clusters":[]}}]}';
  return new PageRefusal(400, `the selection is not understood: ${why}; write it like ${example}`);
}

const MOST = 64;
