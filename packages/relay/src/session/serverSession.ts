import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { SortedMap } from "@isthmus/core";
import {
  AskSchema,
  type ConnectRequest,
  type ConnectResponse,
  ConnectResponseSchema,
  DrainSchema,
  HeartbeatSchema,
  type Hello,
  KindDigestSchema,
  LimitsSchema,
  ResyncSchema,
  WelcomeSchema,
} from "../gen/relay/v1/relay_pb.ts";
import { namedKinds, problemOfHello, serviceFrom } from "./bounds.ts";
import type { DesiredState, DesiredStep } from "./desiredState.ts";
import { digestOfAll, emptyInventory, type Inventory, onlyKinds } from "./inventory.ts";
import type { Ledger } from "./ledger.ts";
import type { AgentInfo, Observation } from "./link.ts";
import { isHeartbeatDue, isOverdue, type Liveness, nextCheck, onReceived, onSent, startLiveness } from "./liveness.ts";
import { NOTICE, type NoticeItem, nextNotice, noticeDigest, type ServerNotices, startSendingNotices, takeItems } from "./notices.ts";
import { type PartialAnswer, type Query, type Reply, withPart } from "./queries.ts";
import { ACCEPT_ALL, type QuotaExcess, type RefusalReason, type ReportFilter } from "./reportFilter.ts";
import { agreeingKinds } from "./resync.ts";
import { type Acknowledged, nextDown, type ServerDown, startOver, startSending, takeAck, takeDesired } from "./serverDown.ts";
import { checkReported, quotaExcessOf, type ServerUp, startReceiving, takeSyncComplete, takeUp, type UpStep } from "./serverUp.ts";
import { TRACES_FEATURE } from "./traces.ts";
import { FEATURES, MAX_MESSAGE_BYTES, OLDEST_PROTOCOL_VERSION, PROTOCOL_VERSION } from "./wire.ts";

/** The server's end of one agent's stream, as a value: `stepServer` is all that changes it. It knows neither sockets nor clocks. */
export interface ServerSession {
  /** From the transport's security. */
  readonly clusterName: string;
  /** The UID of the cluster that the transport's security vouches for; undefined where it says none. */
  readonly clusterUid: string | undefined;
  readonly reportFilter: ReportFilter;
  readonly serverId: string;
  readonly heartbeatMs: number;
  /** Of a message of either end. */
  readonly maxMessageBytes: number;
  /** The agent's certificate expires: the stream ends. */
  readonly expiresAt: number | undefined;
  /** Undefined until the agent's hello. */
  readonly agent: AgentInfo | undefined;
  readonly epoch: bigint;
  readonly liveness: Liveness;
  readonly heartbeats: number;
  readonly up: ServerUp;
  readonly down: ServerDown;
  readonly notices: ServerNotices;
  /** Agents report nothing before the first notice. */
  readonly tellsFirst: boolean;
  /** Queries that wait for their answer. */
  readonly asked: ReadonlyMap<number, PartialAnswer>;
  readonly lastQuery: number;
  /** The revision that the agent says to have applied. */
  readonly applied: number;
}

export type ServerEvent =
  /** `past` counts with a hello. */
  | { readonly type: "received"; readonly message: ConnectRequest; readonly now: number; readonly past?: PreviousSession }
  /** The agent has said this hello and is still to be let in: it hears that the server is there. */
  | { readonly type: "waits"; readonly hello: ConnectRequest; readonly now: number }
  | { readonly type: "wanted"; readonly step: DesiredStep }
  /** `all`: what the agent should know now, of which `items` have changed. */
  | { readonly type: "tell"; readonly all: SortedMap<NoticeItem>; readonly items: readonly NoticeItem[] }
  | { readonly type: "ask"; readonly query: Query }
  | { readonly type: "drain"; readonly reconnectAfterMs: number }
  | { readonly type: "tick"; readonly now: number }
  /** The stream can take more: at most one message comes of it. */
  | { readonly type: "flush" };

/** What earlier streams of the cluster left. */
export interface PreviousSession {
  /** What the loops still know of what the agent reported. */
  readonly lastKnown?: Inventory;
  readonly ledger?: Ledger;
}

