import type { Clock } from "@isthmus/core";
import type { ConnectRequest, ConnectResponse } from "../gen/relay/v1/relay_pb.ts";
import type { Acceptor, Connector, Stream, StreamEnd, StreamHandler } from "../session/connection.ts";
import { RelayError } from "../session/relayError.ts";

/** The way of one message. */
export interface Hop {
  readonly clusterName: string;
  readonly direction: "up" | "down";
}

export interface InMemoryNetworkOptions {
  readonly clock: Clock;
  /** How long a message takes, in milliseconds; asked for each one. Their order stays. Default: no time, but never at once. */
  readonly delayMs?: (hop: Hop) => number;
}

/** A network without sockets, that can be cut: for simulations, tests and the playground. */
export interface InMemoryNetwork {
  /** The server takes streams from now on. Undefined: it is down; open streams end. */
  listen(acceptor: Acceptor | undefined): void;
  /** How an agent reaches the server. Its cluster name is its identity, as a certificate's would be. */
  connector(clusterName: string): Connector;
  /** Ends a cluster's stream, and lets none through until healed. */
  cut(clusterName: string): void;
  /** Loses every message of a cluster's open stream without ending it: a half-open connection. New streams don't come through. */
  silence(clusterName: string): void;
  heal(clusterName: string): void;
}

/** Both ends of one stream. */
interface Wire {
  readonly clusterName: string;
  isLost: boolean;
  isEnded: boolean;
  end(end: StreamEnd): void;
}

/**
 * A network whose server is down until `listen` is called: meanwhile, and while a cluster is cut or silenced, `connect` rejects with
 * RelayError `Unreachable`. Messages are handed over as they are, not copied.
 */
export function inMemoryNetwork({ clock, delayMs = () => 0 }: InMemoryNetworkOptions): InMemoryNetwork {
  let acceptor: Acceptor | undefined;
  const wires = new Set<Wire>();
  const broken = new Set<string>();

  function open(clusterName: string, accept: Acceptor, agent: StreamHandler<ConnectResponse>): Stream<ConnectRequest> {
    const up = line<ConnectRequest>({ clusterName, direction: "up" });
    const down = line<ConnectResponse>({ clusterName, direction: "down" });
    const wire: Wire = {
      clusterName,
      isLost: false,
      isEnded: false,
      end(end) {
        up.end(end);
        down.end(end);
      },
    };
    wires.add(wire);
    function ender<In>(other: Line<In>): (end: StreamEnd) => void {
      return (end) => {
        if (wire.isEnded) return;
        wire.isEnded = true;
        wires.delete(wire);
        if (!wire.isLost) other.end(end);
      };
    }
    const sender = <Out>(to: Line<Out>, end: (end: StreamEnd) => void): Stream<Out> => ({
      send(message) {
        if (!wire.isEnded && !wire.isLost) to.send(message);
        return true;
      },
      end,
    });
    down.to(agent, wire);
    up.to(accept({ clusterName, address: "in memory", authentication: "none" }, sender(down, ender(down))), wire);
    return sender(up, ender(up));
  }

  function line<M>(hop: Hop): Line<M> {
    let handler: StreamHandler<M> | undefined;
    let wire: Wire | undefined;
    let last: Promise<void> = Promise.resolve();
    const later = (act: (handler: StreamHandler<M>) => void): void => {
      const ms = delayMs(hop);
      const before = last;
      last = (async () => {
        if (ms > 0) await Promise.all([before, clock.sleep(ms)]);
        else await before;
        if (handler !== undefined) act(handler);
      })();
    };
    return {
      send: (message) => later((to) => wire?.isLost || to.received(message)),
      end: (end) => later((to) => to.ended(end)),
      to(receiver, on) {
        handler = receiver;
        wire = on;
      },
    };
  }

  function endAll(filter: (wire: Wire) => boolean, end: StreamEnd): void {
    for (const wire of [...wires].filter(filter)) {
      wires.delete(wire);
      wire.isEnded = true;
      wire.end(end);
    }
  }

  return {
    listen(next) {
      acceptor = next;
      if (next === undefined) endAll(() => true, { code: "Unreachable", reason: "the management server is down" });
    },
    connector: (clusterName) => ({
      async connect(handler, progress, signal) {
        progress("connecting", "connecting in memory");
        signal.throwIfAborted();
        if (broken.has(clusterName))
          throw new RelayError("Unreachable", `the network between ${clusterName} and the management server is cut`);
        if (acceptor === undefined) throw new RelayError("Unreachable", "the management server is down");
        return open(clusterName, acceptor, handler);
      },
    }),
    cut(clusterName) {
      broken.add(clusterName);
      endAll((wire) => wire.clusterName === clusterName, {
        code: "Unreachable",
        reason: `the network between ${clusterName} and the management server was cut`,
      });
    },
    silence(clusterName) {
      broken.add(clusterName);
      for (const wire of wires) if (wire.clusterName === clusterName) wire.isLost = true;
    },
    heal(clusterName) {
      broken.delete(clusterName);
    },
  };
}

interface Line<M> {
  send(message: M): void;
  end(end: StreamEnd): void;
  to(handler: StreamHandler<M>, wire: Wire): void;
}
