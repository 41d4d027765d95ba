import { abortedAfter, type Kind, type ResourceRef, semaphore } from "@isthmus/core";
import type { AccessReviews, KubernetesUser, ResourceAccess } from "@isthmus/ports";

/** What is asked about an object: its name does not matter. Without a kind, it is about the cluster alone. */
export type Place = Pick<ResourceRef, "apiVersion" | "kind" | "namespace" | "clusterName">;

/**
 * What one user may see. Kubernetes decides: an object of the management cluster is seen by those who may `list` its resource in its namespace there; one of another cluster
 * by those who may in that namespace of the management cluster, as namespaces of one name are one in all clusters, and may also `get` the KubernetesCluster.
 * What was not asked yet, and what cannot be asked, is not seen. With `countedNamespaces`, other namespaces of the management cluster say nothing of those of other clusters.
 */
export interface ViewerRights {
  /** Asks what is not known yet about these. Rejects when it cannot be asked. */
  learn(places: Iterable<Place>, signal: AbortSignal): Promise<void>;
  sees(place: Place): boolean;
  seesCluster(name: string): boolean;
  /** Whether the user sees all clusters, those to come included. */
  readonly seesAllClusters: boolean;
  /** What the user may not list in all namespaces, as `plural.group`, in order. */
  readonly missing: readonly string[];
  /** Whether more would have had to be asked than one user or one cluster may have: the rest is not seen. */
  readonly isExhausted: boolean;
  /** What was asked, each with its answer. */
  readonly answers: ReadonlyMap<string, boolean>;
}

export interface ViewerRightsOptions {
  readonly user: KubernetesUser;
  readonly reviews: Pick<AccessReviews, "may">;
  readonly kindOf: (apiVersion: string, kind: string) => Kind | undefined;
  readonly registration: Kind;
  /** Namespace of the management plane. */
  readonly namespace: string;
  /** Answers, at most. Default: 5,000. */
  readonly most?: number;
  /**
   * The namespaces of the management cluster whose rights count for objects of other clusters; where users make their own namespaces there, not all of them. Rejects when it cannot be asked. Undefined: all count.
   */
  readonly countedNamespaces?: (signal: AbortSignal) => Promise<ReadonlySet<string>>;
  /** Answers that are needed because of one cluster, at most: an agent invents as many namespaces as it likes. Default: 1,000. */
  readonly mostOfCluster?: number;
}

