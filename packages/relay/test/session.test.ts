import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { refOf, resourceKeyOf } from "@isthmus/core";
import { describe, expect, test } from "vitest";
import { type ConnectRequest, ConnectRequestSchema, ConnectResponseSchema } from "../src/gen/relay/v1/relay_pb.ts";
import { refMessage } from "../src/session/wire.ts";
import { deployment, KINDS, service, virtualService } from "./sessionFleet.ts";
import { sessionPair } from "./sessionPair.ts";

const CLUSTER = "cluster-1";
const MIB = 1024 * 1024;

type Pair = ReturnType<typeof sessionPair>;

function synced(): Pair {
  const pair = sessionPair(KINDS);
  pair.synced(KINDS);
  pair.heal();
  return pair;
}

function fromAgent(
  pair: Pair,
  body: NonNullable<MessageInitShape<typeof ConnectRequestSchema>["body"]>,
  epoch = pair.epoch,
): ConnectRequest {
  return create(ConnectRequestSchema, { epoch, body });
}

/** Lets everything arrive while `touch` may change what goes up. */
function healTouching(pair: Pair, touch: (message: ConnectRequest) => void): ConnectRequest[] {
  const seen: ConnectRequest[] = [];
  for (let quiet = 0; quiet < 3; ) {
    const isBusy = [pair.flushAgent(), pair.flushServer()].includes(true) || pair.up.length > 0 || pair.down.length > 0;
    for (const message of pair.up) if (!seen.includes(message)) touch(message);
    seen.push(...pair.up.filter((message) => !seen.includes(message)));
    pair.deliverUp();
    pair.deliverDown();
    pair.acknowledge();
    quiet = isBusy ? 0 : quiet + 1;
  }
  return seen;
}

const upsIn = (messages: readonly ConnectRequest[]) => messages.flatMap(({ body }) => (body.case === "up" ? [body.value] : []));

