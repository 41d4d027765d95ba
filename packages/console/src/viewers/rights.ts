import { type Kind, type ResourceRef, semaphore } from "@isthmus/core";
import type { AccessReviews, KubernetesUser, ResourceAccess } from "@isthmus/plane/ports";

/** What is asked about an object: its name does not matter. */
export type Place = Pick<ResourceRef, "apiVersion" | "kind" | "namespace" | "clusterName">;

/**
 * What one user may see. Kubernetes decides: an object of the management cluster is seen by those who may `list` its resource in its namespace there; one of another cluster
 * by those who may in that namespace of the management cluster, as namespaces of one name are one in all clusters, and may also `get` the KubernetesCluster.
 * What was not asked yet, and what cannot be asked, is not seen.
 */
export interface ViewerRights {
  /** Asks what is not known yet about these. Rejects when it cannot be asked. */
  learn(places: Iterable<Place>, signal: AbortSignal): Promise<void>;
  /** Asks everything again; true: something is answered otherwise. */
  refresh(signal: AbortSignal): Promise<boolean>;
  sees(place: Place): boolean;
  seesCluster(name: string): boolean;
  /** Whether the user sees all clusters, those to come included. */
  readonly seesAllClusters: boolean;
  /** What the user may not list in all namespaces, as `plural.group`, in order. */
  readonly missing: readonly string[];
  /** Whether so much was asked that the rest is not shown. */
  readonly isExhausted: boolean;
}

export interface ViewerRightsOptions {
  readonly user: KubernetesUser;
  readonly reviews: Pick<AccessReviews, "may">;
  readonly kindOf: (apiVersion: string, kind: string) => Kind | undefined;
  readonly registration: Kind;
  /** Namespace of the management plane. */
  readonly namespace: string;
  /** Answers that are kept, at most. Default: 5,000. */
  readonly most?: number;
}

interface Answer {
  readonly access: ResourceAccess;
  readonly may: boolean;
}

/** Knows nothing yet. */
export function viewerRights({ user, reviews, kindOf, registration, namespace, most = MOST }: ViewerRightsOptions): ViewerRights {
  let answers = new Map<string, Answer>();
  let isExhausted = false;
  const asking = semaphore(AT_A_TIME);
  const allClusters: ResourceAccess = { ...accessTo(registration, namespace) };

  /** The answers to as many as there is room for beside those that are known. */
  async function ask(
    questions: ReadonlyMap<string, ResourceAccess>,
    known: number,
    signal: AbortSignal,
  ): Promise<readonly (readonly [string, Answer])[]> {
    const room = Math.max(0, most - known);
    if (questions.size > room) isExhausted = true;
    const until = AbortSignal.any([signal, AbortSignal.timeout(ASK_MS)]);
    return Promise.all(
      [...questions]
        .slice(0, room)
        .map(async ([key, access]) => [key, { access, may: await asking.run(() => reviews.may(user, access, until)) }] as const),
    );
  }

  async function askAlso(questions: ReadonlyMap<string, ResourceAccess>, signal: AbortSignal): Promise<void> {
    const found = await ask(questions, answers.size, signal);
    for (const [key, answer] of found) answers.set(key, answer);
  }

  function isAllowed(access: ResourceAccess): boolean {
    return answers.get(keyOfAccess(access))?.may === true;
  }

  function seesCluster(name: string): boolean {
    return name === "" || isAllowed(allClusters) || isAllowed(clusterAccess(name));
  }

  function clusterAccess(name: string): ResourceAccess {
    return { ...allClusters, verb: "get", name };
  }

  /** First what decides about much, and only where that is refused the rest. */
  async function learn(places: Iterable<Place>, signal: AbortSignal): Promise<void> {
    const [general, particular] = [new Map<string, ResourceAccess>(), new Map<string, ResourceAccess>()];
    const add = (to: Map<string, ResourceAccess>, access: ResourceAccess) => {
      const key = keyOfAccess(access);
      if (!answers.has(key)) to.set(key, access);
    };
    const seen = new Map<string, Place>();
    for (const place of places) seen.set([place.apiVersion, place.kind, place.namespace, place.clusterName].join(" "), place);
    add(general, allClusters);
    for (const place of seen.values()) {
      const kind = kindOf(place.apiVersion, place.kind);
      if (kind !== undefined) add(general, accessTo(kind, ""));
    }
    await askAlso(general, signal);
    for (const { apiVersion, kind: name, namespace: of, clusterName } of seen.values()) {
      const kind = kindOf(apiVersion, name);
      if (kind !== undefined && of !== "" && !isAllowed(accessTo(kind, ""))) add(particular, accessTo(kind, of));
      if (clusterName !== "" && !isAllowed(allClusters)) add(particular, clusterAccess(clusterName));
    }
    if (particular.size > 0) await askAlso(particular, signal);
  }

  return {
    learn,
    async refresh(signal) {
      const before = answers;
      isExhausted = false;
      // Until all are here, the answers of before count.
      answers = new Map(await ask(new Map([...before].map(([key, { access }]) => [key, access])), 0, signal));
      return [...before].some(([key, { may }]) => answers.get(key)?.may !== may);
    },
    sees({ apiVersion, kind: name, namespace: of, clusterName }) {
      const kind = kindOf(apiVersion, name);
      if (kind === undefined || !seesCluster(clusterName)) return false;
      return isAllowed(accessTo(kind, "")) || (of !== "" && isAllowed(accessTo(kind, of)));
    },
    seesCluster,
    get seesAllClusters() {
      return isAllowed(allClusters);
    },
    get missing() {
      const refused = [...answers.values()].filter(({ access, may }) => !may && access.verb === "list" && access.namespace === "");
      return refused.map(({ access }) => `${access.resource}${access.group === "" ? "" : `.${access.group}`}`).sort();
    },
    get isExhausted() {
      return isExhausted;
    },
  };
}

// All that is asked for one moment.
const ASK_MS = 30_000;
const AT_A_TIME = 8;
const MOST = 5_000;

function accessTo({ apiVersion, plural }: Kind, namespace: string): ResourceAccess {
  const [group, version] = apiVersion.split("/");
  return { verb: "list", group: version === undefined ? "" : (group ?? ""), resource: plural, namespace };
}

function keyOfAccess({ verb, group, resource, namespace, name = "" }: ResourceAccess): string {
  return [verb, group, resource, namespace, name].join(" ");
}
