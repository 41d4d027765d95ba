import { randomUUID } from "node:crypto";
import { type Clock, type Kind, type Log, type Resource, uptimeOf } from "@isthmus/core";
import type { AccessReviews, KubernetesUser } from "@isthmus/ports";
import { NOTHING_KNOWN } from "../events/fleet.ts";
import type { PastMoment } from "../events/history.ts";
import { type ConsoleHub, startConsoleHub } from "../events/hub.ts";
import { identityOf, withoutCredential } from "../login/identity.ts";
import { type CurrentRights, currentRights } from "./currentRights.ts";
import { clusterPlace, discoveredPlaces, hasActivity, objectPlace, placesIn } from "./places.ts";
import type { Place, ViewerRightsOptions } from "./rights.ts";
import { viewerSource } from "./viewerSource.ts";

/** What one user may see. */
export interface ViewerHub extends Pick<ConsoleHub, "follow"> {
  /** What the user may see now of what was known before. Rejects when the Kubernetes API cannot be asked. */
  visible(past: PastMoment, signal: AbortSignal): Promise<PastMoment>;
  /** Whether the user may see an object now. Rejects when the Kubernetes API cannot be asked. */
  sees(object: Resource, signal: AbortSignal): Promise<boolean>;
  /** Those of some places that the user may see now. Rejects when the Kubernetes API cannot be asked. */
  seenOf<P extends Place>(places: readonly P[], signal: AbortSignal): Promise<readonly P[]>;
  /** Those of some clusters that the user may see now. Rejects when the Kubernetes API cannot be asked. */
  seenClusters(names: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>>;
}

/** The streams of users, each with what that user may see. */
export interface ViewerHubs {
  /** What one user may see. Undefined: there are too many users at a time. */
  of(user: KubernetesUser): ViewerHub | undefined;
  readonly size: number;
}

export interface ViewerHubsOptions {
  /** Of those who see everything. */
  readonly hub: ConsoleHub;
  readonly reviews: Pick<AccessReviews, "may">;
  /** See ViewerRightsOptions. */
  readonly countedNamespaces?: ViewerRightsOptions["countedNamespaces"];
  readonly kinds: {
    readonly kindOf: (apiVersion: string, kind: string) => Kind | undefined;
    readonly registration: Kind;
    readonly discovery: readonly Kind[];
  };
  /** Namespace of the management plane. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Users at a time. Default: 20; of them 5 of one name. */
  readonly most?: number;
  /** How long what a user sees is kept after the last stream, in milliseconds. Default: a minute. */
  readonly keptMs?: number;
  /** How often rights are asked for again, in milliseconds. Default: a minute. */
  readonly refreshMs?: number;
  /** How often changes are looked for, in milliseconds. Default: as a hub does. */
  readonly readMs?: number;
}

interface Kept {
  readonly username: string;
  readonly hub: ConsoleHub;
  readonly rights: CurrentRights;
  readonly stop: AbortController;
  streams: number;
  /** When the last stream ended. */
  idleSince: number;
}

/** One hub for each user who follows now; users who are one to the Kubernetes API share it. */
export function startViewerHubs(options: ViewerHubsOptions, signal: AbortSignal): ViewerHubs {
  const { hub: all, reviews, countedNamespaces, kinds, namespace, clock, log, most = MOST, keptMs = KEPT_MS, refreshMs, readMs } = options;
  const hubs = new Map<string, Kept>();
  let isExpiring = false;

  function forgetIdle(isUrgent: boolean): void {
    for (const [key, { stop, streams, idleSince }] of hubs) {
      if (streams > 0 || (!isUrgent && uptimeOf(clock) - idleSince < keptMs)) continue;
      hubs.delete(key);
      stop.abort(new Error("nobody follows"));
      if (isUrgent) return;
    }
  }

  /** As long as there are any, what nobody follows is looked for. */
  function expire(): void {
    if (isExpiring) return;
    isExpiring = true;
    clock.sleep(keptMs, signal).then(
      () => {
        isExpiring = false;
        forgetIdle(false);
        if (hubs.size > 0) expire();
      },
      () => undefined,
    );
  }

  function kept(given: KubernetesUser): Kept | undefined {
    forgetIdle(false);
    const user = withoutCredential(given);
    const key = identityOf(user);
    const known = hubs.get(key);
    if (known !== undefined) return known;
    // One user cannot keep others out.
    if ([...hubs.values()].filter(({ username, streams }) => username === user.username && streams > 0).length >= MOST_OF_USER)
      return undefined;
    if (hubs.size >= most) forgetIdle(true);
    if (hubs.size >= most) return undefined;
    const stop = new AbortController();
    const until = AbortSignal.any([signal, stop.signal]);
    const discovered = discoveredPlaces(kinds.discovery, namespace);
    const places = async () => {
      const { moment } = all;
      return moment === undefined ? [] : [...(hasActivity(moment) ? discovered : []), ...(await placesIn(moment, clock, until))];
    };
    const asked = {
      user,
      reviews,
      namespace,
      kindOf: kinds.kindOf,
      registration: kinds.registration,
      places,
      clock,
      log,
      ...(countedNamespaces === undefined ? {} : { countedNamespaces }),
      ...(refreshMs === undefined ? {} : { refreshMs }),
    };
    const rights = currentRights(asked, until);
    const source = viewerSource({ username: user.username, rights, discovery: kinds.discovery, hub: all, clock });
    const epoch = randomUUID().replaceAll("-", "");
    const bounds = { mostEvents: MOST_EVENTS, mostBytes: MOST_BYTES };
    const hub = startConsoleHub({ source, epoch, clock, log, ...bounds, ...(readMs === undefined ? {} : { readMs }) }, until);
    const made: Kept = { username: user.username, hub, rights, stop, streams: 0, idleSince: uptimeOf(clock) };
    hubs.set(key, made);
    expire();
    return made;
  }

  return {
    of(user) {
      const own = kept(user);
      if (own === undefined) return undefined;
      const known = async (places: readonly Place[], until: AbortSignal) => {
        own.idleSince = uptimeOf(clock);
        const rights = await own.rights.confirmed();
        await own.rights.learn(rights, places, until);
        return rights;
      };
      return {
        async visible(past, until) {
          own.idleSince = uptimeOf(clock);
          const hub = { about: all.about, moment: past.moment, clock: () => past.clock };
          const source = viewerSource({ username: user.username, rights: own.rights, discovery: kinds.discovery, hub, clock });
          const moment = (await source.read(until)) ?? NOTHING_KNOWN;
          return { moment, clock: { now: past.clock.now, ...source.clock() } };
        },
        async sees(object, until) {
          const place = objectPlace(object);
          return (await known([place], until)).sees(place);
        },
        async seenOf(places, until) {
          const rights = await known(places, until);
          return places.filter((place) => rights.sees(place));
        },
        async seenClusters(names, until) {
          const rights = await known(names.map(clusterPlace), until);
          return new Set(names.filter((name) => rights.seesCluster(name)));
        },
        async *follow(lastEventId, gone) {
          own.streams++;
          try {
            yield* own.hub.follow(lastEventId, gone);
          } finally {
            own.streams--;
            own.idleSince = uptimeOf(clock);
          }
        },
      };
    },
    get size() {
      return hubs.size;
    },
  };
}

const MOST = 20;
const MOST_OF_USER = 5;
const KEPT_MS = 60_000;
// A browser that lags further behind begins again.
const MOST_EVENTS = 2_000;
const MOST_BYTES = 4 * 1024 * 1024;