/** Knows nothing yet. */
export function viewerRights(options: ViewerRightsOptions): ViewerRights {
  const { user, reviews, kindOf, registration, namespace, countedNamespaces, most = MOST, mostOfCluster = MOST_OF_CLUSTER } = options;
  const answers = new Map<string, boolean>();
  const general = new Map<string, string>();
  /** How many answers each cluster has needed. */
  const needed = new Map<string, number>();
  /** Whether rights in a namespace count for other clusters, of those that were looked for. */
  const counting = new Map<string, boolean>();
  let isExhausted = false;
  const asking = semaphore(AT_A_TIME);
  const allClusters = accessTo(registration, namespace);

  async function ask(questions: ReadonlyMap<string, ResourceAccess>, signal: AbortSignal): Promise<void> {
    if (questions.size === 0) return;
    const until = abortedAfter(ASK_MS, signal);
    const found = await Promise.all(
      [...questions].map(async ([key, access]) => [key, await asking.run(() => reviews.may(user, access, until))] as const),
    );
    for (const [key, may] of found) answers.set(key, may);
  }

  /** Adds a question, unless it is answered, or its cluster or the user has had too many. */
  function add(questions: Map<string, ResourceAccess>, access: ResourceAccess, clusterName: string): void {
    const key = keyOfAccess(access);
    if (answers.has(key) || questions.has(key)) return;
    const count = needed.get(clusterName) ?? 0;
    if (answers.size + questions.size >= most || (clusterName !== "" && count >= mostOfCluster)) isExhausted = true;
    else {
      needed.set(clusterName, count + 1);
      questions.set(key, access);
    }
  }

  function isAllowed(access: ResourceAccess): boolean {
    return answers.get(keyOfAccess(access)) === true;
  }

  function isUncounted({ namespace: of, clusterName }: Place): boolean {
    return clusterName !== "" && of !== "" && !counting.has(of) && seesCluster(clusterName);
  }

  /** What is in other clusters is of the namespace of that name, if it counts. */
  function isCounted(of: string, clusterName: string): boolean {
    return of !== "" && (clusterName === "" || countedNamespaces === undefined || counting.get(of) === true);
  }

  function seesCluster(name: string): boolean {
    return name === "" || isAllowed(allClusters) || isAllowed(clusterAccess(name));
  }

  function clusterAccess(name: string): ResourceAccess {
    return { ...allClusters, verb: "get", name };
  }

  return {
    /** First what decides about much, and only where that is refused the rest; about clusters that are not seen nothing more. */
    async learn(places, signal) {
      const byKey = new Map<string, Place>();
      for (const place of places) byKey.set([place.apiVersion, place.kind, place.namespace, place.clusterName].join(" "), place);
      // What others report does not come before what is declared.
      const all = [...byKey.values()].sort((a, b) => Number(a.clusterName !== "") - Number(b.clusterName !== ""));
      const [about, clusters, namespaces]: [Questions, Questions, Questions] = [new Map(), new Map(), new Map()];
      add(about, allClusters, "");
      for (const { apiVersion, kind: name } of all) {
        const kind = kindOf(apiVersion, name);
        if (kind === undefined) continue;
        const access = accessTo(kind, "");
        general.set(keyOfAccess(access), resourceOf(access));
        add(about, access, "");
      }
      await ask(about, signal);
      if (!isAllowed(allClusters)) for (const { clusterName } of all) if (clusterName !== "") add(clusters, clusterAccess(clusterName), "");
      await ask(clusters, signal);
      if (countedNamespaces !== undefined && all.some(isUncounted)) {
        const counted = await countedNamespaces(abortedAfter(ASK_MS, signal));
        for (const place of all) {
          if (!isUncounted(place)) continue;
          // Of those that do not count the names come from agents: beyond the bound they are not remembered, and not seen all the same.
          if (counting.size < most || counted.has(place.namespace)) counting.set(place.namespace, counted.has(place.namespace));
        }
      }
      for (const { apiVersion, kind: name, namespace: of, clusterName } of all) {
        const kind = kindOf(apiVersion, name);
        if (kind === undefined || !isCounted(of, clusterName) || !seesCluster(clusterName) || isAllowed(accessTo(kind, ""))) continue;
        add(namespaces, accessTo(kind, of), clusterName);
      }
      await ask(namespaces, signal);
    },
    sees({ apiVersion, kind: name, namespace: of, clusterName }) {
      const kind = kindOf(apiVersion, name);
      if (kind === undefined || !seesCluster(clusterName)) return false;
      return isAllowed(accessTo(kind, "")) || (isCounted(of, clusterName) && isAllowed(accessTo(kind, of)));
    },
    seesCluster,
    get seesAllClusters() {
      return isAllowed(allClusters);
    },
    get missing() {
      return [...general].flatMap(([key, resource]) => (answers.get(key) === true ? [] : [resource])).sort();
    },
    get isExhausted() {
      return isExhausted;
    },
    get answers() {
      return new Map([...answers, ...[...counting].map(([of, counts]) => [`counts ${of}`, counts] as const)]);
    },
  };
}

/** Whether the second may see something that the first may not, or the other way round; of what only one was asked nothing is known, unless it was left out. */
export function compareRights(before: ViewerRights, after: ViewerRights): { readonly isOther: boolean; readonly isLess: boolean } {
  let [isOther, isLess] = [false, false];
  for (const [key, was] of before.answers) {
    const is = after.answers.get(key) ?? (after.isExhausted ? false : was);
    if (was === is) continue;
    isOther = true;
    if (was) isLess = true;
  }
  return { isOther: isOther || before.isExhausted !== after.isExhausted, isLess };
}

type Questions = Map<string, ResourceAccess>;

// All that is asked at once.
const ASK_MS = 30_000;
const AT_A_TIME = 8;
const MOST = 5_000;
const MOST_OF_CLUSTER = 1_000;

function accessTo({ apiVersion, plural }: Kind, namespace: string): ResourceAccess {
  const [group, version] = apiVersion.split("/");
  return { verb: "list", group: version === undefined ? "" : (group ?? ""), resource: plural, namespace };
}

function resourceOf({ group, resource }: ResourceAccess): string {
  return group === "" ? resource : `${resource}.${group}`;
}

function keyOfAccess({ verb, group, resource, namespace, name = "" }: ResourceAccess): string {
  return [verb, group, resource, namespace, name].join(" ");
}
