import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import { refOf, SortedMap } from "@isthmus/core";
import { describe, expect, test } from "vitest";
import { RegisterRequestSchema, RegisterResponseSchema } from "../src/gen/relay/v1/registration_pb.ts";
import { type ConnectRequest, ConnectRequestSchema, type ConnectResponse, ConnectResponseSchema } from "../src/gen/relay/v1/relay_pb.ts";
import { agentSession, stepAgent } from "../src/session/agentSession.ts";
import { updateDesired } from "../src/session/desiredState.ts";
import { noticeItems, withItems } from "../src/session/notices.ts";
import { serverSession, stepServer } from "../src/session/serverSession.ts";
import { converse } from "./conversations.ts";
import { KINDS, service, virtualService, wantedSet } from "./sessionFleet.ts";
import { sessionPair } from "./sessionPair.ts";

// Recordings of the wire, one folder for each version. A later version must still understand them: its decoder reads every
// frame, its server makes the same of an old agent's words, and its agent the same of an old server's. They are written once,
// with RECORD_WIRE=1, when a version of the wire is new, and never changed once it was released: until then the newest folder
// is deleted and recorded again.

interface Recording {
  readonly frames: readonly { readonly from: "agent" | "server"; readonly body: string; readonly base64: string }[];
  /** What the server's loops were given. */
  readonly server: readonly unknown[];
  /** What the agent's loops were given. */
  readonly agent: readonly unknown[];
}

const FOLDER = fileURLToPath(new URL("../testdata/wire", import.meta.url));

// The first is the protocol as it began; the second has the features `notices` and `traces`, and evidence names its snapshot; the
// third has the feature `deflate`, which no session sees; the fourth has the feature `modes`.
const VERSIONS = ["v1", "v1.1", "v1.2", "v1.3"];
const TODAY = `${FOLDER}/${VERSIONS.at(-1)}`;

if (process.env["RECORD_WIRE"] === "1") {
  mkdirSync(TODAY, { recursive: true });
  for (const [name, recording] of Object.entries(converse())) {
    const file = `${TODAY}/${name}.json`;
    if (!existsSync(file)) writeFileSync(file, `${JSON.stringify(recording, undefined, 2)}\n`);
  }
}

const recordings = readdirSync(FOLDER).flatMap((version) =>
  readdirSync(`${FOLDER}/${version}`).map((file) => ({ version, file, path: `${FOLDER}/${version}/${file}` })),
);

test("there are recordings of every version", () => {
  const filesOf = (of: string) => recordings.filter(({ version }) => version === of).map(({ file }) => file);
  expect(filesOf("v1").sort()).toEqual(["parts.json", "registration.json", "session.json"]);
  for (const version of ["v1.1", "v1.2", "v1.3"])
    expect(filesOf(version).sort()).toEqual(["notices.json", "parts.json", "registration.json", "session.json"]);
});

test("what is said today is what was recorded last: else a new version of the wire has to be recorded", () => {
  for (const [name, recording] of Object.entries(converse())) {
    expect(JSON.parse(JSON.stringify(recording)), name).toEqual(JSON.parse(readFileSync(`${TODAY}/${name}.json`, "utf8")));
  }
});

/** A message as a newer version may send it: with fields that we don't know, on every level. */
function withFuture<M extends Message>(message: M): M {
  const unknown = { no: 1_999, wireType: 2, data: new Uint8Array([3, 1, 2, 3]) };
  const members = Object.entries(message).map(([field, value]) => [field, futureIn(value)]);
  return { ...(Object.fromEntries(members) as M), $unknown: [unknown] };
}

function futureIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(futureIn);
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  if ("$typeName" in value) return withFuture(value as Message);
  if ("case" in value && "value" in value) return { ...value, value: futureIn(value.value) };
  return value;
}

/** A message of a kind that we don't know: an empty body, but for a member from the future. */
function unheardOf<M extends ConnectRequest | ConnectResponse>(message: M): M {
  return { ...message, body: { case: undefined }, $unknown: [{ no: 999, wireType: 2, data: new Uint8Array([2, 8, 1]) }] };
}