describe("what the agent reports", () => {
  test("is sent again, that kind alone, when a digest differs; the cluster is synced after it, all kinds at once", () => {
    const pair = sessionPair(KINDS);
    pair.put(service(CLUSTER, "reviews"));
    pair.put(deployment(CLUSTER, "reviews-v1"));
    pair.synced(KINDS);
    let isTouched = false;
    const messages = healTouching(pair, ({ body }) => {
      const json = body.case === "up" && body.value.kind === "/Service" ? body.value.upserts[0]?.json : undefined;
      if (json === undefined || isTouched) return;
      isTouched = true;
      json[json.length - 3] = "X".charCodeAt(0);
    });
    expect(upsIn(messages).map(({ kind, start }) => [kind, start])).toEqual([
      ["/Service", false],
      ["apps/Deployment", false],
      ["/Service", true],
    ]);
    const told = pair.serverEffects.filter(({ type }) => type === "synced" || type === "resync");
    expect(told).toMatchObject([{ type: "resync", kinds: ["/Service"] }, { type: "synced" }]);
    expect(told[1]?.type === "synced" && [...told[1].complete.keys()]).toEqual(KINDS);
    expect(pair.known).toEqual(pair.cluster);
  });

  test("that differs again and again ends the stream instead of being sent for ever", () => {
    const pair = sessionPair(KINDS);
    pair.put(service(CLUSTER, "reviews"));
    pair.synced(KINDS);
    healTouching(pair, ({ body }) => {
      const json = body.case === "up" ? body.value.upserts[0]?.json : undefined;
      if (json !== undefined) json[json.length - 3] = "X".charCodeAt(0);
    });
    expect(pair.serverEffects.filter(({ type }) => type === "resync")).toHaveLength(3);
    expect(pair.serverEffects.at(-1)).toMatchObject({ type: "end", reason: expect.stringMatching(/\/Service still differ/) });
  });

  test("that is lost unnoticed is found by the next heartbeat", () => {
    const pair = synced();
    pair.put(service(CLUSTER, "reviews"));
    pair.flushAgent();
    const [lost] = pair.up.splice(0);
    expect(lost?.body.case).toBe("up");
    pair.put(deployment(CLUSTER, "reviews-v1"));
    pair.flushAgent();
    const next = pair.up[0]?.body;
    // As if the lost one had never had a number: only the digest can tell.
    if (next?.case === "up") next.value.seq--;
    pair.deliverUp();
    expect(pair.known.size).toBe(1);
    pair.tick();
    pair.deliverUp();
    expect(pair.serverEffects.at(-2)).toMatchObject({ type: "resync", kinds: ["/Service"] });
  });

  test("goes in batches, of which so many may be unanswered", () => {
    const pair = sessionPair(KINDS);
    for (let i = 0; i < 4000; i++) pair.put(service(CLUSTER, `service-${i}`, { spec: { text: "x".repeat(1200) } }));
    pair.synced(KINDS);
    pair.deliverUp();
    pair.deliverDown();
    let sent = 0;
    while (pair.flushAgent()) sent++;
    expect(sent).toBe(32);
    const sizes = pair.up.map((message) => toBinary(ConnectRequestSchema, message).length);
    expect(Math.max(...sizes)).toBeLessThan(128 * 1024);
    expect(Math.min(...sizes)).toBeGreaterThan(64 * 1024);
    pair.heal();
    expect(pair.known.size).toBe(4000);
  });

  test("and is too large is withheld with a reason; the others flow, and the server does not take it for gone", () => {
    const pair = synced();
    pair.put(service(CLUSTER, "large"));
    pair.heal();
    pair.put(service(CLUSTER, "large", { spec: { text: "x".repeat(1.2 * MIB) } }));
    pair.put(service(CLUSTER, "small"));
    pair.heal();
    expect([...pair.known.keys()]).toEqual(["/Service|large.bookinfo.cluster-1", "/Service|small.bookinfo.cluster-1"]);
    const withheld = {
      ref: refOf(service(CLUSTER, "large")),
      code: "TooLarge",
      message: expect.stringMatching(/is 1\.2 MiB as JSON, but the maximum of a relay message is 1\.0 MiB/),
    };
    expect(pair.agentEffects.filter(({ type }) => type === "untold")).toMatchObject([{ objects: [withheld] }]);
    expect(pair.serverEffects.flatMap((effect) => (effect.type === "observed" ? (effect.observation.withheld ?? []) : []))).toEqual([
      withheld,
    ]);
    pair.reconnect();
    pair.heal();
    expect(pair.known.has("/Service|large.bookinfo.cluster-1")).toBe(true);
    pair.remove(refOf(service(CLUSTER, "large")));
    pair.heal();
    expect([...pair.known.keys()]).toEqual(["/Service|small.bookinfo.cluster-1"]);
  });

  test("of another cluster, or of another name than it bears, is refused and counted; the rest counts", () => {
    const pair = synced();
    const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
    const own = service(CLUSTER, "own");
    const foreign = service("cluster-2", "foreign");
    const disguised = { ref: refMessage(refOf(service(CLUSTER, "disguised"))), json: json(foreign) };
    const upserts = [
      { ref: refMessage(refOf(own)), json: json(own) },
      { ref: refMessage(refOf(foreign)), json: json(foreign) },
      disguised,
      { ref: refMessage(refOf(service(CLUSTER, "broken"))), json: new TextEncoder().encode("{") },
    ];
    pair.up.push(fromAgent(pair, { case: "up", value: { seq: 1, kind: "/Service", upserts, deletes: [refMessage(refOf(foreign))] } }));
    pair.deliverUp();
    expect([...pair.known.keys()]).toEqual(["/Service|own.bookinfo.cluster-1"]);
    const refused = new Map([
      ["OtherCluster", 2],
      ["Invalid", 2],
    ]);
    expect(pair.serverEffects.find(({ type }) => type === "refused")).toEqual({ type: "refused", objects: refused });
    const ack = pair.down.at(-1)?.body;
    expect(ack?.case === "upAck" && ack.value.rejected.map(({ code, message }) => `${code}: ${message}`)).toEqual([
      "Refused: Service bookinfo/foreign in cluster-2: this stream is for cluster-1 only",
      "Invalid: Service bookinfo/disguised in cluster-1: its content is /Service bookinfo/foreign in cluster-2",
      expect.stringMatching(/^Invalid: Service bookinfo\/broken in cluster-1: its content is not JSON/),
      "Refused: Service bookinfo/foreign in cluster-2: this stream is for cluster-1 only",
    ]);
  });
});

