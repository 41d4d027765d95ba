import { KubernetesCluster, summaryKinds, VirtualMesh } from "@isthmus/api";
import {
  type AnyResource,
  equalJson,
  firstSeenOf,
  formatRef,
  type JsonObject,
  keyOfResource,
  kindKeyOf,
  type Resource,
  refOf,
  resourceKeyOf,
  type Snapshot,
  withFirstSeen,
} from "@isthmus/core";
import { statusesOf, type Translation } from "@isthmus/translators";
import type { Fleet } from "./fleet.ts";
import { isTheirs } from "./objects.ts";
import { MAX_OBJECT_BYTES } from "./processes.ts";
import { ROLES, SERVER_ROLES } from "./roles.ts";
import { bearsOurLabel, type Truth, translatedFrom, wantedOf } from "./truth.ts";

/** What is not as it ought to be, now that everything is healed and has had its time. */
export function problemsAtRest(fleet: Fleet, truth: Truth): readonly string[] {
  // From nothing, so that the loops' way of translating step by step is checked with it.
  const world = translatedFrom(asReceived(truth.inputs, fleet));
  const problems: string[] = [];
  const foreign = new Set<string>();
  const isRefusing = new Set<string>();
  for (const cluster of [fleet.management, ...fleet.clusters.values()]) {
    // Nobody looks after a cluster that is not registered.
    if (!truth.places.has(cluster.name)) continue;
    const before = foreign.size;
    problems.push(...differences(cluster.objects(), wantedOf(world, cluster.name), foreign));
    if (foreign.size > before) isRefusing.add(cluster.name);
  }
  return [
    ...problems,
    ...statusProblems(fleet, { world, places: truth.places }, foreign),
    ...registrationProblems(fleet, truth, isRefusing),
  ];
}

/**
 * The inputs with the moments when the plane received them, which decide about precedence: those depend on which cluster was cut off
 * meanwhile, and only the servers know them. That each is kept, and not taken from a cluster's word, has tests of its own.
 */
function asReceived(inputs: Snapshot, fleet: Fleet): Snapshot {
  const known = fleet.leader()?.server.translation?.inputs;
  if (known === undefined) return inputs;
  // What agents make of orders in memory, and what they read back of objects that were written, only their reports tell.
  const put: Resource[] = [...ROLES.computedKinds, ...summaryKinds()].flatMap((kind) => [...known.of(kind)]);
  for (const [kindKey, objects] of inputs.collections()) {
    if (!SERVER_ROLES.kinds.aged.has(kindKey)) continue;
    for (const object of objects) {
      const received = known.collections().get(kindKey)?.row(keyOfResource(object));
      const moment = received === undefined ? undefined : firstSeenOf(received);
      if (moment !== undefined) put.push(withFirstSeen(object, moment));
    }
  }
  return inputs.apply({ put, remove: [] });
}

/** What the clusters that are registered are judged by. */
interface Judged extends Pick<Truth, "places"> {
  readonly world: Translation;
}

/** Compares one cluster with what ought to be there; a desired object that is somebody else's is added to `foreign`. */
function differences(objects: readonly AnyResource[], wanted: ReadonlyMap<string, Resource>, foreign: Set<string>): string[] {
  const problems: string[] = [];
  const present = new Set<string>();
  for (const object of objects) {
    const key = resourceKeyOf(refOf(object));
    const ought = wanted.get(key);
    if (ought !== undefined) present.add(key);
    if (!bearsOurLabel(object)) {
      if (ought !== undefined) foreign.add(key);
    } else if (ought === undefined && isTheirs(object)) {
      // It bears our label, but we never wrote it.
    } else if (ought === undefined) {
      problems.push(`${formatRef(refOf(object))} is left over`);
    } else if (!says(object, ought)) {
      problems.push(`${formatRef(refOf(object))} differs: ${JSON.stringify(bodyOf(object))}, not ${JSON.stringify(bodyOf(ought))}`);
    }
  }
  for (const [key, resource] of wanted) if (!present.has(key)) problems.push(`${formatRef(refOf(resource))} is missing`);
  return problems;
}

function says(object: Resource, ought: Resource): boolean {
  const { labels = {}, annotations = {} } = object.metadata;
  const { labels: wantedLabels = {}, annotations: wantedAnnotations = {} } = ought.metadata;
  return (
    Object.entries(wantedLabels).every(([key, value]) => labels[key] === value) &&
    Object.entries(wantedAnnotations).every(([key, value]) => annotations[key] === value) &&
    equalJson(bodyOf(object), bodyOf(ought))
  );
}

