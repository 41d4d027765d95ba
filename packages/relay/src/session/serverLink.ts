import { formatRef, SortedMap, uptimeOf } from "@isthmus/core";
import type { ConnectRequest, ConnectResponse } from "../gen/relay/v1/relay_pb.ts";
import { type Peer, presentedBy, type Stream, type StreamEnd, type StreamHandler } from "./connection.ts";
import { startCounters } from "./counters.ts";
import { type DesiredState, updateDesired, withoutDeletions } from "./desiredState.ts";
import type { Inventory } from "./inventory.ts";
import type { Ledger } from "./ledger.ts";
import type { AgentInfo } from "./link.ts";
import { askOver, type LiveStream, type QuerySender } from "./liveStream.ts";
import { type NoticeItem, noticeItems, withItems } from "./notices.ts";
import { ACCEPT_ALL } from "./reportFilter.ts";
import type { RunningServerLink, ServerLinkOptions } from "./serverLinkOptions.ts";
import { countReceived, countSent, logSent, noteRefused, noteResync, sessionMetrics } from "./serverMetrics.ts";
import {
  type PreviousSession,
  previousSessionOf,
  type ServerEffect,
  type ServerEvent,
  serverSession,
  serverWakeAt,
  stepServer,
} from "./serverSession.ts";
import { startSyncLimiter } from "./syncLimiter.ts";
import { startTicker } from "./ticker.ts";
import { MAX_MESSAGE_BYTES } from "./wire.ts";

const HEARTBEAT_MS = 10_000;

// An agent may have 3 MB on their way, and the windows of a connection are 8 MiB: together no more than 128 MiB. A server that is
// busy with as many agents is busy throughout: more would not be ready sooner.
const PLACES = 16;

