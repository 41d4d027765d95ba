import { KubernetesCluster, Lease } from "@isthmus/api";
import { type AnyResource, type Kind, kindKeyOf, type Resource, type ResourceRef, refOf, resourceKeyOf } from "@isthmus/core";
import { ClusterError } from "@isthmus/ports";
import type { ClusterImage, SimulatedCluster } from "@isthmus/simulator";
import { problemsAtRest } from "./atRest.ts";
import type { Fleet } from "./fleet.ts";
import { DEFINED_KINDS, definition, kubernetesCluster, SHOP, shop } from "./objects.ts";
import type { Oracle } from "./oracle.ts";
import type { Stage } from "./step.ts";
import { OPERATOR } from "./steps/modes.ts";
import { mendTrust, restartByUsers, trustProblems } from "./trust/atRest.ts";
import { bearsOurLabel, hiddenKey } from "./truth.ts";

/** Lets steps act on a fleet under the eyes of an oracle. `writes` says how many writes our processes have made so far. */
export function startStage(fleet: Fleet, oracle: Oracle, writes: () => number): Stage {
  const images = new Map<string, ClusterImage>();
  remember();
  const hidden = new Map<string, { readonly cluster: SimulatedCluster; readonly kind: Kind }>();

  /** The change is made, or refused, before the cluster gives its promise. */
  function change(clusterName: string, act: () => Promise<unknown>): void {
    act().catch((error: unknown) => {
      if (!(error instanceof ClusterError)) throw error;
    });
    oracle.changed(clusterName);
  }

  function clusterOf(name: string): SimulatedCluster {
    const cluster = name === "" ? fleet.management : fleet.clusters.get(name);
    if (cluster === undefined) throw new RangeError(`there is no cluster ${name}`);
    return cluster;
  }

  function setServed(clusterName: string, kind: Kind, isServed: boolean): void {
    const cluster = clusterOf(clusterName);
    const key = hiddenKey(clusterName, kindKeyOf(kind));
    if (isServed === !hidden.has(key)) return;
    if (isServed) {
      cluster.serve(kind);
      hidden.delete(key);
    } else {
      hidden.set(key, { cluster, kind });
      cluster.unserve(kind);
    }
    oracle.hidden = new Set(hidden.keys());
    oracle.changed();
  }

  /** With a kind's definition go its objects; that is no loss of sight. An API server that is offline refuses it: then nothing changes. */
  function setDefined(clusterName: string, kind: Kind, isDefined: boolean): void {
    const cluster = clusterOf(clusterName);
    const ref = refOf(definition(kind));
    const isThere = (): boolean => cluster.object(ref) !== undefined;
    if (isDefined === isThere()) return;
    change(clusterName, () => {
      if (isDefined) return cluster.apply(definition(kind), { fieldManager: "user", force: true });
      const deletion = cluster.delete(ref);
      if (!isThere()) {
        hidden.delete(hiddenKey(clusterName, kindKeyOf(kind)));
        oracle.hidden = new Set(hidden.keys());
      }
      return deletion;
    });
  }

  function terminate(clusterName: string): void {
    change(clusterName, () => clusterOf(clusterName).delete(shopRef(clusterName)));
  }

  /** As the controller of namespaces does it. */
  function empty(clusterName: string): void {
    const cluster = clusterOf(clusterName);
    if (cluster.object(shopRef(clusterName))?.metadata.deletionTimestamp === undefined) return;
    for (const object of cluster.objects()) {
      if (object.metadata.namespace === SHOP) change(clusterName, () => cluster.delete(refOf(object)));
    }
  }

  function found(clusterName: string): void {
    const cluster = clusterOf(clusterName);
    if (cluster.object(shopRef(clusterName)) !== undefined) return;
    change(clusterName, () => cluster.apply(shop(0), { fieldManager: "user", force: true }));
  }

  /** Kinds that are out of sight come back with what they hold: API servers start again. */
  function restore(clusterName: string, bump: number): void {
    const cluster = clusterOf(clusterName);
    const image = images.get(clusterName);
    if (image === undefined) return;
    for (const { cluster: place, kind } of [...hidden.values()]) if (place === cluster) setServed(clusterName, kind, true);
    if (clusterName !== "") for (const kind of DEFINED_KINDS) setDefined(clusterName, kind, true);
    const before = oracle.truth;
    // Above all that were ever given out, if at all.
    cluster.faults.restore(image, bump === 0 ? 0 : cluster.revision - image.revision + bump);
    oracle.changed(clusterName);
    if (clusterName === "" && bump === 0 && fleet.store === undefined) oracle.forgot(before);
  }

  function remember(): void {
    for (const cluster of [fleet.management, ...fleet.clusters.values()]) images.set(cluster.name, backedUp(cluster.image()));
  }

  /** Somebody has looked, and lets go what is on hold: says where. */
  function resumeDeletes(): readonly string[] {
    const waited: string[] = [];
    for (const registration of fleet.management.objects()) {
      if (kindKeyOf(registration) !== kindKeyOf(KubernetesCluster) || !isPaused(registration)) continue;
      const { name } = registration.metadata;
      if (!lacksSources(registration) && oracle.holdsBackNeedlessly(name)) {
        oracle.violations.push({ rule: "landslide", message: `removals wait in ${name}, and somebody asked for them` });
      }
      resume(name);
      waited.push(`deletes were on hold in ${name}`);
    }
    return waited;
  }

  /** Whatever a cluster holds back may go, and what it will until the next rest. */
  function resume(name: string): void {
    const { apiVersion, kind, metadata } = kubernetesCluster(name);
    if (fleet.management.object(refOf(kubernetesCluster(name))) === undefined) return;
    oracle.landslides.resumed(name);
    const annotations = { "isthmus.mesh/resume-deletes": String(fleet.clock.now()) };
    const word = { apiVersion, kind, metadata: { ...metadata, annotations } };
    change("", () => fleet.management.apply(word, { fieldManager: "somebody", force: true }));
  }

  /** What is observed or frozen is managed again: only then it comes to be as it ought to be. */
  function manageAll(): void {
    for (const name of fleet.clusters.keys()) {
      const registration = kubernetesCluster(name);
      if (fleet.management.object(refOf(registration)) === undefined) continue;
      change("", () => fleet.management.apply(registration, { fieldManager: OPERATOR, force: true }));
    }
  }

  /** While one mesh is offline, pods of the others may still restart, one after the other: no unrest, if it ends. */
  async function restartsEnd(): Promise<void> {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const before = writes();
      await fleet.clock.advance(ROUND_MS);
      if (writes() === before) return;
    }
  }

  async function rest(): Promise<void> {
    fleet.heal();
    manageAll();
    for (const { cluster, kind } of [...hidden.values()]) setServed(cluster.name, kind, true);
    for (const name of fleet.clusters.keys()) for (const kind of DEFINED_KINDS) setDefined(name, kind, true);
    for (const { name } of [fleet.management, ...fleet.clusters.values()]) {
      empty(name);
      found(name);
    }
    fleet.startServer();
    fleet.startServer("2");
    for (const name of fleet.clusters.keys()) {
      fleet.startAgent(name, "1");
      if (fleet.hasAgentReplicas) fleet.startAgent(name, "2");
      else await fleet.stopAgent(name, "2");
    }
    if (fleet.trust !== undefined) await mendTrust(fleet.trust, fleet);
    let problems: readonly string[] = ["nothing was looked at"];
    for (const ms of fleet.trust === undefined ? PATIENCE_MS : TRUST_PATIENCE_MS) {
      if (fleet.trust !== undefined) await restartByUsers(fleet.trust, fleet);
      await fleet.clock.advance(ms);
      const waited = resumeDeletes();
      problems = [...waited, ...problemsAtRest(fleet, oracle.truth), ...agentProblems(fleet), ...replicasProblems(fleet)];
      if (fleet.trust !== undefined) problems = [...problems, ...trustProblems(fleet.trust, fleet, oracle.truth.places)];
      if (problems.length === 0) break;
    }
    if (problems.length > 0) {
      oracle.violations.push({ rule: "not as it ought to be", message: problems.join("\n") });
      return;
    }
    // What an agent without a server still had to write, nobody waited for above, nor for a write that failed and finds somebody else's object.
    const isAlone = [...fleet.clusters.keys()].some((name) => !oracle.truth.places.has(name));
    if (isAlone || hasWaiting(fleet)) await fleet.clock.advance(LONGEST_PAUSE_MS);
    // An agent reports at most once in 5 s what Cilium makes of policies, and so perhaps only now of those that were written last.
    await fleet.clock.advance(READ_BACK_MS);
    const impossible = fleet.figures().filter(({ value }) => !Number.isFinite(value) || value < 0);
    if (impossible.length > 0) {
      oracle.violations.push({ rule: "not as it ought to be", message: `figures that cannot be: ${JSON.stringify(impossible)}` });
    }
    if (fleet.trust !== undefined) await restartsEnd();
    const [before, resyncs] = [writes(), fleet.resyncs()];
    await fleet.clock.advance(QUIET_MS);
    if (fleet.resyncs() !== resyncs) {
      oracle.violations.push({ rule: "restless", message: "digests disagree although nothing happens" });
    }
    if (writes() !== before) {
      oracle.violations.push({ rule: "restless", message: `${writes() - before} writes although nothing happens` });
    }
    const all = [fleet.management, ...fleet.clusters.values()].flatMap((cluster) => [...cluster.objects()]);
    oracle.atRest(all.filter(bearsOurLabel));
    // The store's own replica has had the time to catch up: nothing is older than this rest.
    fleet.store?.faults.replicate();
    remember();
  }

  return {
    fleet,
    put(clusterName, resource, who) {
      const cluster = clusterOf(clusterName);
      const { status, ...body } = resource as AnyResource;
      const how = { fieldManager: who, force: true };
      change(clusterName, () => cluster.apply(body, how));
      if (status !== undefined) change(clusterName, () => cluster.applyStatus(resource, how));
    },
    replace: (clusterName, resource) => change(clusterName, () => clusterOf(clusterName).update(resource)),
    remove: (clusterName, ref) => change(clusterName, () => clusterOf(clusterName).delete(ref)),
    setServed,
    setDefined,
    terminate,
    empty,
    found,
    restedAt(clusterName) {
      const image = images.get(clusterName);
      if (image === undefined) throw new RangeError(`there is no cluster ${clusterName}`);
      return image;
    },
    restore,
    resume,
    ours: (clusterName, n) => nth(clusterOf(clusterName).objects().filter(bearsOurLabel), n),
    wanted: (clusterName, n) => nth<Resource>([...oracle.truth.wanted(clusterName).values()], n),
    object: (ref) => clusterOf(ref.clusterName).object(ref),
    wantedAs: (ref) => oracle.truth.wanted(ref.clusterName).get(resourceKeyOf(ref)),
    rest,
  };
}

