import type { Clock, ResourceRef } from "@isthmus/core";
import type { InMemoryNetwork } from "@isthmus/relay/inMemory";
import type { AgentStreamHandler, Connector, Stream } from "@isthmus/relay/session";

export type Down = Parameters<AgentStreamHandler["received"]>[0];
export type Up = Parameters<Awaited<ReturnType<Connector["connect"]>>["send"]>[0];
export type Direction = "up" | "down";

/** What becomes of one message. `late`: it comes a second time after a while, in whatever stream is open then. */
export type WireFault = "drop" | "duplicate" | "swap" | "late";

/** A network that does to messages what none should: the relay must see through it. */
export interface DisturbedNetwork {
  connector(clusterName: string): Connector;
  /** Disturbs the next message. */
  disturb(clusterName: string, direction: Direction, fault: WireFault): void;
  /** A message of an earlier stream comes again, in the stream that is open now: the `back`th before its end. */
  replay(clusterName: string, direction: Direction, back: number): void;
  /**
   * The beginning of an earlier stream comes again in the next one, after its first message and before anything else: `back`
   * streams ago, so many messages of those that say something.
   */
  replayAtOpening(clusterName: string, direction: Direction, earlier: Earlier): void;
  /** The next desired set also orders a removal for which it gives no evidence, as an old or broken server might. */
  forgeRemoval(clusterName: string, ref: ResourceRef): void;
  heal(): void;
}

export interface Earlier {
  readonly back: number;
  readonly messages: number;
}

export interface DisturbedNetworkOptions {
  readonly network: InMemoryNetwork;
  readonly clock: Clock;
  readonly lateMs: number;
  /** An end has sent a message, whatever becomes of it. */
  readonly sent: (clusterName: string, message: Down | Up) => void;
  /** Tampers with a message that comes out of its time; `epoch` is that of the stream it comes into. */
  readonly outOfTime?: <M extends Down | Up>(message: M, epoch: bigint) => M;
  readonly forged?: (message: Down) => Down;
}

/** One way through one stream. */
interface Line<M> {
  readonly stream: number;
  readonly deliver: (message: M) => void;
}

/** One direction of one cluster, over all its streams. */
class Way<M extends Down | Up> {
  readonly #options: DisturbedNetworkOptions;
  readonly #archive: { readonly stream: number; readonly message: M }[] = [];
  #faults: WireFault[] = [];
  #held: M | undefined;
  /** What comes again after the first message of the next stream. */
  #atOpening: Earlier[] = [];
  #isOpening = false;
  #line: Line<M> | undefined;
  #epoch = 0n;
  #heals = 0;

  constructor(options: DisturbedNetworkOptions) {
    this.#options = options;
  }

  open(line: Line<M>): void {
    this.#line = line;
    this.#held = undefined;
    this.#isOpening = true;
  }