/** Serves the agents whose streams a transport hands over, until the signal is aborted. */
export function startServerLink(options: ServerLinkOptions, signal: AbortSignal): RunningServerLink {
  const {
    serverId,
    handler,
    clock,
    random,
    log,
    heartbeatMs = HEARTBEAT_MS,
    maxMessageBytes = MAX_MESSAGE_BYTES,
    remembers = () => false,
    tellsFirst = false,
    places = PLACES,
    reportFilter = ACCEPT_ALL,
  } = options;
  const admission = startSyncLimiter({ places, clock });
  const counters = startCounters();
  const wants = new Map<string, DesiredState>();
  /** What the agents should know, by cluster. */
  const notices = new Map<string, SortedMap<NoticeItem>>();
  /** The stream of each cluster; streams that have not said hello are in `guests`. */
  const clusters = new Map<string, LiveStream>();
  const guests = new Set<LiveStream>();
  /** What agents that are offline had reported. */
  const memories = new Map<string, Inventory>();
  /** How much of them the loops have taken. */
  const ledgers = new Map<string, Ledger>();

  function step(live: LiveStream, event: ServerEvent): readonly ServerEffect[] {
    const [next, effects] = stepServer(live.session, event);
    live.session = next;
    performAll(live, effects);
    return effects;
  }

  function performAll(live: LiveStream, effects: readonly ServerEffect[]): void {
    for (const effect of effects) {
      if (live.life.signal.aborted) return;
      perform(live, effect);
    }
  }

  function perform(live: LiveStream, effect: ServerEffect): void {
    const { clusterName } = live.peer;
    switch (effect.type) {
      case "send":
        live.isWritable = live.stream.send(effect.message) && live.isWritable;
        countSent(counters, clusterName, effect.message);
        logSent(log, clusterName, effect.message);
        return;
      case "onHello":
        onHello(live, effect.agent, effect.epoch);
        return;
      case "observed":
        countReceived(counters, clusterName, effect.observation);
        handler.observed(clusterName, effect.observation);
        return;
      case "synced":
        handler.synced(clusterName, effect.complete, effect.unserved);
        live.leave();
        return;
      case "acknowledged": {
        const want = wants.get(clusterName);
        if (want !== undefined) wants.set(clusterName, withoutDeletions(want, effect.removed));
        counters.add("relay_server_revisions_acknowledged_total", { cluster: clusterName });
        handler.acknowledged(clusterName, effect.acknowledgement, effect.desired);
        return;
      }
      case "asked":
        return;
      case "answered":
        live.queries.get(effect.id)?.(effect.reply);
        live.queries.delete(effect.id);
        return;
      case "refused":
        noteRefused({ log, counters }, clusterName, { ...effect, address: live.peer.address });
        return;
      case "exceeded":
        handler.exceeded?.(clusterName, effect.excess);
        return;
      case "booked":
        handler.booked?.(clusterName, effect.bytes);
        return;
      case "resync":
        noteResync({ log, counters }, clusterName, effect);
        return;
      case "end":
        finish(live, effect);
        return;
    }
  }

  function pastOf(clusterName: string): PreviousSession {
    const remembered = rememberedOf(clusterName);
    const ledger = clusters.get(clusterName)?.session.up.ledger ?? ledgers.get(clusterName);
    return { ...(remembered === undefined ? {} : { lastKnown: remembered }), ...(ledger === undefined ? {} : { ledger }) };
  }

  function rememberedOf(clusterName: string): Inventory | undefined {
    if (!remembers(clusterName)) return undefined;
    const live = clusters.get(clusterName);
    return live === undefined ? memories.get(clusterName) : previousSessionOf(live.session);
  }

  function onHello(live: LiveStream, agent: AgentInfo, epoch: bigint): void {
    const { clusterName } = live.peer;
    const other = clusters.get(clusterName);
    if (other?.session.agent?.instance === agent.instance && other.session.epoch > epoch) {
      finish(live, { code: "Ended", reason: "a newer connection of this agent already exists" });
      return;
    }
    if (other !== undefined) finish(other, { code: "Ended", reason: `a newer connection of ${clusterName} replaced this one` });
    guests.delete(live);
    clusters.set(clusterName, live);
    memories.delete(clusterName);
    const want = wants.get(clusterName);
    if (want !== undefined) step(live, { type: "wanted", step: { state: want, changes: [], unexplained: [] } });
    const told = notices.get(clusterName);
    if (told !== undefined) step(live, { type: "tell", all: told, items: [] });
    live.rearm();
    log.info(
      { cluster: clusterName, agent: agent.instance, version: agent.version, address: live.peer.address },
      `agent of ${clusterName} connected`,
    );
    counters.add("relay_server_connections_total", { cluster: clusterName });
    handler.connected(clusterName, { ...agent, ...presentedBy(live.peer) });
  }

  /** Ends a stream from this end. */
  function finish(live: LiveStream, end: StreamEnd): void {
    if (live.life.signal.aborted) return;
    live.stream.end(end);
    ended(live, end);
  }

  function ended(live: LiveStream, { code, reason }: StreamEnd): void {
    if (live.life.signal.aborted) return;
    live.life.abort();
    live.leave();
    guests.delete(live);
    for (const settle of live.queries.values()) settle({ error: `the agent's connection ended: ${reason}` });
    const { clusterName } = live.peer;
    // A stream whose place was taken says nothing about its cluster any more.
    if (clusters.get(clusterName) !== live) return;
    clusters.delete(clusterName);
    const memory = previousSessionOf(live.session);
    if (memory !== undefined) memories.set(clusterName, memory);
    ledgers.set(clusterName, live.session.up.ledger);
    log.info({ cluster: clusterName, code }, `connection of ${clusterName} ended: ${reason}`);
    handler.disconnected(clusterName, reason);
  }

  /** An agent's first message counts when there is a place for it. */
  function arrived(live: LiveStream, hello: ConnectRequest): void {
    live.hello = hello;
    live.leave = admission.enter(() => {
      live.hello = undefined;
      take(live, hello);
    });
    // It may have been let in, and disconnected at once.
    if (live.life.signal.aborted) live.leave();
  }

  function take(live: LiveStream, message: ConnectRequest): void {
    const past = message.body.case === "hello" ? pastOf(live.peer.clusterName) : undefined;
    step(live, { type: "received", message, now: uptimeOf(clock), ...(past === undefined ? {} : { past }) });
    pumpSoon(live);
  }

  function pumpSoon(live: LiveStream): void {
    if (live.isPumping) return;
    live.isPumping = true;
    queueMicrotask(() => {
      live.isPumping = false;
      pump(live);
    });
  }

  function pump(live: LiveStream): void {
    while (live.isWritable && !live.life.signal.aborted && step(live, { type: "flush" }).length > 0);
  }

  function due(live: LiveStream): void {
    const now = uptimeOf(clock);
    step(live, live.hello === undefined ? { type: "tick", now } : { type: "waits", hello: live.hello, now });
  }

  function accept(peer: Peer, stream: Stream<ConnectResponse>): StreamHandler<ConnectRequest> {
    const { clusterName, clusterUid, expiresAt } = peer;
    const life = new AbortController();
    const session = serverSession({
      clusterName,
      clusterUid,
      reportFilter,
      serverId,
      heartbeatMs,
      maxMessageBytes,
      // By the time of the session, which nobody sets.
      expiresAt: expiresAt === undefined ? undefined : uptimeOf(clock) + expiresAt - clock.now(),
      tellsFirst,
      desired: undefined,
      now: uptimeOf(clock),
    });
    const live: LiveStream = {
      peer,
      stream,
      life,
      queries: new Map(),
      session,
      isWritable: true,
      isPumping: false,
      hello: undefined,
      leave: () => undefined,
      rearm: () => ticker.rearm(),
    };
    const ticker = startTicker({ clock, wakeAt: () => serverWakeAt(live.session), due: () => due(live) }, life.signal);
    guests.add(live);
    if (signal.aborted) finish(live, STOPPING);
    return {
      received(message) {
        if (life.signal.aborted) return;
        counters.add("relay_server_messages_received_total", { cluster: clusterName, type: message.body.case ?? "" });
        if (live.hello !== undefined) finish(live, { code: "Protocol", reason: "the agent sent more messages before it was accepted" });
        else if (live.session.agent === undefined && message.body.case === "hello") arrived(live, message);
        else take(live, message);
      },
      drained() {
        live.isWritable = true;
        pump(live);
      },
      ended: (end) => ended(live, end),
    };
  }

  const closed = new Promise<void>((resolve) => {
    const stop = () => {
      for (const live of [...clusters.values(), ...guests]) finish(live, STOPPING);
      resolve();
    };
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });

  return {
    accept,
    closed,
    setDesired(clusterName, wanted, why) {
      const before = wants.get(clusterName);
      if (before?.desired === wanted) return;
      const result = updateDesired(before, wanted, why);
      wants.set(clusterName, result.state);
      for (const ref of result.unexplained) {
        log.error({ cluster: clusterName, object: formatRef(ref) }, `${formatRef(ref)} is kept: its delete has no recorded cause`);
        counters.add("relay_server_unexplained_removals_total", { cluster: clusterName });
      }
      const live = clusters.get(clusterName);
      if (live === undefined) return;
      // The loops must not be called from inside their own call.
      const [next, effects] = stepServer(live.session, { type: "wanted", step: result });
      live.session = next;
      if (effects.length > 0) queueMicrotask(() => performAll(live, effects));
      pumpSoon(live);
    },
    sendNotices(clusterName, told) {
      const items = noticeItems(told);
      const all = withItems(notices.get(clusterName) ?? SortedMap.empty(), items);
      notices.set(clusterName, all);
      const live = clusters.get(clusterName);
      if (live === undefined) return;
      step(live, { type: "tell", all, items });
      pumpSoon(live);
    },
    disconnect(clusterName, reason, code = "Refused") {
      const live = clusters.get(clusterName);
      // Should it be registered again, what was desired of it says nothing of what is then.
      if (code === "Deregistered") wants.delete(clusterName);
      queueMicrotask(() => {
        if (live !== undefined) finish(live, { code, reason });
        if (code !== "Ended") for (const guest of guests) if (guest.peer.clusterName === clusterName) finish(guest, { code, reason });
        // Anyone who comes next under this name tells everything.
        memories.delete(clusterName);
        if (code !== "Ended") ledgers.delete(clusterName);
      });
    },
    async ask(clusterName, query, asking) {
      asking.throwIfAborted();
      const live = clusters.get(clusterName);
      if (live === undefined) throw new Error(`no agent of ${clusterName} is connected to this server`);
      const ask: QuerySender = (to, asked) => step(to, { type: "ask", query: asked }).find((effect) => effect.type === "asked")?.id;
      return askOver(live, query, { ask, signal: asking });
    },
    drain(reconnectAfterMs) {
      // Spread, so that the next server is not called by all at once.
      for (const live of clusters.values())
        step(live, { type: "drain", reconnectAfterMs: Math.round(reconnectAfterMs * (0.5 + random())) });
    },
    metrics() {
      const known = [...new Set([...wants.keys(), ...clusters.keys()])];
      return [...counters.metrics(), ...known.flatMap((clusterName) => sessionMetrics(clusterName, clusters.get(clusterName)?.session))];
    },
  };
}

const STOPPING: StreamEnd = { code: "Ended", reason: "the management server is stopping" };
