import type { SnapshotClock } from "@isthmus/console/wire";
import type { ConnectionState } from "../../data/connectionState.ts";
import type { Fleet } from "../../data/fleet.ts";
import type { PausedState } from "../../data/heldFleet.ts";
import { t } from "../../strings.ts";
import { millisecondsOf, spanText, timeText } from "../age.ts";
import type { Tone } from "../status.ts";
import { registrationsIn } from "./registrations.ts";

/** How fresh what is shown is, in words. */
export interface Freshness {
  readonly tone: Tone;
  readonly text: string;
  /** What is shown of these clusters is older: each with its time. */
  readonly frozen: readonly string[];
  /** Whether all of the page is of an earlier moment. */
  readonly isStale: boolean;
}

// A source that answers does so every few seconds.
const LIVE_MS = 15_000;
// Agents that are connected report a heartbeat far more often.
const FROZEN_MS = 120_000;
const GONE_STATES: ReadonlySet<string> = new Set(["OFFLINE", "UNREACHABLE", "REVOKED"]);

export interface FreshnessInputs {
  /** What is shown. */
  readonly fleet: Fleet;
  /** That of now, where another one is shown. */
  readonly live?: Fleet;
  readonly paused?: Pick<PausedState, "since" | "changes"> | undefined;
  readonly connection: ConnectionState;
  readonly clockAt: number;
}

/** Freshness at `now`, of the browser's clock: milliseconds since 1970. Ages are of the server's clock, so that a wrong clock here does no harm. */
export function freshnessOf({ fleet, live, paused, connection, clockAt }: FreshnessInputs, now: number): Freshness {
  if (paused !== undefined && fleet.past === undefined) {
    // What is known by now is as fresh as ever; what is shown is not.
    const { text, frozen, isStale } = freshnessOf({ fleet: live ?? fleet, connection, clockAt }, now);
    const since = t.pause.since(timeText(paused.since, now), paused.changes);
    return { tone: "warning", text: isStale ? `${since} · ${text}` : since, frozen, isStale: true };
  }
  const { clock, source } = fleet;
  const at = millisecondsOf(clock?.at);
  if (clock === undefined || at === undefined) return { tone: "progress", text: t.clock.connecting, frozen: [], isStale: false };
  const serverNow = (millisecondsOf(clock.now) ?? at) + (now - clockAt);
  const age = serverNow - at;
  if (fleet.past !== undefined) {
    const then = timeText(at, serverNow);
    return { tone: "warning", text: t.past.shown(then), frozen: frozenClusters(fleet, clock, at), isStale: true };
  }
  const frozen = frozenClusters(fleet, clock, serverNow);
  if (source?.kind === "file") return { tone: "unknown", text: t.clock.file(source.name, timeText(at, now)), frozen, isStale: false };
  if (source?.kind === "recording" && connection.isConnected)
    return { tone: "unknown", text: t.clock.recording(source.name, timeText(serverNow, now)), frozen, isStale: false };
  if (!connection.isConnected) return { tone: "bad", text: t.clock.disconnected(timeText(connection.since, now)), frozen, isStale: true };
  if (clock.problem !== undefined || age > LIVE_MS)
    return { tone: "bad", text: t.clock.sourceStale(timeText(at, serverNow)), frozen, isStale: true };
  return { tone: "good", text: t.clock.live(spanText(age)), frozen, isStale: false };
}

/** When a cluster was last heard of, in milliseconds since 1970, if what is shown of it is older than the rest; undefined for those that are up to date. */
export function frozenSince(fleet: Fleet, name: string): number | undefined {
  const entry = fleet.clock?.clusters.find((cluster) => cluster.name === name);
  const at = millisecondsOf(entry?.at);
  const now = millisecondsOf(fleet.clock?.now);
  if (entry === undefined || at === undefined || now === undefined) return undefined;
  if (entry.phase !== undefined) return entry.phase === "stale" || entry.connected === false ? at : undefined;
  return isGone(fleet, name) || now - at > FROZEN_MS ? at : undefined;
}

function frozenClusters(fleet: Fleet, clock: SnapshotClock, now: number): readonly string[] {
  return clock.clusters.flatMap(({ name }) => {
    const since = frozenSince(fleet, name);
    return since === undefined ? [] : [t.clock.frozen(name, timeText(since, now))];
  });
}

/** Whether the registration of a cluster says that its agent is not connected, or may not be. */
export function isGone(fleet: Fleet, name: string): boolean {
  return registrationsIn(fleet).some(({ metadata, status }) => metadata.name === name && GONE_STATES.has(status?.state ?? ""));
}
