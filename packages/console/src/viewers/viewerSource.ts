import {
  type Clock,
  deltaBetween,
  emptySnapshot,
  equalJson,
  type Log,
  messageOf,
  type ResourceRef,
  type Snapshot,
  uptimeOf,
} from "@isthmus/core";
import { type FleetMoment, type FleetSource, NO_INSIGHTS, NOTHING_KNOWN } from "../events/fleet.ts";
import type { ConsoleHub } from "../events/hub.ts";
import { isSameMoment } from "../sources/sameMoment.ts";
import type { ConsoleViewer, SnapshotClock } from "../wire.ts";
import type { Place, ViewerRights } from "./rights.ts";

export interface ViewerSourceOptions {
  readonly username: string;
  readonly rights: ViewerRights;
  /** Of those who see everything. */
  readonly hub: Pick<ConsoleHub, "about" | "moment" | "clock">;
  readonly clock: Clock;
  readonly log: Log;
  /** How often the rights are asked for again, in milliseconds. Default: a minute. */
  readonly refreshMs?: number;
}

/**
 * The fleet as one user may see it: objects, insights about them, certificates and clocks of clusters; nothing else of the rest, its number and names included. What an object
 * or an insight that is seen says of others is seen with it. Costs what changed, until rights change.
 */
export function viewerSource({ username, rights, hub, clock, log, refreshMs = REFRESH_MS }: ViewerSourceOptions): FleetSource {
  let askedAt = uptimeOf(clock);
  let last: FleetMoment | undefined;
  let parts = new Map<string, Part>();
  let insights = NOTHING_KNOWN.insights;
  let insightsOf = NOTHING_KNOWN.insights;

  /** Addresses in it are not for users. */
  async function asked<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      log.warn({ user: username }, `cannot ask the Kubernetes API what a user of the console may list: ${messageOf(error)}`);
      throw new Error("the Kubernetes API cannot be asked what you may list", { cause: error });
    }
  }

  function forget(): void {
    parts = new Map();
    insights = NOTHING_KNOWN.insights;
    insightsOf = NOTHING_KNOWN.insights;
  }

  async function visibleParts(prefix: string, all: FleetMoment["objects"], signal: AbortSignal): Promise<FleetMoment["objects"]> {
    const shown = new Map<string, Snapshot>();
    for (const [name, now] of all) {
      const key = `${prefix} ${name}`;
      const { of, visible } = parts.get(key) ?? NO_PART;
      if (of === now) {
        shown.set(name, visible);
        continue;
      }
      const { put, remove } = deltaBetween(of, now);
      const placed = put.map((object) => ({ object, place: placeOf(object) }));
      await asked(rights.learn(placesOf(placed), signal));
      const next = visible.apply({ put: placed.filter(({ place }) => rights.sees(place)).map(({ object }) => object), remove });
      parts.set(key, { of: now, visible: next });
      shown.set(name, next);
      // Others have their turn.
      await clock.sleep(0, signal);
    }
    for (const key of parts.keys()) if (key.startsWith(`${prefix} `) && !all.has(key.slice(prefix.length + 1))) parts.delete(key);
    return shown;
  }

  async function visibleInsights(now: FleetMoment["insights"], signal: AbortSignal): Promise<FleetMoment["insights"]> {
    if (now === insightsOf) return insights;
    const changed = now.objects.changesSince(insightsOf.objects);
    const about = changed.flatMap(({ before, after }) => [before, after].flatMap((list) => (list === undefined ? [] : [list.object])));
    await asked(rights.learn([...about, ...now.ended.map(({ object }) => object)], signal));
    const rows = changed.map(({ key, after }) => [key, after !== undefined && rights.sees(after.object) ? after : undefined] as const);
    const ended = now.ended === insightsOf.ended ? insights.ended : now.ended.filter(({ object }) => rights.sees(object));
    const objects = (insightsOf === NOTHING_KNOWN.insights ? NO_INSIGHTS : insights.objects).with(rows);
    insights = { at: now.at, objects, unknown: now.unknown.filter(rights.seesCluster), ended };
    insightsOf = now;
    return insights;
  }

  function viewer(): ConsoleViewer {
    const { missing, seesAllClusters: hasAllClusters, isExhausted } = rights;
    const told = { username, isPartial: missing.length > 0 || !hasAllClusters || isExhausted, missing, hasAllClusters, isExhausted };
    return equalJson(last?.viewer, told) && last?.viewer !== undefined ? last.viewer : told;
  }

  return {
    about: hub.about,
    async read(signal) {
      const { moment } = hub;
      if (moment === undefined) return undefined;
      if (uptimeOf(clock) - askedAt >= refreshMs) {
        if (await asked(rights.refresh(signal))) forget();
        askedAt = uptimeOf(clock);
      }
      const objects = await visibleParts("objects", moment.objects, signal);
      const generated = await visibleParts("generated", moment.generated, signal);
      const about = await visibleInsights(moment.insights, signal);
      const certificates = moment.certificates.filter(({ cluster }) =>
        cluster === "" ? rights.seesAllClusters : rights.seesCluster(cluster),
      );
      const next: FleetMoment = {
        objects,
        generated,
        insights: about,
        certificates: equalJson(last?.certificates, certificates) ? (last?.certificates ?? certificates) : certificates,
        viewer: viewer(),
      };
      last = isSameMoment(last, next) ? last : next;
      return last;
    },
    clock(): Omit<SnapshotClock, "now"> {
      const { at, clusters, problem } = hub.clock();
      return {
        at,
        clusters: clusters.filter(({ name }) => rights.seesCluster(name)),
        // It may name what this user does not see.
        ...(problem === undefined ? {} : { problem: rights.seesAllClusters ? problem : HIDDEN_PROBLEM }),
      };
    },
  };
}

const REFRESH_MS = 60_000;
const HIDDEN_PROBLEM = "the console cannot read all that it shows; who may list KubernetesClusters sees why";

interface Part {
  readonly of: Snapshot;
  readonly visible: Snapshot;
}

const NO_PART: Part = { of: emptySnapshot(), visible: emptySnapshot() };

function placeOf({
  apiVersion,
  kind,
  metadata,
}: {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Partial<ResourceRef>;
}): Place {
  return { apiVersion, kind, namespace: metadata.namespace ?? "", clusterName: metadata.clusterName ?? "" };
}

function placesOf(all: readonly { readonly place: Place }[]): readonly Place[] {
  return all.map(({ place }) => place);
}