  pass(line: Line<M>, message: M): void {
    this.#epoch = message.epoch;
    if (SAYS_SOMETHING.has(message.body.case ?? "")) this.#archive.push({ stream: line.stream, message });
    if (this.#archive.length > ARCHIVED) this.#archive.shift();
    const fault = isOutcome(message) ? undefined : this.#faults.shift();
    if (fault === "drop") return;
    if (fault === "swap" && this.#held === undefined) {
      this.#held = message;
      return;
    }
    line.deliver(message);
    if (fault === "duplicate") line.deliver(message);
    if (fault === "late") {
      const heals = this.#heals;
      void this.#options.clock.sleep(this.#options.lateMs).then(() => {
        if (heals === this.#heals) this.#outOfTime(message);
      });
    }
    if (this.#held !== undefined) line.deliver(this.#held);
    this.#held = undefined;
    if (!this.#isOpening) return;
    this.#isOpening = false;
    const streams = [...new Set(this.#archive.map(({ stream }) => stream).filter((stream) => stream !== line.stream))];
    for (const { back, messages } of this.#atOpening.splice(0)) {
      const again = streams.at(-1 - (back % Math.max(1, streams.length)));
      const old = this.#archive.filter(({ stream }) => stream === again).slice(0, messages);
      for (const { message: next } of old) this.#outOfTime(next);
    }
  }

  disturb(fault: WireFault): void {
    this.#faults.push(fault);
  }

  replay(back: number): void {
    const past = this.#archive.filter(({ stream }) => stream !== this.#line?.stream);
    const found = past[past.length - 1 - (back % Math.max(1, past.length))];
    if (found !== undefined) this.#outOfTime(found.message);
  }

  replayAtOpening(earlier: Earlier): void {
    this.#atOpening.push(earlier);
  }

  #outOfTime(message: M): void {
    this.#line?.deliver(this.#options.outOfTime?.(message, this.#epoch) ?? message);
  }

  /** What is under way out of its time is lost. */
  heal(): void {
    this.#faults = [];
    this.#atOpening = [];
    this.#heals++;
  }
}

/** So many messages are kept of each way. */
export const ARCHIVED = 96;
/** What an earlier message could do harm with, if it were taken for one of today. */
const SAYS_SOMETHING: ReadonlySet<string> = new Set(["up", "syncComplete", "down"]);

/**
 * What became of writes: within a stream nothing replaces an answer that was lost or overtaken, as no transport does that.
 * It comes again with the next stream.
 */
function isOutcome({ body }: Down | Up): boolean {
  return body.case === "ack";
}

export function disturbedNetwork(options: DisturbedNetworkOptions): DisturbedNetwork {
  const downs = new Map<string, Way<Down>>();
  const ups = new Map<string, Way<Up>>();
  const forgeries = new Map<string, ResourceRef>();
  let streams = 0;

  function wayOf<M extends Down | Up>(ways: Map<string, Way<M>>, clusterName: string): Way<M> {
    const way = ways.get(clusterName) ?? new Way<M>(options);
    ways.set(clusterName, way);
    return way;
  }

  function either(clusterName: string, direction: Direction): Pick<Way<Down>, "disturb" | "replay" | "replayAtOpening"> {
    return direction === "up" ? wayOf(ups, clusterName) : wayOf(downs, clusterName);
  }

  function withForgery(clusterName: string, message: Down): Down {
    const ref = forgeries.get(clusterName);
    if (ref === undefined || message.body.case !== "down") return message;
    forgeries.delete(clusterName);
    const { value } = message.body;
    const removal = { $typeName: "relay.v1.Removal", ref: { $typeName: "relay.v1.ResourceRef", ...ref } };
    const forged = { ...message, body: { case: "down", value: { ...value, deletes: [...value.deletes, removal] } } } as Down;
    return options.forged?.(forged) ?? forged;
  }

  return {
    connector(clusterName) {
      const connector = options.network.connector(clusterName);
      return {
        async connect(handler, progress, signal) {
          const stream = ++streams;
          const down = wayOf(downs, clusterName);
          const downLine: Line<Down> = { stream, deliver: (message) => handler.received(withForgery(clusterName, message)) };
          let inner: Stream<Up> | undefined;
          const watching: AgentStreamHandler = {
            received(message) {
              options.sent(clusterName, message);
              down.pass(downLine, message);
            },
            drained: () => handler.drained(),
            ended: (end) => handler.ended(end),
            replace: (reason) => handler.replace(reason),
          };
          inner = await connector.connect(watching, progress, signal);
          const up = wayOf(ups, clusterName);
          let isWritable = true;
          const upLine: Line<Up> = {
            stream,
            deliver: (message) => {
              isWritable = inner.send(message) && isWritable;
            },
          };
          down.open(downLine);
          up.open(upLine);
          return {
            send(message) {
              options.sent(clusterName, message);
              up.pass(upLine, message);
              return isWritable;
            },
            end: (end) => inner.end(end),
          };
        },
      };
    },
    disturb: (clusterName, direction, fault) => either(clusterName, direction).disturb(fault),
    replay: (clusterName, direction, back) => either(clusterName, direction).replay(back),
    replayAtOpening: (clusterName, direction, earlier) => either(clusterName, direction).replayAtOpening(earlier),
    forgeRemoval: (clusterName, ref) => forgeries.set(clusterName, ref),
    heal() {
      forgeries.clear();
      for (const way of [...downs.values(), ...ups.values()]) way.heal();
    },
  };
}
