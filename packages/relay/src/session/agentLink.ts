import { type Clock, formatRef, type Log, type Metric, messageOf, onAbort, uptimeOf } from "@isthmus/core";
import type { ConnectRequest } from "../gen/relay/v1/relay_pb.ts";
import { type AgentEffect, type AgentEvent, agentSession, agentWakeAt, isConnected, stepAgent, unreportedObjects } from "./agentSession.ts";
import type { AgentStreamHandler, Connector, Stream, StreamEnd } from "./connection.ts";
import { startCounters } from "./counters.ts";
import type { AgentInfo, AgentLink, AgentLinkHandler } from "./link.ts";
import type { Query, Reply } from "./queries.ts";
import { reconnectMs, STABLE_AFTER_MS } from "./reconnection.ts";
import { RelayError } from "./relayError.ts";
import { startTicker } from "./ticker.ts";
import { shortened } from "./wire.ts";

export interface AgentLinkOptions {
  readonly clusterName: string;
  /** `kindKeyOf` of every kind that the agent reports. The server acts when each of them is known, or known to be unserved. */
  readonly kinds: readonly string[];
  /** Those of them whose objects users write to ask something of the plane: a server that is too old for that does not hear of them. */
  readonly userKinds?: readonly string[];
  readonly agent: Omit<AgentInfo, "features">;
  readonly connector: Connector;
  readonly handler: AgentLinkHandler;
  /** How much the server may want in the cluster at a time, in bytes of JSON; each object counts at least 1 KiB. Default: 1 GiB. */
  readonly maxDesiredBytes?: number;
  readonly clock: Clock;
  /** 0..1 */
  readonly random: () => number;
  readonly log: Log;
  /** Answers the server's queries; a rejection is sent to the server as its message. */
  readonly answer?: (query: Query, signal: AbortSignal) => Promise<Uint8Array>;
}

export interface RunningAgentLink extends AgentLink {
  /** Something has changed by which a connection may succeed that did not: it is tried at once instead of after the usual pause. */
  retry(): void;
  /** Settles when the link was aborted and its stream has ended. */
  readonly closed: Promise<void>;
  metrics(): readonly Metric[];
}

// People read the first few; all are counted.
const MAX_LINES = 20;

/** How a stream ended, and how soon the next one may be tried if the usual pause doesn't apply. */
interface Ended extends StreamEnd {
  readonly afterMs?: number;
}

/** What belongs to one stream. */
interface Open {
  readonly stream: Stream<ConnectRequest>;
  readonly life: AbortController;
  readonly finish: (ended: Ended) => void;
  isWritable: boolean;
  rearm(): void;
}