describe("what the server wants", () => {
  test("and no longer wants after the agent was offline is reported with its evidence, in the complete set", () => {
    const pair = synced();
    pair.want([virtualService(CLUSTER, "a"), virtualService(CLUSTER, "b")]);
    pair.heal();
    pair.reconnect();
    pair.want([virtualService(CLUSTER, "b")]);
    pair.heal();
    const delivered = pair.agentEffects.flatMap((effect) => (effect.type === "deliver" ? [effect.desired] : []));
    expect(delivered.at(-1)).toMatchObject({
      complete: true,
      put: [virtualService(CLUSTER, "b")],
      remove: [{ ref: refOf(virtualService(CLUSTER, "a")), evidence: { reason: "InputChanged", inputs: [{ name: "x" }] } }],
    });
    pair.reconnect();
    pair.heal();
    const again = pair.agentEffects.flatMap((effect) => (effect.type === "deliver" ? [effect.desired] : []));
    expect(again.at(-1)).toMatchObject({ complete: true, remove: [] });
  });

  test("goes in parts below the limit, and arrives as one", () => {
    const pair = synced();
    const wanted = Array.from({ length: 2000 }, (_, i) => virtualService(CLUSTER, `v${i}`, { spec: { text: "x".repeat(2500) } }));
    pair.want(wanted);
    let parts = 0;
    while (pair.flushServer()) parts++;
    expect(parts).toBeGreaterThan(40);
    expect(Math.max(...pair.down.map((message) => toBinary(ConnectResponseSchema, message).length))).toBeLessThan(128 * 1024);
    pair.heal();
    const delivered = pair.agentEffects.flatMap((effect) => (effect.type === "deliver" ? [effect.desired] : []));
    expect(delivered.map(({ put }) => put.length)).toEqual([2000]);
    expect(pair.applied.size).toBe(2000);
  });

  test("and is too large is left alone at the agent and rejected by name; the others flow", () => {
    const pair = synced();
    pair.want([virtualService(CLUSTER, "large", { spec: { text: "x".repeat(1.2 * MIB) } }), virtualService(CLUSTER, "small")]);
    pair.heal();
    const delivered = pair.agentEffects.flatMap((effect) => (effect.type === "deliver" ? [effect.desired] : []));
    expect(delivered).toMatchObject([{ put: [virtualService(CLUSTER, "small")], withheld: [refOf(virtualService(CLUSTER, "large"))] }]);
    const answers = pair.serverEffects.flatMap((effect) => (effect.type === "acknowledged" ? [effect.acknowledgement] : []));
    expect(answers.at(-1)?.rejected).toMatchObject([
      { ref: { name: "large" }, code: "Invalid", message: expect.stringMatching(/VirtualService bookinfo\/large.*is 1\.2 MiB/) },
    ]);
    pair.want([virtualService(CLUSTER, "large"), virtualService(CLUSTER, "small")]);
    pair.heal();
    const later = pair.serverEffects.flatMap((effect) => (effect.type === "acknowledged" ? [effect.acknowledgement] : []));
    expect(later.at(-1)?.rejected).toEqual([]);
  });

  test("is sent again, complete, when the agent's copy differs", () => {
    const pair = synced();
    pair.want([virtualService(CLUSTER, "a")]);
    pair.heal();
    pair.want([virtualService(CLUSTER, "a", { spec: { weight: 1 } })]);
    pair.flushServer();
    const body = pair.down[0]?.body;
    const json = body?.case === "down" ? body.value.upserts[0]?.json : undefined;
    if (json !== undefined) json[json.lastIndexOf("1".charCodeAt(0))] = "7".charCodeAt(0);
    pair.heal();
    expect(pair.serverEffects.filter(({ type }) => type === "resync")).toMatchObject([{ direction: "down" }]);
    expect([...pair.applied.values()]).toEqual([virtualService(CLUSTER, "a", { spec: { weight: 1 } })]);
  });

  test("gone without evidence, or of another cluster, is refused by the agent and reported so", () => {
    const pair = synced();
    pair.want([]);
    pair.heal();
    const foreign = virtualService("cluster-2", "foreign");
    const body = {
      revision: 2,
      part: 1,
      last: true,
      upserts: [{ ref: refMessage(refOf(foreign)), json: new TextEncoder().encode(JSON.stringify(foreign)) }],
      deletes: [
        { ref: refMessage(refOf(virtualService(CLUSTER, "a"))) },
        { ref: refMessage(refOf(virtualService(CLUSTER, "b"))), evidence: { reason: "Mood", inputs: [] } },
      ],
    };
    pair.agentDo({
      type: "received",
      message: create(ConnectResponseSchema, { epoch: pair.epoch, body: { case: "down", value: body } }),
      now: pair.now,
    });
    const delivered = pair.agentEffects.flatMap((effect) => (effect.type === "deliver" ? [effect.desired] : []));
    expect(delivered.at(-1)).toMatchObject({ put: [], remove: [] });
    pair.acknowledge();
    pair.flushAgent();
    const ack = pair.up.at(-1)?.body;
    expect(ack?.case === "ack" && ack.value.rejected.map(({ code, message }) => `${code}: ${message}`)).toEqual([
      "Refused: VirtualService bookinfo/foreign in cluster-2: this agent writes to cluster-1 only",
      "Refused: VirtualService bookinfo/a in cluster-1: a delete without a cause is refused",
      "Refused: VirtualService bookinfo/b in cluster-1: a delete without a cause is refused",
    ]);
  });

  test("has at most eight unanswered revisions; later changes go together", () => {
    const pair = synced();
    for (let weight = 0; weight < 20; weight++) {
      pair.want([virtualService(CLUSTER, "a", { spec: { weight } })]);
      while (pair.flushServer());
    }
    expect(pair.down.filter(({ body }) => body.case === "down")).toHaveLength(8);
    pair.heal();
    expect([...pair.applied.values()]).toEqual([virtualService(CLUSTER, "a", { spec: { weight: 19 } })]);
    const revisions = pair.agentEffects.flatMap((effect) => (effect.type === "deliver" ? [effect.desired.revision] : []));
    expect(revisions).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });
});

