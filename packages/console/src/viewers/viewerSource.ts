import { type Clock, deltaBetween, emptySnapshot, equalJson, type Kind, type Snapshot } from "@isthmus/core";
import { type FleetMoment, type FleetSource, NO_INSIGHTS, NOTHING_KNOWN } from "../events/fleet.ts";
import type { ConsoleHub } from "../events/hub.ts";
import { isSameMoment } from "../events/sameMoment.ts";
import type { ConsoleViewer, SnapshotClock } from "../wire.ts";
import type { CurrentRights } from "./currentRights.ts";
import { clustersIn, discoveredPlaces, hasActivity, objectPlace } from "./places.ts";
import type { ViewerRights } from "./rights.ts";
import { visibleActivity } from "./visibleActivity.ts";

export interface ViewerSourceOptions {
  readonly username: string;
  readonly rights: CurrentRights;
  /** Mesh, Workload and Destination. */
  readonly discovery: readonly Kind[];
  /** Of those who see everything. */
  readonly hub: Pick<ConsoleHub, "about" | "moment" | "clock">;
  readonly clock: Clock;
}

/**
 * The fleet as one user may see it: objects, insights about them, certificates and clocks of clusters; nothing else of the rest, its number and names included. What an object
 * or an insight that is seen says of others is seen with it. Costs what changed, until rights change.
 */
export function viewerSource({ username, rights: current, hub, discovery, clock }: ViewerSourceOptions): FleetSource {
  // Of both ends of an edge.
  const trafficPlaces = discoveredPlaces(discovery, hub.about.namespace);
  let changes = current.changes;
  let known: ViewerRights | undefined;
  let last: FleetMoment | undefined;
  let parts = new Map<string, Part>();
  let insights = NOTHING_KNOWN.insights;
  let insightsOf = NOTHING_KNOWN.insights;
  let activity = visibleActivity();

  async function visibleParts(
    rights: ViewerRights,
    { prefix, all }: { readonly prefix: string; readonly all: FleetMoment["objects"] },
    signal: AbortSignal,
  ): Promise<FleetMoment["objects"]> {
    const shown = new Map<string, Snapshot>();
    for (const [name, now] of all) {
      const key = `${prefix} ${name}`;
      const { of, visible } = parts.get(key) ?? NO_PART;
      if (of === now) {
        shown.set(name, visible);
        continue;
      }
      const { put, remove } = deltaBetween(of, now);
      await current.learn(rights, put.map(objectPlace), signal);
      const next = visible.apply({ put: put.filter((object) => rights.sees(objectPlace(object))), remove });
      parts.set(key, { of: now, visible: next });
      shown.set(name, next);
      // Others have their turn.
      await clock.sleep(0, signal);
    }
    for (const key of parts.keys()) if (key.startsWith(`${prefix} `) && !all.has(key.slice(prefix.length + 1))) parts.delete(key);
    return shown;
  }

  async function visibleInsights(
    rights: ViewerRights,
    now: FleetMoment["insights"],
    signal: AbortSignal,
  ): Promise<FleetMoment["insights"]> {
    if (now === insightsOf) return insights;
    const changed = now.objects.changesSince(insightsOf.objects);
    const about = changed.flatMap(({ before, after }) => [before, after].flatMap((list) => (list === undefined ? [] : [list.object])));
    await current.learn(rights, [...about, ...now.ended.map(({ object }) => object)], signal);
    const rows = changed.map(({ key, after }) => [key, after !== undefined && rights.sees(after.object) ? after : undefined] as const);
    const ended = now.ended === insightsOf.ended ? insights.ended : now.ended.filter(({ object }) => rights.sees(object));
    const objects = (insightsOf === NOTHING_KNOWN.insights ? NO_INSIGHTS : insights.objects).with(rows);
    const forgotten = now.forgotten.filter(({ cluster }) => rights.seesCluster(cluster));
    insights = { at: now.at, objects, unknown: now.unknown.filter(rights.seesCluster), ended, forgotten };
    insightsOf = now;
    return insights;
  }

  function viewer({ missing, seesAllClusters: hasAllClusters, isExhausted }: ViewerRights): ConsoleViewer {
    const told = { username, isPartial: missing.length > 0 || !hasAllClusters || isExhausted, missing, hasAllClusters, isExhausted };
    return last?.viewer !== undefined && equalJson(last.viewer, told) ? last.viewer : told;
  }

  return {
    about: hub.about,
    async read(signal) {
      const { moment } = hub;
      if (moment === undefined) return undefined;
      // One set of rights for all of a moment.
      const rights = await current.confirmed();
      if (changes !== current.changes) {
        changes = current.changes;
        parts = new Map();
        insights = NOTHING_KNOWN.insights;
        insightsOf = NOTHING_KNOWN.insights;
        activity = visibleActivity();
      }
      known = rights;
      const revision = current.losses;
      if (current.isLost) {
        last = { ...NOTHING_KNOWN, viewer: viewer(rights), revision };
        return last;
      }
      await current.learn(rights, clustersIn(moment, hub.clock()), signal);
      const objects = await visibleParts(rights, { prefix: "objects", all: moment.objects }, signal);
      const generated = await visibleParts(rights, { prefix: "generated", all: moment.generated }, signal);
      if (hasActivity(moment)) await current.learn(rights, trafficPlaces, signal);
      const about = await visibleInsights(rights, moment.insights, signal);
      const certificates = moment.certificates.filter(({ cluster }) =>
        cluster === "" ? rights.seesAllClusters : rights.seesCluster(cluster),
      );
      const next: FleetMoment = {
        objects,
        generated,
        insights: about,
        certificates: last !== undefined && equalJson(last.certificates, certificates) ? last.certificates : certificates,
        ...(moment.activity === undefined ? {} : { activity: activity(rights, trafficPlaces, moment.activity) }),
        viewer: viewer(rights),
        revision,
      };
      last = isSameMoment(last, next) ? last : next;
      return last;
    },
    clock(): Omit<SnapshotClock, "now"> {
      const { at, clusters, servers, problem } = hub.clock();
      // It may name what this user does not see.
      const shown = problem === undefined || known?.seesAllClusters === true ? problem : HIDDEN_PROBLEM;
      const told = current.isLost ? LOST : shown;
      return {
        at,
        clusters: clusters.filter(({ name }) => known?.seesCluster(name) === true),
        // Versions say nothing of the fleet.
        ...(servers === undefined ? {} : { servers }),
        ...(told === undefined ? {} : { problem: told }),
      };
    },
  };
}

const LOST = "the Kubernetes API could not be asked for five minutes what you may list: nothing is shown";
const HIDDEN_PROBLEM = "the console cannot read all that it shows; who may list KubernetesClusters sees why";

interface Part {
  readonly of: Snapshot;
  readonly visible: Snapshot;
}

const NO_PART: Part = { of: emptySnapshot(), visible: emptySnapshot() };
