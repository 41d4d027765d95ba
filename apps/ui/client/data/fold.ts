import type { ConsoleActivity, ConsoleEvents, InsightChanges, ObjectChanges } from "@isthmus/console/wire";
import { fullKeyOf, type Resource, type ResourceRef, resourceKeyOf, type Snapshot } from "@isthmus/core";
import { emptyFleet, type Fleet } from "./fleet.ts";

/** One event of the stream. */
export type FleetEvent = {
  readonly [K in keyof ConsoleEvents]: { readonly type: K; readonly data: ConsoleEvents[K] };
}[keyof ConsoleEvents];

/** What is shown, and what a stream that began again has sent until it is complete: a page never goes blank because its connection broke. */
export interface FleetStream {
  readonly shown: Fleet;
  readonly incoming: Fleet | undefined;
}

/** Before the first event. */
export const NO_STREAM: FleetStream = { shown: emptyFleet(), incoming: undefined };

/** A stream after more of its events. Changes of objects that follow each other are applied as one: the cost is that of what changed. */
export function folded(stream: FleetStream, events: readonly FleetEvent[]): FleetStream {
  let next = stream;
  for (let i = 0; i < events.length; ) {
    const event = events[i];
    if (event === undefined) break;
    if (event.type === "change" || event.type === "generated") {
      const { type } = event;
      let end = i + 1;
      while (events[end]?.type === type) end += 1;
      const changes = events.slice(i, end).map((each) => each.data as ObjectChanges);
      next = withCurrent(next, (fleet) => withObjects(fleet, type, changes));
      i = end;
    } else {
      next = withEvent(next, event);
      i += 1;
    }
  }
  return next;
}

// Servers keep a hundred of each cluster.
const MOST_ENDED = 10_000;

function withEvent(stream: FleetStream, event: Exclude<FleetEvent, { readonly type: "change" | "generated" }>): FleetStream {
  switch (event.type) {
    case "reset": {
      const fresh = { ...emptyFleet(), source: event.data };
      return stream.shown.isReady ? { shown: stream.shown, incoming: fresh } : { shown: fresh, incoming: undefined };
    }
    case "ready":
      return { shown: { ...(stream.incoming ?? stream.shown), isReady: true }, incoming: undefined };
    case "insights":
      return withCurrent(stream, (fleet) => withInsights(fleet, event.data));
    case "ended":
      return withCurrent(stream, (fleet) => ({ ...fleet, ended: [...fleet.ended, ...event.data].slice(-MOST_ENDED) }));
    case "certificates":
      return withCurrent(stream, (fleet) => ({ ...fleet, certificates: event.data }));
    case "activity":
      return withCurrent(stream, (fleet) => withActivity(fleet, event.data));
    case "viewer":
      return withCurrent(stream, (fleet) => ({ ...fleet, viewer: event.data }));
    case "clock":
      // How fresh the source is counts for what is shown, too.
      return {
        shown: { ...stream.shown, clock: event.data },
        incoming: stream.incoming && { ...stream.incoming, clock: event.data },
      };
  }
}

function withCurrent({ shown, incoming }: FleetStream, change: (fleet: Fleet) => Fleet): FleetStream {
  return incoming === undefined ? { shown: change(shown), incoming } : { shown, incoming: change(incoming) };
}

function withObjects(fleet: Fleet, type: "change" | "generated", changes: readonly ObjectChanges[]): Fleet {
  const member = type === "change" ? "snapshot" : "generated";
  const before = fleet[member];
  const after = withChanges(before, changes);
  return after === before ? fleet : { ...fleet, [member]: after };
}

/** The last word about each object counts. */
function withChanges(snapshot: Snapshot, changes: readonly ObjectChanges[]): Snapshot {
  const put = new Map<string, Resource>();
  const remove = new Map<string, ResourceRef>();
  for (const change of changes) {
    for (const resource of change.put) {
      const key = fullKeyOf(resource);
      put.set(key, resource);
      remove.delete(key);
    }
    for (const ref of change.remove) {
      const key = resourceKeyOf(ref);
      remove.set(key, ref);
      put.delete(key);
    }
  }
  return snapshot.apply({ put: [...put.values()], remove: [...remove.values()] });
}

function withActivity(fleet: Fleet, activity: ConsoleActivity): Fleet {
  const all = new Map(fleet.activity);
  if (activity.at === null) all.delete(activity.cluster);
  else all.set(activity.cluster, activity);
  return { ...fleet, activity: all };
}

function withInsights(fleet: Fleet, { at, changed, unknown, forgotten }: InsightChanges): Fleet {
  const insights = fleet.insights.with(
    changed.map(({ object, insights: found }) => [resourceKeyOf(object), found.length === 0 ? undefined : { object, insights: found }]),
  );
  return { ...fleet, insights, insightsAt: at, unknownClusters: unknown, forgottenInsights: forgotten };
}