/** What arrives of a message that a peer of today, or of the future, sends. */
function arriving<M extends ConnectRequest | ConnectResponse>(schema: GenMessage<M>, message: M, isFromFuture: boolean): readonly M[] {
  if (!isFromFuture) return [message];
  const { body } = message;
  const value: unknown = body.value;
  // Features that we don't know, where a peer says which it has.
  if (typeof value === "object" && value !== null && "features" in value)
    (value as { features: string[] }).features.push("from-the-future");
  const bytes = [withFuture(message), unheardOf(message)].map((sent) => toBinary(schema, sent));
  const received = bytes.map((sent) => fromBinary(schema, sent) as M);
  // The first message of a stream has to be a hello, now as ever.
  return body.case === "hello" ? received : received.reverse();
}

describe.each(recordings.filter(({ file }) => file !== "registration.json"))("$version/$file", ({ path }) => {
  const { frames, server, agent }: Recording = JSON.parse(readFileSync(path, "utf8"));

  test.each([false, true])("is understood by this server (with more from the future: %s)", (isFromFuture) => {
    let session = serverSession({
      clusterName: "cluster-1",
      serverId: "server-1",
      heartbeatMs: 10_000,
      expiresAt: undefined,
      desired: undefined,
      now: 0,
    });
    const told: unknown[] = [];
    for (const frame of frames) {
      if (frame.from === "server") {
        // What the old server said, this one has to have said too, or an answer to it would be out of place.
        const said = fromBinary(ConnectResponseSchema, Buffer.from(frame.base64, "base64"));
        if (said.body.case === "down") {
          for (let revision = session.down.sentRevision; revision < said.body.value.revision && said.body.value.last; revision++) {
            const step = updateDesired(undefined, wantedSet([virtualService("cluster-1", `r${revision}`)]), {
              evidenceOf: () => ({
                reason: "InputChanged",
                inputs: [refOf(virtualService("cluster-1", "x"))],
              }),
              traces: said.body.value.traces,
            });
            session = stepServer(session, { type: "wanted", step })[0];
            session = stepServer(session, { type: "flush" })[0];
          }
        }
        if (said.body.case === "ask")
          session = stepServer(session, { type: "ask", query: { topic: said.body.value.topic, body: said.body.value.body } })[0];
        continue;
      }
      const message = fromBinary(ConnectRequestSchema, Buffer.from(frame.base64, "base64"));
      expect(message.body.case).toBe(frame.body);
      expect(Buffer.from(toBinary(ConnectRequestSchema, message)).toString("base64")).toBe(frame.base64);
      const effects = arriving(ConnectRequestSchema, message, isFromFuture).flatMap((arrived) => {
        const [next, found] = stepServer(session, { type: "received", message: arrived, now: 1 });
        session = next;
        return found;
      });
      for (const effect of effects) {
        expect(effect.type).not.toBe("end");
        if (effect.type === "observed") told.push({ observed: effect.observation });
        if (effect.type === "synced")
          told.push({ synced: [...effect.complete].map(([kind, keys]) => [kind, [...keys]]), unserved: [...effect.unserved] });
        if (effect.type === "acknowledged") told.push({ acknowledged: effect.acknowledgement });
        if (effect.type === "answered")
          told.push({ answered: "error" in effect.reply ? effect.reply.error : Buffer.from(effect.reply.body).toString("utf8") });
      }
    }
    expect(JSON.parse(JSON.stringify(told))).toEqual(server);
  });

  test.each([false, true])("is understood by this agent (with more from the future: %s)", (isFromFuture) => {
    const first = frames[0] === undefined ? undefined : fromBinary(ConnectRequestSchema, Buffer.from(frames[0].base64, "base64"));
    let session = agentSession({
      clusterName: "cluster-1",
      agent: { instance: "agent-1", version: "1", agentNamespace: "gloo-mesh", clusterUid: "uid" },
      kinds: KINDS,
    });
    session = stepAgent(session, { type: "opened", epoch: first?.epoch ?? 0n, now: 0 })[0];
    const told: unknown[] = [];
    for (const frame of frames) {
      if (frame.from === "agent") continue;
      const message = fromBinary(ConnectResponseSchema, Buffer.from(frame.base64, "base64"));
      expect(message.body.case).toBe(frame.body);
      expect(Buffer.from(toBinary(ConnectResponseSchema, message)).toString("base64")).toBe(frame.base64);
      if (message.body.case === "upAck") continue;
      const effects = arriving(ConnectResponseSchema, message, isFromFuture).flatMap((arrived) => {
        const [next, found] = stepAgent(session, { type: "received", message: arrived, now: 1 });
        session = next;
        return found;
      });
      for (const effect of effects) {
        expect(effect.type).not.toBe("end");
        if (effect.type === "deliver") told.push({ desired: effect.desired });
        if (effect.type === "told") told.push({ told: effect.notices });
        if (effect.type === "ask") told.push({ asked: effect.query.topic });
        if (effect.type === "drain") told.push({ drain: effect.reconnectAfterMs });
      }
    }
    expect(JSON.parse(JSON.stringify(told))).toEqual(agent);
  });
});

