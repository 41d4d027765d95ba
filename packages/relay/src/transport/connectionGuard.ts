import type { ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { Log, Metric } from "@isthmus/core";
import { startCounters } from "../session/counters.ts";

export interface ConnectionLimits {
  /** Open at a time, of all. */
  readonly connections: number;
  /** Open at a time, from one address. Behind a load balancer all agents have one. */
  readonly connectionsPerAddress: number;
  /** How long a connection may last on which nobody has shown who they are, in milliseconds. */
  readonly unknownMs: number;
  /** How long a call may take that is not the relay's stream, in milliseconds. */
  readonly callMs: number;
}

export const DEFAULT_LIMITS: ConnectionLimits = {
  connections: 10_000,
  connectionsPerAddress: 2_000,
  unknownMs: 60_000,
  callMs: 20_000,
};

/** Bytes that a call may send, frames of gRPC included, which is not the relay's stream: a registration has two or three KB. */
export const MAX_CALL_BYTES = 64 * 1024;

/** Keeps what a connection may cost small until it is known who is on its other end. */
export interface ConnectionGuard {
  /** A connection has come. It may be cut at once, or in place of an older one that has not shown who it is. */
  connected(socket: Socket): void;
  /** HTTP/2 is spoken on a connection. `known` is called once, when it is known who is there. */
  opened(session: ServerHttp2Session, known: () => void): void;
  /** Somebody whom nobody knows has opened streams without end. */
  abused(session: Pick<ServerHttp2Session, "socket">): void;
  /** It is known who is at the other end, by what the gRPC library calls its peer: address:port. */
  identified(peer: string): void;
  metrics(): readonly Metric[];
  stop(): void;
}

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  timer: NodeJS.Timeout | undefined;
  known: (() => void) | undefined;
}

export interface ConnectionGuardOptions {
  readonly limits: Omit<ConnectionLimits, "callMs">;
  /** Counts the connections that are cut, by reason. */
  readonly metric: "relay_server_connections_cut_total" | "gloo_mesh_workload_connections_cut_total";
  readonly log: Log;
}

/**
 * A connection above `limits` closes the oldest unauthenticated one, which may be itself; any that stays unauthenticated for `unknownMs` is
 * closed too. `stop` ends the timers and leaves the connections open.
 */
export function startConnectionGuard({ limits, metric, log }: ConnectionGuardOptions): ConnectionGuard {
  const { connections: most, connectionsPerAddress: mostOfOne, unknownMs } = limits;
  const counters = startCounters();
  const all = new Map<string, Connection>();
  /** Of each address: those who have shown who they are, and the others, the oldest first. */
  const known = new Map<string, Set<Connection>>();
  const unknown = new Map<string, Set<Connection>>();
  /** The others of all addresses, the oldest first. */
  const waiting = new Set<Connection>();
  let sentAt = Number.NEGATIVE_INFINITY;

  function cut(connection: Connection, reason: "idle" | "streams" | "address" | "total"): void {
    counters.add(metric, { reason });
    connection.socket.destroy();
    forget(connection);
    // A flood must not fill the log as well.
    if (reason === "idle" || reason === "streams" || performance.now() - sentAt < SAYING_MS) return;
    sentAt = performance.now();
    const what = reason === "address" ? `${mostOfOne} connections from ${connection.address}` : `${most} connections`;
    log.warn({ address: connection.address }, `the limit of ${what} is reached: closing the oldest unauthenticated connection`);
  }

  function forget(connection: Connection): void {
    clearTimeout(connection.timer);
    connection.known = undefined;
    waiting.delete(connection);
    for (const sets of [known, unknown]) {
      const set = sets.get(connection.address);
      set?.delete(connection);
      if (set?.size === 0) sets.delete(connection.address);
    }
    const key = nameOf(connection.socket);
    if (key !== undefined && all.get(key) === connection) all.delete(key);
  }

  const countOf = (address: string) => (known.get(address)?.size ?? 0) + (unknown.get(address)?.size ?? 0);

  return {
    connected(socket) {
      const key = nameOf(socket);
      const address = socket.remoteAddress;
      // It has gone already.
      if (key === undefined || address === undefined) return;
      const connection: Connection = { socket, address, timer: undefined, known: undefined };
      connection.timer = setTimeout(() => cut(connection, "idle"), unknownMs);
      all.set(key, connection);
      waiting.add(connection);
      addTo(unknown, connection);
      socket.once("close", () => forget(connection));
      // Who has shown who they are stay; of the others the newest, as the oldest have had their time. That may be the one that came.
      if (countOf(address) > mostOfOne) cut(first(unknown.get(address)) ?? connection, "address");
      else if (all.size > most) cut(first(waiting) ?? connection, "total");
    },
    opened(session, tellKnown) {
      const connection = all.get(nameOf(session.socket) ?? "");
      if (connection !== undefined) connection.known = tellKnown;
    },
    abused(session) {
      const connection = all.get(nameOf(session.socket) ?? "");
      if (connection !== undefined) cut(connection, "streams");
    },
    identified(peer) {
      const connection = all.get(peer);
      if (connection === undefined || !waiting.delete(connection)) return;
      clearTimeout(connection.timer);
      const others = unknown.get(connection.address);
      others?.delete(connection);
      if (others?.size === 0) unknown.delete(connection.address);
      addTo(known, connection);
      connection.known?.();
      connection.known = undefined;
    },
    metrics: counters.metrics,
    stop() {
      for (const connection of all.values()) clearTimeout(connection.timer);
    },
  };
}

function addTo(sets: Map<string, Set<Connection>>, connection: Connection): void {
  const set = sets.get(connection.address);
  if (set === undefined) sets.set(connection.address, new Set([connection]));
  else set.add(connection);
}

function first(connections: Iterable<Connection> | undefined): Connection | undefined {
  for (const connection of connections ?? []) return connection;
  return undefined;
}

/** As the gRPC library names a peer. Undefined when it has gone. */
function nameOf({ remoteAddress, remotePort }: Pick<Socket, "remoteAddress" | "remotePort">): string | undefined {
  return remoteAddress === undefined ? undefined : `${remoteAddress}:${remotePort}`;
}

const SAYING_MS = 60_000;