export type ServerEffect =
  | { readonly type: "send"; readonly message: ConnectResponse }
  | { readonly type: "onHello"; readonly agent: AgentInfo; readonly epoch: bigint }
  | { readonly type: "observed"; readonly observation: Observation }
  | { readonly type: "synced"; readonly complete: ReadonlyMap<string, ReadonlySet<string>>; readonly unserved: ReadonlySet<string> }
  | ({ readonly type: "acknowledged" } & Acknowledged)
  | { readonly type: "asked"; readonly id: number }
  | { readonly type: "answered"; readonly id: number; readonly reply: Reply }
  | { readonly type: "refused"; readonly objects: ReadonlyMap<RefusalReason, number> }
  /** The agent has reported more than its quota; undefined: no longer. */
  | { readonly type: "exceeded"; readonly excess: QuotaExcess | undefined }
  /** The objects that have been taken of the agent, in bytes. */
  | { readonly type: "booked"; readonly bytes: number }
  | { readonly type: "resync"; readonly direction: "up" | "down"; readonly kinds: readonly string[] }
  /** The stream must end. */
  | { readonly type: "end"; readonly code: "Protocol" | "Unreachable" | "CertificateRefused"; readonly reason: string };

type Step = readonly [ServerSession, readonly ServerEffect[]];

export interface ServerSessionOptions {
  readonly clusterName: string;
  /** Default: nothing says it. */
  readonly clusterUid?: string | undefined;
  /** Default: everything is taken. */
  readonly reportFilter?: ReportFilter;
  readonly serverId: string;
  readonly heartbeatMs: number;
  readonly expiresAt: number | undefined;
  /** Default: 1 MiB. */
  readonly maxMessageBytes?: number;
  /** Default: agents report at once. */
  readonly tellsFirst?: boolean;
  /** What is desired in the cluster so far. */
  readonly desired: DesiredState | undefined;
  readonly now: number;
}

/**
 * The session of a stream that was just opened, whose agent has not sent its hello. `now` and `expiresAt` are milliseconds of `uptimeOf`.
 */
export function serverSession({ desired, now, tellsFirst = false, ...options }: ServerSessionOptions): ServerSession {
  return {
    maxMessageBytes: MAX_MESSAGE_BYTES,
    clusterUid: undefined,
    reportFilter: ACCEPT_ALL,
    ...options,
    tellsFirst,
    agent: undefined,
    epoch: 0n,
    liveness: startLiveness(now),
    heartbeats: 0,
    up: startReceiving(),
    down: startSending(desired),
    notices: startSendingNotices(undefined),
    asked: new Map(),
    lastQuery: 0,
    applied: 0,
  };
}

/** When `tick` is due next. */
export function serverWakeAt({ liveness, expiresAt }: ServerSession): number {
  return Math.min(nextCheck(liveness), expiresAt ?? Number.POSITIVE_INFINITY);
}

/** What the loops know of the agent's reports when its stream ends: nothing to rely on before it was synced, nor of kinds in doubt. */
export function previousSessionOf({ up }: ServerSession): Inventory | undefined {
  if (!up.isSynced) return undefined;
  const isInDoubt = (kind: string) => up.resyncs.has(kind) || up.excess.has(kind);
  const kinds = [...up.held.keys()];
  return kinds.some(isInDoubt)
    ? onlyKinds(
        up.held,
        kinds.filter((kind) => !isInDoubt(kind)),
      )
    : up.held;
}

/**
 * The next session, and the effects to carry out in their order. Messages of another epoch have none; what breaks the protocol gives `end`.
 */
export function stepServer(session: ServerSession, event: ServerEvent): Step {
  switch (event.type) {
    case "received":
      return received({ ...session, liveness: onReceived(session.liveness, event.now) }, event);
    case "waits":
      return waits(session, event.hello, event.now);
    case "wanted": {
      const { down, acknowledged } = takeDesired(session.down, event.step);
      return [{ ...session, down }, acknowledged === undefined ? [] : [{ type: "acknowledged", ...acknowledged }]];
    }
    case "tell":
      return [{ ...session, notices: takeItems(session.notices, event.all, event.items) }, []];
    case "ask": {
      const id = session.lastQuery + 1;
      const ask = create(AskSchema, { id, topic: event.query.topic, body: event.query.body });
      const asked = new Map(session.asked).set(id, { parts: [], bytes: 0 });
      return [{ ...session, asked, lastQuery: id }, [{ type: "asked", id }, send(session, { case: "ask", value: ask })]];
    }
    case "drain": {
      const drain = create(DrainSchema, { reconnectAfterMs: event.reconnectAfterMs });
      return [session, session.agent === undefined ? [] : [send(session, { case: "drain", value: drain })]];
    }
    case "tick":
      return tick(session, event.now);
    case "flush": {
      // Before what is desired: it may say how that is to be taken.
      const told = takesNotices(session) ? nextNotice(session.notices, session.maxMessageBytes) : undefined;
      if (told !== undefined) return [{ ...session, notices: told.notices }, [send(session, { case: "notice", value: told.message })]];
      const next = nextDown(session.down, session.maxMessageBytes);
      if (next === undefined) return [session, []];
      return [{ ...session, down: next.down }, [send(session, { case: "down", value: next.message })]];
    }
  }
}

