import { AccessPolicy } from "@isthmus/api";
import {
  equalJson,
  formatRef,
  kindKeyOf,
  type Resource,
  type ResourceRef,
  refOf,
  resourceKeyOf,
  type Snapshot,
  snapshotOf,
} from "@isthmus/core";
import type { Verb } from "@isthmus/simulator";
import { lastKnownMeshOf, type Translation } from "@isthmus/translators";
import { opensByMistake } from "./access.ts";
import type { Write } from "./actorPort.ts";
import type { Down, Up } from "./disturbedNetwork.ts";
import type { Fleet } from "./fleet.ts";
import { isEvent, problemOfEvent } from "./insightEvents.ts";
import { leaders } from "./leaders.ts";
import { type Landslides, landslides, SMALLEST_BUDGET } from "./massDeletions.ts";
import { problemOfMessage } from "./messages.ts";
import { type Modes, modes } from "./modes.ts";
import { isTheirs } from "./objects.ts";
import { orders } from "./orders.ts";
import { agentName } from "./processes.ts";
import { ROLES } from "./roles.ts";
import { withScopesOfOthers } from "./settingsScopes.ts";
import { bearsOurLabel, type Hidden, hiddenKey, registeredOnly, TrueStates, type Truth, translatedFrom, wantedOf } from "./truth.ts";

/** Something that must never happen, in words. */
export interface Violation {
  readonly rule:
    | "wrong delete"
    | "landslide"
    | "foreign object touched"
    | "unintended write"
    | "message too large"
    | "secret told"
    | "access opened"
    | "authority overwritten"
    | "trust broken"
    | "written against the mode"
    | "crash"
    | "not as it ought to be"
    | "restless";
  readonly message: string;
}

/**
 * Watches every write of our processes while a schedule runs. What is known of a cluster may be old, and of two clusters of
 * different age; older than the last time that everything was at rest it cannot be. So a write is wrong when no state of the
 * clusters since then explains it.
 */
export class Oracle {
  readonly #states: TrueStates;
  /** All true states since everything was at rest. */
  #since: Truth[] = [];
  /** UIDs of objects that our processes made. */
  readonly #made = new Set<string>();
  readonly violations: Violation[] = [];
  #hidden: Hidden = new Set();
  /** Kinds of clusters, by `hiddenKey`, that an agent could not read at some time since everything was at rest. */
  readonly #unread = new Set<string>();

  /** By cluster, what was desired there before its sources were lost with the management cluster, by `resourceKeyOf`. */
  #lost: ReadonlyMap<string, ReadonlySet<string>> = new Map();

  readonly #leaders = leaders();
  /** What the agents received. */
  readonly orders = orders();
  readonly modes: Modes;
  readonly landslides: Landslides;
  readonly #fleet: Pick<Fleet, "clock" | "clusters" | "trust">;

  constructor(fleet: Pick<Fleet, "clock" | "management" | "clusters" | "trust">, base?: TrueStates) {
    this.#fleet = fleet;
    this.#states = new TrueStates(fleet.management, fleet.clusters, base);
    this.landslides = landslides(() => fleet.clock.now());
    this.modes = modes(() => fleet.clock.now());
    fleet.trust?.watch({
      changed: (name) => this.changed(name),
      broken: (message) => void this.violations.push({ rule: "trust broken", message }),
    });
  }

  get truth(): Truth {
    return this.#states.now;
  }

  /** What is out of sight now. */
  set hidden(hidden: Hidden) {
    this.#hidden = hidden;
  }

  /** An agent could not read a kind of its cluster, and may not know yet what is there of it. */
  failedToRead(clusterName: string, kindKey: string): void {
    this.#unread.add(hiddenKey(clusterName, kindKey));
  }

