import { formatRef, kindKeyOf, type Meter, messageOf, type Resource } from "@isthmus/core";
import type { InsightHistory } from "@isthmus/insights";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { coalesced } from "../../runtime/coalesce.ts";
import { randomText } from "../../runtime/randomText.ts";
import type { ServerInputs } from "../inputs.ts";
import { DISCOVERED_IN } from "../lastKnownObjects.ts";
import type { ServerOptions } from "../serverOptions.ts";
import { eventOn, type InsightEvent, insightEventsOf } from "./insightEvent.ts";

/** Says in Kubernetes Events which errors and warnings have begun and ended. */
export interface InsightEvents {
  /** What is in `after` and not in `before`, and the reverse, of clusters of which it is news. Nothing waits for it. */
  changed(before: InsightHistory, after: InsightHistory, isNews: (clusterName: string) => boolean): void;
  readonly ended: Promise<void>;
}

export interface InsightEventsOptions extends Pick<ServerOptions, "kinds" | "namespace" | "clock" | "log"> {
  /** The management cluster. */
  readonly cluster: Pick<Cluster, "create">;
  readonly view: Pick<ServerInputs["view"], "snapshot">;
  /** Names this replica in its Events. */
  readonly instance: string;
  readonly meter: Meter;
}

/**
 * Runs for one turn of leading. An Event is on the object, where that is in the management cluster, else on the KubernetesCluster of its
 * cluster: servers have no rights in others. What one cluster brings about is limited, and so is all together: what is beyond stands in the
 * list of insights alone, and is counted.
 */
export function startInsightEvents(options: InsightEventsOptions, until: AbortSignal): InsightEvents {
  const { cluster, view, kinds, namespace, instance, meter, clock, log } = options;
  const waiting: InsightEvent[] = [];
  const budgets = new Map<string, Budget>();
  /** When each was written last; the oldest first. */
  const written = new Map<string, number>();
  let isForbidden = false;

  const count = (outcome: "written" | "omitted" | "failed") => meter.add("gloo_mesh_insight_events_total", { outcome });

  function take(event: InsightEvent): void {
    const now = clock.now();
    const last = written.get(event.identity);
    const isRepeated = last !== undefined && now - last < REPEATED_MS;
    if (isForbidden || isRepeated || waiting.length >= MOST_WAITING || !spend(originOf(event), now)) {
      count("omitted");
      return;
    }
    written.delete(event.identity);
    written.set(event.identity, now);
    const [oldest] = written.keys();
    if (written.size > MOST_REMEMBERED && oldest !== undefined) written.delete(oldest);
    waiting.push(event);
    writes.request();
  }

  /** Who brings an Event about: a cluster, by its own objects or by what is discovered in it; or who writes in a namespace of the management cluster. */
  function originOf(event: InsightEvent): string {
    const { clusterName, namespace: place } = event.object;
    // Of what users write a label says nothing.
    const isDiscovered = clusterName === "" && kinds.discovery.some((kind) => kindKeyOf(kind) === kindKeyOf(event.object));
    const from = isDiscovered ? targetOf(event)?.metadata.labels?.[DISCOVERED_IN] : clusterName;
    return from === undefined || from === "" ? `namespace ${place}` : `cluster ${from}`;
  }

  /** From the budget of its origin and from that of all; from neither where one is used up. */
  function spend(origin: string, now: number): boolean {
    const own = budgetOf(origin, now, OF_ONE_ORIGIN);
    const all = budgetOf("all", now, OF_ALL);
    if (own.left < 1 || all.left < 1) return false;
    own.left--;
    all.left--;
    return true;
  }

  function budgetOf(name: string, now: number, { burst, everyMs }: Rate): Budget {
    const known = budgets.get(name) ?? { left: burst, at: now };
    known.left = Math.min(burst, known.left + Math.max(0, now - known.at) / everyMs);
    known.at = now;
    budgets.delete(name);
    budgets.set(name, known);
    // One that is forgotten begins again: what all have together bounds it still.
    const [oldest] = budgets.keys();
    if (budgets.size > MOST_ORIGINS && oldest !== undefined) budgets.delete(oldest);
    return known;
  }

  /** The object that an Event is on; undefined: it is gone, or nothing that is read there. */
  function targetOf({ object }: InsightEvent): Resource | undefined {
    if (object.clusterName !== "")
      return view.snapshot.of(kinds.registration).get({ name: object.clusterName, namespace, clusterName: "" });
    const kind = kinds.management.find((one) => kindKeyOf(one) === kindKeyOf(object));
    return kind && view.snapshot.of(kind).get(object);
  }

  async function write(event: InsightEvent): Promise<void> {
    const target = targetOf(event);
    if (target === undefined) {
      count("omitted");
      return;
    }
    try {
      await cluster.create(eventOn(target, event, { instance, suffix: randomText(10, LETTERS), at: clock.now() }), until);
      count("written");
    } catch (error) {
      if (until.aborted) return;
      count("failed");
      isForbidden = error instanceof ClusterError && error.code === "Forbidden";
      if (!isForbidden) {
        log.debug({ object: formatRef(event.object) }, `cannot write an Event: ${messageOf(error)}`);
        return;
      }
      waiting.length = 0;
      const remedy = "grant the verb create for events in the management cluster, or start the server with --no-insight-events";
      log.warn({}, `cannot write Events about insights, and does not try again before it leads once more: ${messageOf(error)}: ${remedy}`);
    }
  }

  async function drain(): Promise<void> {
    for (let event = waiting.shift(); event !== undefined && !until.aborted; event = waiting.shift()) await write(event);
  }

  const writes = coalesced(drain, { clock, pauseMs: 0, restMs: 0 }, until);
  return {
    changed(before, after, isNews) {
      for (const change of after.current.changesSince(before.current)) {
        for (const event of insightEventsOf(change)) if (isNews(event.object.clusterName)) take(event);
      }
    },
    ended: writes.ended,
  };
}

interface Budget {
  left: number;
  /** When `left` was true; milliseconds since 1970. */
  at: number;
}

/** So many at once, and one more each so many milliseconds. */
interface Rate {
  readonly burst: number;
  readonly everyMs: number;
}

const OF_ONE_ORIGIN: Rate = { burst: 10, everyMs: 60_000 };
const OF_ALL: Rate = { burst: 50, everyMs: 6_000 };
// What comes and goes is said once in this time.
const REPEATED_MS = 600_000;
const MOST_WAITING = 100;
const MOST_REMEMBERED = 5_000;
const MOST_ORIGINS = 1_000;
const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";
