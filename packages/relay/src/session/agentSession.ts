import { create } from "@bufbuild/protobuf";
import {
  AgentEndpointSchema,
  type Answer,
  type ConnectRequest,
  ConnectRequestSchema,
  type ConnectResponse,
  HeartbeatSchema,
  HelloSchema,
  type Rejection as RejectionMessage,
  type Resync,
  ResyncSchema,
  type Welcome,
} from "../gen/relay/v1/relay_pb.ts";
import { type AgentDown, acknowledge, checkDesired, type DownStep, startDown, takePart } from "./agentDown.ts";
import {
  type AgentUp,
  type AgentView,
  emptyView,
  markSynced,
  mute,
  nextUp,
  observe,
  type RequestBody,
  restart,
  resume,
  sentDigests,
  startUp,
  type UpLimits,
} from "./agentUp.ts";
import { maxNoticeBytes } from "./intake.ts";
import type { Acknowledgement, AgentInfo, DesiredUpdate, Notices, Observation, Rejection, Withheld } from "./link.ts";
import { isHeartbeatDue, isOverdue, type Liveness, nextCheck, onReceived, onSent, startLiveness } from "./liveness.ts";
import {
  type AgentNotices,
  hasMissedNotices,
  NOTICE,
  type NoticeStep,
  requestNoticesAgain,
  startReceivingNotices,
  takeNotice,
} from "./notices.ts";
import { answerParts, MAX_ANSWER_PARTS, MAX_QUERIES, type Query, type Reply } from "./queries.ts";
import { TRACES_FEATURE } from "./traces.ts";
import {
  FEATURES,
  MAX_MESSAGE_BYTES,
  OLDEST_PROTOCOL_VERSION,
  PROTOCOL_VERSION,
  rejectionFrom,
  shortened,
  USER_RESOURCES,
} from "./wire.ts";

/** The agent's end of the protocol, as a value: `stepAgent` is all that changes it. It knows neither sockets nor clocks. */
export interface AgentSession {
  readonly clusterName: string;
  readonly agent: Omit<AgentInfo, "features">;
  /** Kinds that only a server with the feature for users' resources is to hear of. */
  readonly userKinds: readonly string[];
  readonly view: AgentView;
  readonly stream: AgentStream | undefined;
  /** What the stream before had sent, and what has changed since: a server that remembers it need not hear it again. */
  readonly past: AgentUp | undefined;
  /** How much the server may want here at a time, in bytes; undefined: the usual. */
  readonly maxDesiredBytes: number | undefined;
  /** Revisions of earlier epochs: a later epoch's are counted on from here, so that an answer to an older one is known as such. */
  readonly pastRevisions: number;
}

/** What belongs to one stream and is void after it. */
interface AgentStream {
  readonly epoch: bigint;
  /** Undefined until the server's welcome. */
  readonly limits: UpLimits | undefined;
  readonly liveness: Liveness;
  readonly heartbeats: number;
  readonly up: AgentUp;
  readonly down: AgentDown;
  readonly notices: AgentNotices;
  /** Nothing is reported before the server's first notice is there. */
  readonly awaitsNotice: boolean;
  /** Parts of answers to send. */
  readonly answers: readonly Answer[];
  readonly openQueries: number;
}

export type AgentEvent =
  | { readonly type: "opened"; readonly epoch: bigint; readonly now: number }
  | { readonly type: "received"; readonly message: ConnectResponse; readonly now: number }
  | { readonly type: "closed" }
  | { readonly type: "observed"; readonly observation: Observation }
  | { readonly type: "synced"; readonly kinds: readonly string[]; readonly unserved: readonly string[] }
  | { readonly type: "acknowledged"; readonly acknowledgement: Acknowledgement }
  | { readonly type: "answered"; readonly epoch: bigint; readonly id: number; readonly reply: Reply }
  /** Time has passed. */
  | { readonly type: "tick"; readonly now: number }
  /** The stream can take more: at most one message comes of it. */
  | { readonly type: "flush" };

export type AgentEffect =
  | { readonly type: "send"; readonly message: ConnectRequest }
  | { readonly type: "deliver"; readonly desired: DesiredUpdate }
  | { readonly type: "told"; readonly notices: Notices }
  | { readonly type: "welcomed"; readonly serverId: string; readonly features: readonly string[] }
  | { readonly type: "ask"; readonly epoch: bigint; readonly id: number; readonly query: Query }
  /** Objects that were not sent, or that the server did not take. */
  | { readonly type: "untold"; readonly objects: readonly (Withheld | Rejection)[] }
  | { readonly type: "resync"; readonly direction: "up" | "down"; readonly reason: string }
  /** The stream must end. */
  | { readonly type: "end"; readonly code: "Protocol" | "Unreachable"; readonly reason: string }
  | { readonly type: "drain"; readonly reconnectAfterMs: number };