  /** To be called at once whenever somebody else has changed a cluster, or all of them. */
  changed(clusterName?: string): void {
    this.#fleet.trust?.observed(clusterName);
    if (this.#states.observe(this.#hidden, clusterName)) this.#since.push(this.#states.now);
  }

  /** Everything is at rest, and known to everyone. */
  atRest(ours: Iterable<Resource>): void {
    this.changed();
    this.#since = [this.#states.now];
    this.#lost = new Map();
    this.landslides.rested();
    this.#fleet.trust?.atRest();
    this.orders.atRest();
    this.#unread.clear();
    for (const resource of ours) if (!isTheirs(resource)) this.#made.add(resource.metadata.uid ?? "");
  }

  /** The management cluster is as it was in an earlier state, and every server has started since, with nothing that says otherwise. */
  forgot(before: Truth): void {
    const lost = [...this.#fleet.clusters.keys()].map((name) => {
      const now = this.truth.wanted(name);
      const keys = [...before.wanted(name).keys()].filter((key) => !now.has(key));
      return [name, new Set([...(this.#lost.get(name) ?? []), ...keys])] as const;
    });
    this.#lost = new Map(lost);
  }

  wrote(write: Write): void {
    const { verb, before, after } = write;
    if (this.#leaders.wrote(write)) return;
    if (!this.#leaders.mayWrite(write.cluster, write.actor, write.begun)) this.#found("unintended write", write, "another replica leads");
    if (isEvent(write)) {
      const problem = problemOfEvent(write);
      if (problem !== undefined) this.#found("unintended write", write, problem);
      return;
    }
    const judgement = this.#fleet.trust?.judge(write);
    // Statuses of ours count as inputs, such as that of a registration, and so does what is remembered of a published mesh.
    const written = after ?? before;
    if (written !== undefined && (!bearsOurLabel(written) || lastKnownMeshOf(written) !== undefined)) this.changed(write.cluster);
    // The first thing that is wrong is the one to look at; to look for explanations of all that follows would take long.
    if (this.violations.length > 0) return;
    const forbidden = this.modes.problemOf(write);
    if (forbidden !== undefined) {
      this.#found("written against the mode", write, forbidden);
      return;
    }
    if (judgement !== undefined) {
      if (judgement.problem !== undefined) this.#found(judgement.rule, write, judgement.problem);
      return;
    }
    if (verb === "applyStatus") {
      const problem = write.cluster === "" ? undefined : problemOfStatus(write);
      if (problem !== undefined) this.#found("unintended write", write, problem);
      return;
    }
    if (before !== undefined && (!bearsOurLabel(before) || (verb === "delete" && !this.#made.has(before.metadata.uid ?? "")))) {
      this.#found("foreign object touched", write, "the object is not ours");
    } else if (opensByMistake(write, this.#since)) {
      this.#found("access opened", write, "no AccessPolicy was deleted or changed to something right, nor what it guards");
    } else if (verb === "delete") {
      if (this.#wasWantedAllAlong(write)) this.#found("wrong delete", write, "what it comes from was there all the time");
      this.#judgeOrder(write);
    } else if (PUTS.has(verb)) {
      if (!this.#wasWanted(write)) this.#found("unintended write", write, "nothing asked for it");
    } else {
      this.#found("unintended write", write, "our processes only create, apply and delete");
    }
    if (PUTS.has(verb)) this.#made.add(after?.metadata.uid ?? "");
  }

  sent(clusterName: string, message: Down | Up): void {
    const problem = problemOfMessage(message, this.#fleet.trust);
    if (problem !== undefined)
      this.violations.push({ rule: problem.rule, message: `between ${clusterName} and the server: ${problem.what}` });
  }

  crashed(process: string, error: unknown): void {
    this.violations.push({ rule: "crash", message: `${process}: ${error instanceof Error ? error.stack : String(error)}` });
  }

  /** Whether a cluster's agent holds removals back though there are too few that nobody asked for to be a mass deletion. */
  holdsBackNeedlessly(clusterName: string): boolean {
    const processes = ["1", "2"].map((id) => agentName(clusterName, id));
    const ours = this.#fleet.clusters.get(clusterName)?.objects().filter(bearsOurLabel) ?? [];
    const unseen = ours.filter((object) => processes.some((process) => this.orders.of(process, refOf(object)) === "unseen"));
    // Of a kind that it cannot read an agent does not know what is there: what it is ordered to remove may be.
    const unknown = processes.flatMap((process) => this.orders.unseenOf(process)).filter((ref) => this.#mayBeThere(clusterName, ref));
    return unseen.length + unknown.length + this.landslides.removedBy(processes) <= SMALLEST_BUDGET;
  }

  #mayBeThere(clusterName: string, ref: ResourceRef): boolean {
    return this.#unread.has(hiddenKey(clusterName, kindKeyOf(ref))) && this.#fleet.clusters.get(clusterName)?.object(ref) === undefined;
  }

  /** An agent removes nothing without an order that says why, and no mass deletion. */
  #judgeOrder(write: Write): void {
    const { actor, cluster: name, ref } = write;
    const cluster = this.#fleet.clusters.get(name);
    if (cluster === undefined) return;
    const order = this.orders.of(actor, ref);
    if (order === "none") this.#found("wrong delete", write, "no order of the server says why");
    if (order !== "unseen") return;
    const isLost = this.#lost.get(name)?.has(keyOfWrite(ref, name)) === true;
    if (isLost && !this.orders.isOrdered(actor, ref) && !this.landslides.isResumed(name)) {
      this.#found("wrong delete", write, "its sources are newer than the backup, and nobody approved");
    }
    const owned = cluster.objects().filter(bearsOurLabel).length;
    if (this.landslides.removed(actor, name, owned)) this.#found("landslide", write, "so many at once have to wait for somebody's word");
  }

  #found(rule: Violation["rule"], { actor, verb, ref }: Write, why: string): void {
    this.violations.push({ rule, message: `${actor} did ${verb} ${formatRef(ref)}: ${why}` });
  }

  #wasWantedAllAlong({ cluster, ref }: Write): boolean {
    const key = keyOfWrite(ref, cluster);
    // The latest first: mostly it decides.
    if (this.#since.findLast((truth) => !truth.wanted(cluster).has(key)) !== undefined) return false;
    return this.#since.length === 1 || !this.#couldBe((world) => !wantedOf(world, cluster).has(key), unchanging);
  }

  #wasWanted({ cluster, ref }: Write): boolean {
    const key = keyOfWrite(ref, cluster);
    if (this.#since.findLast((truth) => truth.wanted(cluster).has(key) || !truth.places.has(cluster)) !== undefined) return true;
    return this.#since.length > 1 && this.#couldBe((world) => wantedOf(world, cluster).has(key), everSeen);
  }

  /**
   * Clusters are not seen at one moment, nor are the kinds of one cluster: whether `holds` is true of some mixture of what
   * was there since the last rest. `ofKinds` makes the mixture that stands for those within clusters.
   */
  #couldBe(holds: (world: Translation) => boolean, ofKinds: (snapshots: readonly Snapshot[]) => Snapshot): boolean {
    const seen = this.#since.map(({ everything }) => everything);
    const all = [...withScopesOfOthers(seen), ...seen];
    if (holds(translatedFrom(registeredOnly(ofKinds(all))))) return true;
    const isTrueOf = (mixtures: readonly Snapshot[] | undefined) =>
      mixtures === undefined || mixtures.some((snapshot) => holds(translatedFrom(registeredOnly(snapshot))));
    return isTrueOf(mixturesOf(all, clusterOf)) || isTrueOf(mixturesOf(all, (resource) => `${clusterOf(resource)}|${kindKeyOf(resource)}`));
  }
}

/** How an object comes to be as it is desired; an update turns what was created into what is applied. */
const PUTS: ReadonlySet<Verb> = new Set<Verb>(["create", "update", "apply"]);

// Beyond it nobody waits for an answer, and the write gets the benefit of the doubt.
const MAX_MIXTURES = 600;

/** Every mixture of what was there, each part (a cluster, or a kind in it) at its own time; undefined when there are too many. */
function mixturesOf(snapshots: readonly Snapshot[], partOf: (resource: Resource) => string): readonly Snapshot[] | undefined {
  const all = snapshots.map((snapshot) => grouped(objectsByKey(snapshot).values(), partOf));
  const parts = new Map(
    [...new Set(all.flatMap((groups) => [...groups.keys()]))].map((part) => [part, new Map<string, readonly Resource[]>()]),
  );
  for (const [part, versions] of parts) {
    for (const groups of all) {
      const objects = groups.get(part) ?? [];
      versions.set(JSON.stringify(objects.map(inputOf)), objects);
    }
  }
  let mixtures: (readonly Resource[])[] = [[]];
  for (const versions of parts.values()) {
    mixtures = mixtures.flatMap((mixture) => [...versions.values()].map((objects) => [...mixture, ...objects]));
    if (mixtures.length > MAX_MIXTURES) return undefined;
  }
  return mixtures.map((mixture) => snapshotOf(mixture));
}

function keyOfWrite(ref: ResourceRef, clusterName: string): string {
  return resourceKeyOf({ ...ref, clusterName });
}

/** What was there all the time, and the same. */
function unchanging(snapshots: readonly Snapshot[]): Snapshot {
  const [first, ...others] = snapshots.map(objectsByKey);
  const kept = [...(first ?? [])].filter(([key, resource]) => others.every((objects) => isSameInput(objects.get(key), resource)));
  return snapshotOf(kept.map(([, resource]) => resource));
}

/** What was there at any time, in its latest form. */
function everSeen(snapshots: readonly Snapshot[]): Snapshot {
  const all = new Map(snapshots.flatMap((snapshot) => [...objectsByKey(snapshot)]));
  return snapshotOf(all.values());
}

function objectsByKey(snapshot: Snapshot): ReadonlyMap<string, Resource> {
  const objects = [...snapshot.collections().values()].flatMap((collection) => [...collection]);
  return new Map(objects.map((resource) => [resourceKeyOf(refOf(resource)), resource]));
}

/** The same with what translation reads of a status of ours. */
function inputOf(resource: Resource): object {
  const { status } = resource as Resource & { readonly status?: unknown };
  return resource.kind === AccessPolicy.kind ? { ...contentOf(resource), status } : contentOf(resource);
}

function isSame(a: Resource | undefined, b: Resource): boolean {
  return a !== undefined && equalJson(contentOf(a), contentOf(b));
}

function isSameInput(a: Resource | undefined, b: Resource): boolean {
  return a !== undefined && equalJson(inputOf(a), inputOf(b));
}

/** In workload clusters only what users ask of us bears a status of ours, and with the status nothing else changes. */
function problemOfStatus({ before, after }: Write): string | undefined {
  if (before === undefined || after === undefined) return "a status of what is not there";
  if (!USERS.has(kindKeyOf(after))) return "a status of what is none of our business";
  return isSame(before, after) && before.metadata.generation === after.metadata.generation ? undefined : "more than the status";
}

const USERS = new Set(ROLES.userKinds.map(kindKeyOf));

/** What others decide of an object. In the management cluster its status is ours, and so is that of what users ask of us. */
function contentOf(resource: Resource): object {
  const { resourceVersion: _, managedFields: __, ...metadata } = resource.metadata;
  const { status, ...rest } = resource as Resource & { readonly status?: unknown };
  const isOurs = metadata.clusterName === undefined || USERS.has(kindKeyOf(resource));
  return isOurs ? { ...rest, metadata } : { ...rest, metadata, status };
}

function clusterOf(resource: Resource): string {
  return resource.metadata.clusterName ?? "";
}

function grouped(objects: Iterable<Resource>, partOf: (resource: Resource) => string): ReadonlyMap<string, readonly Resource[]> {
  const groups = new Map<string, Resource[]>();
  for (const object of objects) {
    const part = partOf(object);
    groups.set(part, [...(groups.get(part) ?? []), object]);
  }
  return groups;
}