function bodyOf(resource: Resource): object {
  const { apiVersion: _, kind: __, metadata: ___, status: ____, ...body } = resource as AnyResource;
  return body;
}

function statusProblems({ management, clusters }: Fleet, { world, places }: Judged, foreign: ReadonlySet<string>): string[] {
  const delivery = {
    stateOf: (ref: Parameters<typeof resourceKeyOf>[0]) =>
      foreign.has(resourceKeyOf(ref)) ? { code: "Conflict", message: "is somebody else's" } : ("applied" as const),
  };
  return statusesOf(world, delivery).flatMap(({ ref, status }) => {
    const object = places.has(ref.clusterName) ? (clusters.get(ref.clusterName) ?? management).object(ref) : undefined;
    // A desired object that is missing, or that is somebody else's, has no status of ours; the former is reported already.
    if (object === undefined || foreign.has(resourceKeyOf(ref))) return [];
    // What no message can hold is not sent to an agent.
    if (ref.clusterName !== "" && JSON.stringify(status).length > TOLD_BYTES) return [];
    const live = (object["status"] ?? {}) as JsonObject;
    if (equalJson(live, status)) return [];
    const isJudgedApart = ref.clusterName === "" && ref.kind === VirtualMesh.kind && live["meshes"] !== undefined;
    const [is, ought] = [live, status].map((one) => comparable(isJudgedApart ? withoutTrust(one) : one));
    return equalJson(is, ought) ? [] : [`status of ${formatRef(ref)} is ${JSON.stringify(is)}, not ${JSON.stringify(ought)}`];
  });
}

// Less than fits, by what is said of the object beside its status, and by what may yet be said in it.
const TOLD_BYTES = MAX_OBJECT_BYTES - 1024;

/** Server-side apply leaves `{}` where the last member went. */
function isEmptyObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
}

/** How far meshes are with their certificates, the server says beside what translation says: `trustProblems` judges that. */
function withoutTrust({ meshes, conditions, ...status }: JsonObject): JsonObject {
  const all = Object.entries((meshes ?? {}) as Record<string, JsonObject>).map(([name, { trust: _, ...mesh }]) => [name, mesh] as const);
  // One of which nothing else was said is one that is empty by now.
  const own = all.filter(([, mesh]) => !isEmptyObject(mesh));
  const others = (conditions ?? []) as { readonly type?: string }[];
  const judged = others.filter(({ type = "" }) => !["TrustInForce", "CertificateExpiring"].includes(type));
  return { ...status, meshes: Object.fromEntries(own), conditions: judged } as JsonObject;
}

/** A status without what depends on when and in whose words it was written, and on when the plane first saw what it repeats. */
function comparable({ observedGeneration: _, ...status }: JsonObject): unknown {
  const text = JSON.stringify({ status: withoutEmpty(status) });
  return JSON.parse(text.replace(/cannot be written(?: \((\w+)\))?: (?:[^"\\]|\\.)*/g, "cannot be written ($1)"));
}

/** The same without empty objects, as server-side apply leaves them where all of their members were taken away, however deep they were. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([key, member]) => [key, withoutEmpty(member)] as const);
  return Object.fromEntries(members.filter(([key, member]) => !OF_THE_MOMENT.has(key) && !isEmptyObject(member)));
}

const OF_THE_MOMENT: ReadonlySet<string> = new Set(["lastTransitionTime", "observedGeneration", "firstSeen"]);

/** `isRefusing`: clusters in which a desired object is somebody else's. */
function registrationProblems({ management }: Fleet, truth: Truth, isRefusing: ReadonlySet<string>): string[] {
  return management
    .objects()
    .filter((object) => kindKeyOf(object) === kindKeyOf(KubernetesCluster) && truth.places.has(object.metadata.name))
    .flatMap((object) => {
      const { conditions = [] } = (object["status"] ?? {}) as { readonly conditions?: readonly { type: string; status: string }[] };
      const isGood = (type: string) => conditions.some((condition) => condition.type === type && condition.status === "True");
      const { name } = object.metadata;
      const lacking = ["Connected", "Synced"].filter((type) => !isGood(type)).map((type) => `is not ${type}`);
      // What could not be written for another reason was tried again by now.
      const refused =
        isGood("WritesRefused") === isRefusing.has(name)
          ? []
          : [
              `is ${isRefusing.has(name) ? "not " : ""}WritesRefused: ${JSON.stringify(conditions.filter(({ type }) => type === "WritesRefused"))}`,
            ];
      return [...lacking, ...refused].map((problem) => `KubernetesCluster ${name} ${problem}`);
    });
}