type Step = readonly [AgentSession, readonly AgentEffect[]];

/** A session without a stream, which has observed nothing. `kinds` (`kindKeyOf`) are all that the agent reports, `userKinds` among them. */
export function agentSession(
  options: Pick<AgentSession, "clusterName" | "agent"> & {
    readonly kinds: readonly string[];
    readonly userKinds?: readonly string[];
    readonly maxDesiredBytes?: number;
  },
): AgentSession {
  const { clusterName, agent, kinds, userKinds = [], maxDesiredBytes } = options;
  return { clusterName, agent, userKinds, maxDesiredBytes, view: emptyView(kinds), stream: undefined, past: undefined, pastRevisions: 0 };
}

/** When `tick` is due next; undefined while there is no stream. */
export function agentWakeAt({ stream }: AgentSession): number | undefined {
  return stream === undefined ? undefined : nextCheck(stream.liveness);
}

/** Whether the server has said its welcome. */
export function isConnected({ stream }: AgentSession): boolean {
  return stream?.limits !== undefined;
}

/** How many objects have still to be sent to the server. */
export function unreportedObjects({ stream, view }: AgentSession): number {
  return stream === undefined ? view.objects.size : stream.up.outbox.size;
}

/**
 * The next session, and the effects to carry out in their order. Messages of another epoch have none; what breaks the protocol gives `end`.
 */
export function stepAgent(session: AgentSession, event: AgentEvent): Step {
  const { stream } = session;
  switch (event.type) {
    case "opened":
      return opened(closed(session), event);
    case "closed":
      return [closed(session), []];
    case "observed": {
      const [view, up] = observe(session.view, stream?.up, event.observation);
      const [, past] = observe(session.view, session.past, event.observation);
      return [withUp({ ...session, view, past }, up), []];
    }
    case "synced": {
      const [view, up] = markSynced(session.view, stream?.up, event);
      return [withUp({ ...session, view }, up), []];
    }
    default:
      return stream === undefined ? [session, []] : stepStream(session, stream, event);
  }
}

type StreamEvent = Exclude<AgentEvent, { readonly type: "opened" | "closed" | "observed" | "synced" }>;

function stepStream(session: AgentSession, stream: AgentStream, event: StreamEvent): Step {
  switch (event.type) {
    case "received": {
      if (event.message.epoch !== stream.epoch) return [session, []];
      const current = { ...stream, liveness: onReceived(stream.liveness, event.now) };
      return received({ ...session, stream: current }, current, event.message.body);
    }
    case "acknowledged": {
      const { acknowledgement } = event;
      const revision = acknowledgement.revision - session.pastRevisions;
      const down = revision > 0 ? acknowledge(stream.down, { ...acknowledgement, revision }) : stream.down;
      return [{ ...session, stream: { ...stream, down } }, []];
    }
    case "answered": {
      if (event.epoch !== stream.epoch) return [session, []];
      const answers = [...stream.answers, ...answerParts(event.id, event.reply)];
      return [{ ...session, stream: { ...stream, answers, openQueries: stream.openQueries - 1 } }, []];
    }
    case "tick":
      return tick(session, stream, event.now);
    case "flush":
      return flush(session, stream);
  }
}

function opened(session: AgentSession, { epoch, now }: { readonly epoch: bigint; readonly now: number }): Step {
  const { agent, view, maxDesiredBytes } = session;
  const stream: AgentStream = {
    epoch,
    limits: undefined,
    liveness: startLiveness(now),
    heartbeats: 0,
    up: startUp(view),
    down: startDown(maxDesiredBytes),
    notices: maxDesiredBytes === undefined ? startReceivingNotices() : startReceivingNotices(maxNoticeBytes(maxDesiredBytes)),
    awaitsNotice: false,
    answers: [],
    openQueries: 0,
  };
  const hello = create(HelloSchema, {
    protocolVersion: PROTOCOL_VERSION,
    instance: agent.instance,
    features: [...FEATURES],
    agentVersion: agent.version,
    agentNamespace: agent.agentNamespace,
    ...(agent.service === undefined ? {} : { agentEndpoint: create(AgentEndpointSchema, agent.service) }),
    clusterUid: agent.clusterUid,
    digests: session.past === undefined ? [] : sentDigests(session.past),
  });
  return [{ ...session, stream }, [send(stream, { case: "hello", value: hello })]];
}