describe("acknowledgements", () => {
  test("of an older revision than was answered are void; of one never sent they end the stream", () => {
    const pair = synced();
    pair.want([virtualService(CLUSTER, "a")]);
    pair.heal();
    pair.want([virtualService(CLUSTER, "b")]);
    pair.heal();
    const before = pair.serverEffects.length;
    pair.up.push(fromAgent(pair, { case: "ack", value: { revision: 1, part: 1, last: true } }));
    pair.deliverUp();
    expect(pair.serverEffects.length).toBe(before);
    pair.up.push(fromAgent(pair, { case: "ack", value: { revision: 99, part: 1, last: true } }));
    pair.deliverUp();
    expect(pair.serverEffects.at(-1)).toMatchObject({ type: "end", reason: "revision 99 was acknowledged, 2 is the last one sent" });
  });

  test("of a set of an earlier stream are not taken for one of this stream", () => {
    const pair = synced();
    pair.want([virtualService(CLUSTER, "a")]);
    while (pair.flushServer() || pair.deliverDown());
    const first = pair.agentEffects.flatMap((effect) => (effect.type === "deliver" ? [effect.desired] : []))[0];
    pair.reconnect();
    while ([pair.flushAgent(), pair.deliverUp(), pair.flushServer(), pair.deliverDown()].includes(true));
    pair.agentDo({ type: "acknowledged", acknowledgement: { revision: first?.revision ?? 0, rejected: [] } });
    pair.flushAgent();
    expect(pair.up.filter(({ body }) => body.case === "ack")).toEqual([]);
  });

  test("with many rejections go in parts and arrive as one", () => {
    const pair = synced();
    const wanted = Array.from({ length: 600 }, (_, i) => virtualService(CLUSTER, `v${i}`));
    pair.want(wanted);
    while ([pair.flushServer(), pair.deliverDown()].includes(true));
    pair.acknowledge(wanted.map((resource) => ({ ref: refOf(resource), code: "Failed" as const, message: "é".repeat(5000) })));
    while (pair.flushAgent());
    expect(pair.up.length).toBeGreaterThan(5);
    expect(Math.max(...pair.up.map((message) => toBinary(ConnectRequestSchema, message).length))).toBeLessThan(128 * 1024);
    pair.heal();
    const answers = pair.serverEffects.flatMap((effect) => (effect.type === "acknowledged" ? [effect.acknowledgement] : []));
    expect(answers.map(({ rejected }) => new Set(rejected.map(({ ref }) => resourceKeyOf(ref))).size)).toEqual([600]);
  });
});