function received(session: ServerSession, event: Extract<ServerEvent, { type: "received" }>): Step {
  const { epoch, body } = event.message;
  if (session.agent === undefined) {
    return body.case === "hello"
      ? onHello(session, body.value, event)
      : [session, [end("the first message of the agent is not a hello message")]];
  }
  if (epoch !== session.epoch) return [session, []];
  switch (body.case) {
    case "hello":
      return [session, [end("the agent sent its hello message twice")]];
    case "up":
      return heardUp(session, takeUp(session.up, body.value, session));
    case "syncComplete":
      return heardUp(session, takeSyncComplete(session.up, body.value, session));
    case "heartbeat":
      return heardUp(
        { ...session, applied: Math.max(session.applied, body.value.revision) },
        checkReported(session.up, body.value.digests, session),
      );
    case "ack": {
      const { down, acknowledged, broken } = takeAck(session.down, body.value);
      if (broken !== undefined) return [session, [end(broken)]];
      const applied = Math.max(session.applied, acknowledged?.acknowledgement.revision ?? 0);
      return [{ ...session, down, applied }, acknowledged === undefined ? [] : [{ type: "acknowledged", ...acknowledged }]];
    }
    case "resync":
      if (body.value.kinds.includes(NOTICE)) return [{ ...session, notices: startSendingNotices(session.notices.all) }, []];
      return [{ ...session, down: startOver(session.down) }, [{ type: "resync", direction: "down", kinds: namedKinds(body.value.kinds) }]];
    case "answer": {
      const { id } = body.value;
      const before = session.asked.get(id);
      if (before === undefined) return [session, []];
      const reply = withPart(before, body.value);
      const asked = new Map(session.asked);
      if ("parts" in reply) return [{ ...session, asked: asked.set(id, reply) }, []];
      asked.delete(id);
      return [{ ...session, asked }, [{ type: "answered", id, reply }]];
    }
    case undefined:
      // Something that a newer agent says and that this server need not understand.
      return [session, []];
  }
}

// So many batches of at most 128 KB may wait for the server: about 3 MB for each agent.
const MAX_UNACKED_UPS = 32;

function onHello(session: ServerSession, hello: Hello, event: Extract<ServerEvent, { type: "received" }>): Step {
  const { now, past: { lastKnown = emptyInventory, ledger } = {} } = event;
  const { epoch } = event.message;
  if (hello.protocolVersion < OLDEST_PROTOCOL_VERSION) {
    return [
      session,
      [
        end(
          `the agent speaks version ${hello.protocolVersion} of the relay protocol, this server ${OLDEST_PROTOCOL_VERSION} and later: upgrade the agent`,
        ),
      ],
    ];
  }
  const problem = problemOfHello(hello);
  if (problem !== undefined) return [session, [end(`the hello message of the agent is not valid: ${problem}`)]];
  if (session.clusterUid !== undefined && hello.clusterUid !== session.clusterUid) return [session, [ofAnotherCluster(session, hello)]];
  const agent: AgentInfo = {
    instance: hello.instance,
    version: hello.agentVersion,
    agentNamespace: hello.agentNamespace,
    ...(hello.agentEndpoint === undefined ? {} : { service: serviceFrom(hello.agentEndpoint) }),
    clusterUid: hello.clusterUid,
    features: hello.features,
  };
  const knownKinds = hello.features.includes("resume") ? agreeingKinds(lastKnown, hello.digests) : [];
  const up = startReceiving(onlyKinds(lastKnown, knownKinds), ledger);
  const down = { ...session.down, isTraced: hello.features.includes(TRACES_FEATURE) };
  const next = { ...session, agent, epoch, up, down, liveness: { intervalMs: session.heartbeatMs, sentAt: now, receivedAt: now } };
  const welcome = create(WelcomeSchema, {
    protocolVersion: Math.min(hello.protocolVersion, PROTOCOL_VERSION),
    serverId: session.serverId,
    heartbeatIntervalMs: session.heartbeatMs,
    limits: create(LimitsSchema, { maxMessageBytes: session.maxMessageBytes, maxUnackedUps: MAX_UNACKED_UPS }),
    features: [...FEATURES],
    knownKinds: [...knownKinds],
    noticeFirst: session.tellsFirst,
  });
  return [next, [{ type: "onHello", agent, epoch }, send(next, { case: "welcome", value: welcome })]];
}