describe("a peer that lacks what is newer", () => {
  const TRACES = ["4bf92f3577b34da6a3ce929d0e0e4736"];

  /** Delivers everything, with hellos and welcomes as an older peer would have said them. Gives all that was said. */
  function exchange(pair: ReturnType<typeof sessionPair>, features: readonly string[]): string {
    const said: string[] = [];
    const hear = ({ body }: ConnectRequest | ConnectResponse): void => {
      if (body.case === "hello" || body.case === "welcome") body.value.features = [...features];
      said.push(JSON.stringify(body, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)));
    };
    for (let isBusy = true; isBusy; ) {
      isBusy = [pair.flushAgent(), pair.flushServer()].includes(true);
      pair.up.forEach(hear);
      const isUp = pair.deliverUp();
      pair.down.forEach(hear);
      isBusy = [isBusy, isUp, pair.deliverDown(), pair.acknowledge([])].includes(true);
    }
    return said.join("\n");
  }

  test.each([
    { name: "works as before, and hears nothing of it", features: [] as string[], isTraced: false },
    { name: "hears of it when it says that it knows it", features: ["ask", "resume", "traces"], isTraced: true },
  ])("$name", ({ features, isTraced }) => {
    const pair = sessionPair(KINDS);
    exchange(pair, features);
    pair.synced(KINDS);
    pair.agentDo({ type: "observed", observation: { put: [service("cluster-1", "reviews")], remove: [], traces: TRACES } });
    pair.want([virtualService("cluster-1", "a")], TRACES);
    const items = noticeItems({ put: [service("cluster-1", "reviews")], remove: [] });
    pair.serverDo({ type: "tell", all: withItems(SortedMap.empty(), items), items });
    const said = exchange(pair, features);
    expect(said.includes(TRACES[0] ?? "?")).toBe(isTraced);
    expect(said).not.toContain('"case":"notice"');
    expect([...pair.known.keys()]).toEqual(["/Service|reviews.bookinfo.cluster-1"]);
    expect([...pair.applied.keys()]).toEqual(["networking.istio.io/VirtualService|a.bookinfo.cluster-1"]);
    expect(pair.lastWanted?.size).toBe(1);
    expect(pair.violations).toEqual([]);
  });
});

test("a recorded registration is understood", () => {
  const { request, response } = JSON.parse(readFileSync(`${FOLDER}/v1/registration.json`, "utf8"));
  expect(fromBinary(RegisterRequestSchema, Buffer.from(request, "base64"))).toMatchObject({
    token: "token",
    certificateRequest: "request in PEM",
    clusterName: "cluster-1",
    clusterUid: "uid",
  });
  expect(fromBinary(RegisterResponseSchema, Buffer.from(response, "base64"))).toMatchObject({
    certificateChain: "chain in PEM",
    root: "root in PEM",
  });
});