describe("a stream", () => {
  test("hears nothing of messages of another epoch", () => {
    const pair = synced();
    const before = [pair.serverEffects.length, pair.agentEffects.length];
    pair.serverDo({
      type: "received",
      message: fromAgent(pair, { case: "ack", value: { revision: 99, part: 1, last: true } }, 77n),
      now: pair.now,
    });
    pair.agentDo({
      type: "received",
      message: create(ConnectResponseSchema, { epoch: 77n, body: { case: "drain", value: {} } }),
      now: pair.now,
    });
    expect([pair.serverEffects.length, pair.agentEffects.length]).toEqual(before);
  });

  test("ends at both ends when nothing was heard for three heartbeats", () => {
    const pair = synced();
    for (let i = 0; i < 3; i++) {
      pair.tick();
      pair.up.length = 0;
      pair.down.length = 0;
    }
    expect(pair.agentEffects.at(-1)).toEqual({
      type: "end",
      code: "Unreachable",
      reason: "received nothing from the server for three heartbeat intervals",
    });
    expect(pair.serverEffects.at(-1)).toEqual({
      type: "end",
      code: "Unreachable",
      reason: "received nothing from the agent for three heartbeat intervals",
    });
  });

  test("ignores what a newer version says beyond it, and refuses one that is too old", () => {
    const pair = synced();
    pair.serverDo({ type: "received", message: create(ConnectRequestSchema, { epoch: pair.epoch }), now: pair.now });
    pair.agentDo({ type: "received", message: create(ConnectResponseSchema, { epoch: pair.epoch }), now: pair.now });
    expect(pair.serverEffects.some(({ type }) => type === "end")).toBe(false);
    pair.reconnect();
    const hello = pair.up[0]?.body;
    if (hello?.case === "hello") hello.value.protocolVersion = 2;
    pair.deliverUp();
    const welcome = pair.down[0]?.body;
    expect(welcome?.case === "welcome" && welcome.value.protocolVersion).toBe(1);
    pair.reconnect();
    const old = pair.up[0]?.body;
    if (old?.case === "hello") old.value.protocolVersion = 0;
    pair.deliverUp();
    expect(pair.serverEffects.at(-1)).toMatchObject({ type: "end", reason: expect.stringMatching(/upgrade the agent/) });
  });

  test("must begin with a hello", () => {
    const pair = sessionPair(KINDS);
    pair.up.unshift(fromAgent(pair, { case: "ack", value: { revision: 1 } }));
    pair.deliverUp();
    expect(pair.serverEffects).toEqual([
      { type: "end", code: "Protocol", reason: "the first message of the agent is not a hello message" },
    ]);
  });
});