/**
 * As a backup finds a cluster. Only for a moment nobody holds a Lease: a replica that starts right after a backup of that moment was
 * restored leads at once, and another one may not have noticed.
 */
function backedUp(image: ClusterImage): ClusterImage {
  const held = (stored: Stored): Stored => {
    const { spec } = stored.resource as AnyResource & { readonly spec?: { readonly holderIdentity?: string } };
    return spec?.holderIdentity === ""
      ? { ...stored, resource: { ...stored.resource, spec: { ...spec, holderIdentity: "gone", leaseDurationSeconds: LEASE_S } } }
      : stored;
  };
  const leases = image.objects.get(kindKeyOf(Lease)) ?? [];
  return { ...image, objects: new Map([...image.objects, [kindKeyOf(Lease), leases.map(held)]]) };
}

/** How long a Lease lasts that is held. Source: docs/decisions/0018. */
const LEASE_S = 8;

type Stored = NonNullable<ReturnType<ClusterImage["objects"]["get"]>>[number];

function shopRef(clusterName: string): ResourceRef {
  return { ...refOf(shop(0)), clusterName };
}

function isPaused(registration: AnyResource): boolean {
  return pausedBy(registration) !== undefined;
}

/** Deletes wait as the server started without the state of those before it, however few they are. */
function lacksSources(registration: AnyResource): boolean {
  return pausedBy(registration) === "SourcesUnknown";
}