/** Its identity was copied from another cluster, or its cluster was made again: it has to register as what it is. */
function ofAnotherCluster({ clusterName, clusterUid }: ServerSession, hello: Hello): ServerEffect {
  const reason =
    `the agent of ${clusterName} runs in the cluster with UID ${hello.clusterUid}, but ` +
    `its certificate is for the cluster with UID ${clusterUid}: delete its certificate, so that it registers again`;
  return { type: "end", code: "CertificateRefused", reason };
}

/** An agent that waits says nothing, and is not given up for that; the transport finds connections that are gone. */
function waits(session: ServerSession, { epoch, body }: ConnectRequest, now: number): Step {
  if (hasExpired(session, now)) return [session, [EXPIRED]];
  const isDue = isHeartbeatDue(session.liveness, now);
  const next = {
    ...session,
    liveness: { intervalMs: session.heartbeatMs, sentAt: isDue ? now : session.liveness.sentAt, receivedAt: now },
  };
  // An older agent takes nothing before its welcome: it goes after three heartbeats of silence, and comes back.
  if (!isDue || body.case !== "hello" || !body.value.features.includes("wait")) return [next, []];
  const heartbeat = create(HeartbeatSchema, {});
  return [next, [{ type: "send", message: create(ConnectResponseSchema, { epoch, body: { case: "heartbeat", value: heartbeat } }) }]];
}

function heardUp(session: ServerSession, { up, observation, ack, refused, resync, synced, broken }: UpStep): Step {
  if (broken !== undefined) return [session, [end(broken)]];
  const effects: ServerEffect[] = [];
  if (refused !== undefined) effects.push({ type: "refused", objects: refused });
  if (up.excess !== session.up.excess)
    effects.push({ type: "exceeded", excess: quotaExcessOf(up, session.reportFilter.quota(session.clusterName)) });
  if (up.ledger.bytes !== session.up.ledger.bytes) effects.push({ type: "booked", bytes: up.ledger.bytes });
  if (observation !== undefined) effects.push({ type: "observed", observation });
  // After the loops have taken it: an acknowledged message is not sent again within the epoch.
  if (ack !== undefined) effects.push(send(session, { case: "upAck", value: ack }));
  if (synced !== undefined) effects.push({ type: "synced", ...synced });
  if (resync !== undefined) {
    effects.push({ type: "resync", direction: "up", kinds: resync });
    effects.push(send(session, { case: "resync", value: create(ResyncSchema, { kinds: [...resync] }) }));
  }
  const down = synced === undefined ? session.down : { ...session.down, isOpen: true };
  return [{ ...session, up, down }, effects];
}

function tick(session: ServerSession, now: number): Step {
  if (hasExpired(session, now)) return [session, [EXPIRED]];
  if (isOverdue(session.liveness, now)) {
    return [session, [{ type: "end", code: "Unreachable", reason: "received nothing from the agent for three heartbeat intervals" }]];
  }
  if (!isHeartbeatDue(session.liveness, now)) return [session, []];
  const next = { ...session, heartbeats: session.heartbeats + 1, liveness: onSent(session.liveness, now) };
  if (session.agent === undefined) return [next, []];
  const { down } = session;
  const desired = down.sentRevision === 0 ? [] : [create(KindDigestSchema, { kind: "*", ...digestOfAll(down.held) })];
  const digests = takesNotices(session) ? [...desired, ...noticeDigest(session.notices)] : desired;
  const heartbeat = create(HeartbeatSchema, { seq: next.heartbeats, revision: down.sentRevision, digests });
  return [next, [send(session, { case: "heartbeat", value: heartbeat })]];
}

function hasExpired({ expiresAt }: ServerSession, now: number): boolean {
  return expiresAt !== undefined && now >= expiresAt;
}

const EXPIRED: ServerEffect = { type: "end", code: "CertificateRefused", reason: "the agent's certificate has expired" };

function takesNotices({ agent }: ServerSession): boolean {
  return agent?.features.includes("notices") === true;
}

function send({ epoch }: ServerSession, body: NonNullable<MessageInitShape<typeof ConnectResponseSchema>["body"]>): ServerEffect {
  return { type: "send", message: create(ConnectResponseSchema, { epoch, body }) };
}

function end(reason: string): ServerEffect {
  return { type: "end", code: "Protocol", reason };
}