/** Keeps a stream to the server open until the signal is aborted: connects, and connects again after any end of it. */
export function startAgentLink(options: AgentLinkOptions, signal: AbortSignal): RunningAgentLink {
  const { clusterName, connector, handler, clock, random, log, answer } = options;
  const counters = startCounters();
  let session = agentSession(options);
  let open: Open | undefined;
  let lastEpoch = 0n;
  let isPumping = false;
  /** Ends the pause before the next try; and whether there is reason to, where it was said during a try. */
  let pause = new AbortController();
  let isWoken = false;

  function step(event: AgentEvent): number {
    const [next, effects] = stepAgent(session, event);
    session = next;
    for (const effect of effects) perform(effect);
    return effects.filter(({ type }) => type === "send").length;
  }

  function perform(effect: AgentEffect): void {
    switch (effect.type) {
      case "send":
        if (open === undefined) return;
        open.isWritable = open.stream.send(effect.message) && open.isWritable;
        counters.add("relay_agent_messages_sent_total", { type: effect.message.body.case ?? "" });
        return;
      case "deliver":
        handler.desired(effect.desired);
        return;
      case "told":
        handler.notices(effect.notices);
        return;
      case "welcomed":
        // The server has said how often it wants to hear of us.
        open?.rearm();
        handler.welcomed?.(effect.features);
        handler.state("connected", `connected to the management server ${effect.serverId}`);
        return;
      case "ask":
        void reply(effect);
        return;
      case "untold":
        for (const { ref, message } of effect.objects.slice(0, MAX_LINES)) {
          const object = shortened(formatRef(ref));
          log.warn({ cluster: clusterName, object }, shortened(`not reported to the management server: ${object} ${message}`));
        }
        if (effect.objects.length > MAX_LINES) {
          const more = effect.objects.length - MAX_LINES;
          log.warn({ cluster: clusterName, objects: more }, `${more} more objects are not reported to the management server`);
        }
        counters.add("relay_agent_objects_untold_total", {}, effect.objects.length);
        return;
      case "resync":
        log.warn({ cluster: clusterName, direction: effect.direction }, `resync: ${effect.reason}`);
        counters.add("relay_agent_resyncs_total", { direction: effect.direction });
        return;
      case "end":
        finish({ code: effect.code, reason: effect.reason });
        return;
      case "drain":
        finish({ code: "Ended", reason: "the management server is shutting down", afterMs: effect.reconnectAfterMs });
        return;
    }
  }

  async function reply({ epoch, id, query }: Extract<AgentEffect, { type: "ask" }>): Promise<void> {
    const life = open?.life.signal ?? signal;
    const answered: Reply =
      answer === undefined
        ? { error: "this agent does not answer queries" }
        : await answer(query, life).then(
            (body) => ({ body }),
            (error: unknown) => ({ error: messageOf(error) }),
          );
    step({ type: "answered", epoch, id, reply: answered });
    pumpSoon();
  }

  /** Ends the own end of the stream. */
  function finish(ended: Ended): void {
    open?.stream.end(ended);
    open?.finish(ended);
  }

  // Everything that the loops say in one turn goes together.
  function pumpSoon(): void {
    if (isPumping) return;
    isPumping = true;
    queueMicrotask(() => {
      isPumping = false;
      pump();
    });
  }

  function pump(): void {
    while (open?.isWritable && step({ type: "flush" }) > 0);
  }

  async function connection(): Promise<Ended> {
    handler.state("connecting", "connecting to the management server");
    const life = new AbortController();
    let finishStream: (ended: Ended) => void = () => undefined;
    const ended = new Promise<Ended>((resolve) => {
      finishStream = resolve;
    });
    const streamHandler: AgentStreamHandler = {
      received(message) {
        if (life.signal.aborted) return;
        counters.add("relay_agent_messages_received_total", { type: message.body.case ?? "" });
        step({ type: "received", message, now: uptimeOf(clock) });
        pumpSoon();
      },
      drained() {
        if (open === undefined || life.signal.aborted) return;
        open.isWritable = true;
        pump();
      },
      ended: finishStream,
      replace: (reason) => finish({ code: "Ended", reason, afterMs: 0 }),
    };
    const stream = await connector.connect(streamHandler, handler.state, signal);
    const stopped = () => finish({ code: "Ended", reason: "the agent is stopping" });
    signal.addEventListener("abort", stopped, { once: true });
    open = { stream, life, finish: finishStream, isWritable: true, rearm: () => ticker.rearm() };
    lastEpoch = nextEpoch();
    step({ type: "opened", epoch: lastEpoch, now: uptimeOf(clock) });
    const ticker = startTicker(
      { clock, wakeAt: () => agentWakeAt(session), due: () => step({ type: "tick", now: uptimeOf(clock) }) },
      life.signal,
    );
    if (signal.aborted) stopped();
    const end = await ended;
    signal.removeEventListener("abort", stopped);
    life.abort();
    open = undefined;
    step({ type: "closed" });
    return end;
  }

  /** Grows also over restarts of the process, as far as its clock does. */
  function nextEpoch(): bigint {
    const now = BigInt(Math.max(0, Math.floor(clock.now())));
    return now > lastEpoch ? now : lastEpoch + 1n;
  }

  async function paused(ms: number): Promise<void> {
    pause = new AbortController();
    const forget = onAbort(signal, () => pause.abort());
    // Rejects when there is nothing to wait for any more.
    await clock.sleep(ms, pause.signal).catch(() => undefined);
    forget();
  }

  async function run(): Promise<void> {
    let attempt = 0;
    while (!signal.aborted) {
      const began = uptimeOf(clock);
      isWoken = false;
      const end = await connection().catch((error: unknown): Ended => {
        if (error instanceof RelayError) return { code: error.code, reason: error.message };
        if (signal.aborted) return { code: "Ended", reason: "the agent is stopping" };
        throw error;
      });
      if (signal.aborted) break;
      attempt = uptimeOf(clock) - began >= STABLE_AFTER_MS ? 1 : attempt + 1;
      const delayMs = end.afterMs ?? reconnectMs(attempt, end.code, random);
      counters.add("relay_agent_streams_ended_total", { code: end.code });
      log.warn(
        { cluster: clusterName, code: end.code, retryMs: Math.round(delayMs) },
        `no connection to the management server: ${end.reason}`,
      );
      handler.state("waiting", end.reason, end.code);
      if (!isWoken) await paused(delayMs);
    }
    handler.state("closed", "the agent is stopping");
  }

  return {
    observe(observation) {
      step({ type: "observed", observation });
      pumpSoon();
    },
    synced(kinds, unserved) {
      step({ type: "synced", kinds, unserved });
      pumpSoon();
    },
    acknowledge(acknowledgement) {
      step({ type: "acknowledged", acknowledgement });
      pumpSoon();
    },
    retry() {
      if (open !== undefined) return;
      isWoken = true;
      pause.abort();
    },
    closed: run(),
    metrics: () => [
      ...counters.metrics(),
      { name: "relay_agent_connected", labels: {}, value: isConnected(session) ? 1 : 0 },
      { name: "relay_agent_outbox_objects", labels: {}, value: unreportedObjects(session) },
    ],
  };
}