function closed(session: AgentSession): AgentSession {
  const { stream, past, pastRevisions } = session;
  if (stream === undefined) return session;
  // A stream that has not come to say everything leaves the one before it as the best to go on from.
  const next = stream.up.isComplete ? stream.up : past;
  return { ...session, stream: undefined, past: next, pastRevisions: pastRevisions + stream.down.revision };
}

function withUp(session: AgentSession, up: AgentUp | undefined): AgentSession {
  return session.stream === undefined || up === undefined ? session : { ...session, stream: { ...session.stream, up } };
}

function received(session: AgentSession, stream: AgentStream, body: ConnectResponse["body"]): Step {
  if (stream.limits === undefined && !(body.case === undefined || BEFORE_WELCOME.has(body.case))) {
    return [session, [end(`the server sent ${body.case} before its welcome message`)]];
  }
  switch (body.case) {
    case "welcome":
      return welcomed(session, stream, body.value);
    case "upAck": {
      const { seq, rejected } = body.value;
      if (seq > stream.up.seq) return [session, [end(`the server acknowledged message ${seq} of ${stream.up.seq}`)]];
      const up = { ...stream.up, acknowledgedSeq: Math.max(stream.up.acknowledgedSeq, seq) };
      return [withUp(session, up), rejected.length > 0 ? [{ type: "untold", objects: rejected.map(shortRejection) }] : []];
    }
    case "down":
      return withDown(session, stream, takePart(stream.down, body.value, session.clusterName));
    case "heartbeat": {
      // The server is there, and lets others in first.
      if (stream.limits === undefined) return [session, []];
      const [next, effects] = withDown(session, stream, checkDesired(stream.down, body.value.revision, body.value.digests));
      if (!hasMissedNotices(stream.notices, body.value.digests)) return [next, effects];
      const [asked, more] = withNotices(next, next.stream ?? stream, requestNoticesAgain(stream.notices));
      return [asked, [...effects, ...more]];
    }
    case "notice":
      return withNotices(session, stream, takeNotice(stream.notices, body.value, session.clusterName));
    case "resync":
      return resynced(session, stream, body.value);
    case "ask": {
      const { id, topic, body: query } = body.value;
      if (stream.answers.length >= MAX_WAITING_ANSWERS) return [session, [end("the server sends queries but accepts no answers")]];
      if (stream.openQueries >= MAX_QUERIES) {
        const answers = [...stream.answers, ...answerParts(id, { error: "too many queries at a time" })];
        return [{ ...session, stream: { ...stream, answers } }, []];
      }
      const next = { ...stream, openQueries: stream.openQueries + 1 };
      return [{ ...session, stream: next }, [{ type: "ask", epoch: stream.epoch, id, query: { topic, body: query } }]];
    }
    case "drain":
      return [session, [{ type: "drain", reconnectAfterMs: Math.min(body.value.reconnectAfterMs, MAX_PAUSE_MS) }]];
    case undefined:
      // Something that a newer server says and that this agent need not understand.
      return [session, []];
  }
}

const BEFORE_WELCOME: ReadonlySet<string> = new Set(["welcome", "drain", "heartbeat"]);

function welcomed(session: AgentSession, stream: AgentStream, welcome: Welcome): Step {
  if (stream.limits !== undefined) return [session, [end("the server sent its welcome message twice")]];
  if (welcome.protocolVersion < OLDEST_PROTOCOL_VERSION || welcome.protocolVersion > PROTOCOL_VERSION) {
    return [
      session,
      [
        end(
          `the server speaks version ${welcome.protocolVersion} of the relay protocol, this agent ${PROTOCOL_VERSION}: upgrade the older one`,
        ),
      ],
    ];
  }
  const limits = {
    maxMessageBytes: Math.min(welcome.limits?.maxMessageBytes || MAX_MESSAGE_BYTES, MAX_MESSAGE_BYTES),
    maxUnackedUps: Math.min(Math.max(1, welcome.limits?.maxUnackedUps ?? 1), MAX_UNACKED_UPS),
    isTraced: welcome.features.includes(TRACES_FEATURE),
  };
  const liveness = { ...stream.liveness, intervalMs: Math.min(Math.max(MIN_HEARTBEAT_MS, welcome.heartbeatIntervalMs), MAX_PAUSE_MS) };
  const begun = welcome.features.includes(USER_RESOURCES) ? stream.up : mute(stream.up, session.userKinds);
  const up = session.past === undefined ? begun : resume(begun, session.past, welcome.knownKinds);
  const next = { ...stream, limits, liveness, up, awaitsNotice: welcome.noticeFirst && !stream.notices.isWhole };
  return [
    { ...session, past: undefined, stream: next },
    [{ type: "welcomed", serverId: shortened(welcome.serverId), features: welcome.features }],
  ];
}