function pausedBy(registration: AnyResource): string | undefined {
  const { conditions = [] } = (registration["status"] ?? {}) as { readonly conditions?: readonly StatedCondition[] };
  return conditions.find(({ type, status }) => type === "DeletesPaused" && status === "True")?.reason;
}

interface StatedCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
}

/** One replica of each agent leads. */
function agentProblems({ hasAgentReplicas, clusters, leadingAgents }: Fleet): string[] {
  if (!hasAgentReplicas) return [];
  return [...clusters.keys()].flatMap((name) => {
    const leading = leadingAgents(name).length;
    return leading === 1 ? [] : [`${leading} agents of ${name} lead`];
  });
}

/** Whether something was refused, and will be tried again. */
function hasWaiting({ figures }: Fleet): boolean {
  return figures().some(({ name, labels, value }) => name === "gloo_mesh_work_items" && labels["state"] === "waiting" && value > 0);
}

/** Replicas that know the same want the same. */
function replicasProblems({ store, servers }: Fleet): string[] {
  if (store === undefined) return [];
  const shares = [...servers.values()].map(({ name, server }) => ({ name, ...server.sharing }));
  const said = shares.map(({ digests }) => JSON.stringify([...digests].sort(([a], [b]) => (a < b ? -1 : 1))));
  const leading = [...servers.values()].filter(({ leadership }) => leadership.isLeader).length;
  return [
    ...shares.filter(({ isLoaded }) => !isLoaded).map(({ name }) => `${name} has not read the store`),
    ...(new Set(said).size > 1 ? [`replicas want different things: ${said.join(" and ")}`] : []),
    ...(leading === 1 ? [] : [`${leading} servers lead`]),
  ];
}

function nth<T>(list: readonly T[], n: number): T | undefined {
  return list.length === 0 ? undefined : list[n % list.length];
}

// A silent connection is given up after three heartbeats of 10 s, and what was lost is missed at the next heartbeat. The longest
// pauses before something is tried again are a minute (writes) and half a minute (connections, lists).
const PATIENCE_MS = [36_000, 10_000, 20_000, 60_000, 120_000];
// Three rounds of restarts, each of several pods; and a workload that is gone is waited for ten minutes.
const TRUST_PATIENCE_MS = [...PATIENCE_MS, 120_000, 120_000, 120_000, 600_000];
const LONGEST_PAUSE_MS = 62_000;
const READ_BACK_MS = 6_000;
/** A heartbeat of each end, in which it is seen whether the two ends hold the same. */
const MOST_ROUNDS = 20;
const ROUND_MS = 30_000;
const QUIET_MS = 12_000;
