import { edgeOfRow, edgeRow, isEdgeName, isSignalCount, SIGNAL_COUNT, type Signals, type TrafficEdge } from "@isthmus/core";
import { CONTROL_PLANE_COUNTERS } from "../controlPlaneSignals.ts";

/** What a server asks its agents for. */
export interface TrafficQuery {
  /** The answer that arrived last: its counts are not sent again. */
  readonly received?: { readonly epoch: string; readonly sequence: number };
}

/** What happened in a cluster since the answer before. */
export interface TrafficAnswer {
  /** The term of the agent's leader that counted it. */
  readonly epoch: string;
  readonly sequence: number;
  /** How long ago the counted time ended, in milliseconds. */
  readonly ageMs: number;
  /** How long it was: 0 when nothing was counted since. */
  readonly spanMs: number;
  /** Of the last round: how many proxies and control planes there are, and how many answered. */
  readonly targets: number;
  readonly scraped: number;
  readonly edges: readonly EdgeCounts[];
  readonly controlPlanes: readonly ControlPlaneState[];
}

/** What happened between two workloads. */
export interface EdgeCounts {
  readonly edge: TrafficEdge;
  readonly signals: Signals;
}

/** All replicas of a control plane: what happened since the epoch began, and how many proxies are connected now. */
export interface ControlPlaneState {
  readonly namespace: string;
  readonly workload: string;
  readonly proxies: number;
  /** In the order of `CONTROL_PLANE_COUNTERS`. */
  readonly counts: readonly number[];
}

/** Edges in one answer, and those that stand for others. */
export const MOST_EDGES = 5_000;
/** Namespaces with an edge that stands for others, in one answer. */
export const MOST_OTHERS = 1_000;
/** Bytes of one answer. */
export const MOST_ANSWER_BYTES = 4 * 1024 * 1024;
const MOST_CONTROL_PLANES = 100;
/** An agent drops what nobody asks for longer than this. */
export const MOST_SPAN_MS = 5 * 60_000;

/** As JSON: each edge is a list of its six names and its numbers. */
export function trafficAnswerText({ edges, controlPlanes, ...about }: TrafficAnswer): string {
  const rows = edges.map(({ edge, signals }) => edgeRow(edge, signals));
  const planes = controlPlanes.map(({ namespace, workload, proxies, counts }) => [namespace, workload, proxies, ...counts.map(round)]);
  return JSON.stringify({ ...about, edges: rows, controlPlanes: planes });
}

/** Sums of durations have long fractions that nobody reads. */
function round(count: number): number {
  return Math.round(count * 1_000) / 1_000;
}

/** A query as it was sent. Throws for anything else. */
export function parseTrafficQuery(body: Uint8Array): TrafficQuery {
  const { received } = membersOf(parsed(body));
  const { epoch, sequence } = membersOf(received);
  return typeof epoch === "string" && typeof sequence === "number" ? { received: { epoch, sequence } } : {};
}

/**
 * What an agent answered; undefined when the Settings that it knows do not ask it to scrape. Throws for whatever is no answer, or more than one
 * may be: an agent answers for its own cluster, and what it sends must not take the place of what others do.
 */
export function parseTrafficAnswer(body: Uint8Array): TrafficAnswer | undefined {
  if (body.length > MOST_ANSWER_BYTES) throw new TypeError(`the agent's answer has more than ${MOST_ANSWER_BYTES / 1024} KiB`);
  const fields = membersOf(parsed(body));
  if (fields["off"] === true) return undefined;
  const { epoch, edges, controlPlanes } = fields;
  const isRead =
    typeof epoch === "string" &&
    epoch.length <= 64 &&
    Array.isArray(edges) &&
    edges.length <= MOST_EDGES + MOST_OTHERS &&
    Array.isArray(controlPlanes) &&
    controlPlanes.length <= MOST_CONTROL_PLANES;
  if (!isRead) throw unreadable();
  return {
    epoch,
    sequence: countIn(fields["sequence"]),
    ageMs: Math.min(countIn(fields["ageMs"]), MOST_SPAN_MS),
    spanMs: Math.min(countIn(fields["spanMs"]), MOST_SPAN_MS),
    targets: countIn(fields["targets"]),
    scraped: countIn(fields["scraped"]),
    edges: edges.map(edgeIn),
    controlPlanes: controlPlanes.map(controlPlaneIn),
  };
}

/** What an agent answers that does not scrape. */
export const SCRAPES_NOTHING = JSON.stringify({ off: true });

function edgeIn(row: unknown): EdgeCounts {
  const read = edgeOfRow(row, SIGNAL_COUNT);
  if (read === undefined) throw unreadable();
  return { edge: read.edge, signals: read.numbers };
}

function controlPlaneIn(row: unknown): ControlPlaneState {
  if (!Array.isArray(row) || row.length !== 3 + CONTROL_PLANE_COUNTERS.length) throw unreadable();
  return { namespace: nameIn(row[0]), workload: nameIn(row[1]), proxies: countIn(row[2]), counts: row.slice(3).map(countIn) };
}

function nameIn(value: unknown): string {
  if (isEdgeName(value)) return value;
  throw unreadable();
}

function countIn(value: unknown): number {
  if (isSignalCount(value)) return value;
  throw unreadable();
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    throw unreadable();
  }
}

function unreadable(): TypeError {
  return new TypeError("the agent's answer is not traffic of its cluster: upgrade it, or look at its log");
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, unknown>>) : {};
}