// A server that asks for more would only keep both ends busy.
const MIN_HEARTBEAT_MS = 100;
/** A server that is silent for longer is not there, and one that goes away for longer need not be waited for. */
const MAX_PAUSE_MS = 300_000;
const MAX_UNACKED_UPS = 1_024;
// As many as there may be queries, each with an answer of the largest size.
const MAX_WAITING_ANSWERS = MAX_QUERIES * MAX_ANSWER_PARTS;

/** The server's words go into logs. */
function shortRejection(message: RejectionMessage): Rejection {
  const rejection = rejectionFrom(message);
  return { ...rejection, message: shortened(rejection.message) };
}

function withNotices(session: AgentSession, stream: AgentStream, { notices, received, ask, end: reason }: NoticeStep): Step {
  if (reason !== undefined) return [session, [end(reason)]];
  const next = { ...session, stream: { ...stream, notices, awaitsNotice: stream.awaitsNotice && !notices.isWhole } };
  const effects: AgentEffect[] = received === undefined ? [] : [{ type: "told", notices: received }];
  if (ask === true) effects.push(send(stream, { case: "resync", value: create(ResyncSchema, { kinds: [NOTICE] }) }));
  return [next, effects];
}

function withDown(session: AgentSession, stream: AgentStream, { down, desired, ask, end: reason }: DownStep): Step {
  if (reason !== undefined) return [session, [end(reason)]];
  const effects: AgentEffect[] = [];
  if (desired !== undefined) effects.push({ type: "deliver", desired: { ...desired, revision: desired.revision + session.pastRevisions } });
  if (ask !== undefined) {
    effects.push({ type: "resync", direction: "down", reason: ask });
    effects.push(send(stream, { case: "resync", value: create(ResyncSchema, {}) }));
  }
  return [{ ...session, stream: { ...stream, down } }, effects];
}

function resynced(session: AgentSession, stream: AgentStream, { kinds }: Resync): Step {
  const reason = `the server requests ${kinds.length === 0 ? "every kind" : shortened(kinds.slice(0, MAX_NAMED_KINDS).join(", "))} again`;
  return [withUp(session, restart(session.view, stream.up, kinds)), [{ type: "resync", direction: "up", reason }]];
}

const MAX_NAMED_KINDS = 64;

function tick(session: AgentSession, stream: AgentStream, now: number): Step {
  if (isOverdue(stream.liveness, now)) {
    return [session, [{ type: "end", code: "Unreachable", reason: "received nothing from the server for three heartbeat intervals" }]];
  }
  if (!isHeartbeatDue(stream.liveness, now)) return [session, []];
  const { up, down } = stream;
  const next = { ...stream, heartbeats: stream.heartbeats + 1, liveness: onSent(stream.liveness, now) };
  if (stream.limits === undefined) return [{ ...session, stream: next }, []];
  const heartbeat = create(HeartbeatSchema, { seq: next.heartbeats, revision: down.applied, digests: sentDigests(up) });
  return [{ ...session, stream: next }, [send(stream, { case: "heartbeat", value: heartbeat })]];
}

/** The most urgent of what waits: what became of the desired set, then answers, then news of the cluster. */
function flush(session: AgentSession, stream: AgentStream): Step {
  if (stream.limits === undefined) return [session, []];
  const [ack, ...acks] = stream.down.acks;
  if (ack !== undefined) {
    return [{ ...session, stream: { ...stream, down: { ...stream.down, acks } } }, [send(stream, { case: "ack", value: ack })]];
  }
  const [answer, ...answers] = stream.answers;
  if (answer !== undefined) return [{ ...session, stream: { ...stream, answers } }, [send(stream, { case: "answer", value: answer })]];
  if (stream.awaitsNotice) return [session, []];
  const next = nextUp(session.view, stream.up, stream.limits);
  if (next === undefined) return [session, []];
  const untold: AgentEffect[] = next.withheld.length > 0 ? [{ type: "untold", objects: next.withheld }] : [];
  return [withUp(session, next.up), [send(stream, next.body), ...untold]];
}

function send({ epoch }: AgentStream, body: RequestBody): AgentEffect {
  return { type: "send", message: create(ConnectRequestSchema, { epoch, ...(body === undefined ? {} : { body }) }) };
}

function end(reason: string): AgentEffect {
  return { type: "end", code: "Protocol", reason };
}
