import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { afterEach, describe, expect, test } from "vitest";
import { type ConnectRequest, ConnectResponseSchema } from "../src/gen/relay/v1/relay_pb.ts";
import { createServerIdentity, startGrpcServer } from "../src/index.ts";
import { type AgentSession, agentSession, stepAgent } from "../src/session/agentSession.ts";
import { realAgent, registrationsOf, TOKEN, until } from "./realRelay.ts";
import { KINDS, recordingLog, virtualService } from "./sessionFleet.ts";

type Received = ConnectRequest["body"];
type Body = NonNullable<MessageInitShape<typeof ConnectResponseSchema>["body"]>;

const CLUSTER = "cluster-1";
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const ref = (name: string) => ({
  apiVersion: "networking.istio.io/v1",
  kind: "VirtualService",
  name,
  namespace: "bookinfo",
  clusterName: CLUSTER,
});
const body = (name: string, note = "") => ({
  ref: ref(name),
  json: new TextEncoder().encode(JSON.stringify(virtualService(CLUSTER, name, { note }))),
});
const welcome = (more: object = {}): Body => ({
  case: "welcome",
  value: { protocolVersion: 1, serverId: "hostile", heartbeatIntervalMs: 10_000, ...more },
});

/** A server that says what a test likes, over a real socket, and an agent that is connected to it. */
async function hostile(play: (say: (body: Body) => void, received: Received[]) => void) {
  const identity = await createServerIdentity({ now: Date.now() });
  const received: Received[] = [];
  const clock = { now: () => Date.now(), sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)) };
  const grpc = await startGrpcServer({
    host: "127.0.0.1",
    port: 0,
    identity,
    accept: (_, stream) => ({
      received(message) {
        received.push(message.body);
        if (message.body.case !== "hello") return;
        const say = (next: Body) => void stream.send(create(ConnectResponseSchema, { epoch: message.epoch, body: next }));
        say(welcome());
        play(say, received);
      },
      drained: () => undefined,
      ended: () => undefined,
    }),
    registrations: registrationsOf(),
    token: () => TOKEN,
    clock,
    log: recordingLog(),
  });
  stops.push(() => grpc.close());
  const agent = realAgent({ address: `127.0.0.1:${grpc.port}`, root: identity.root, clusterName: CLUSTER, maxDesiredBytes: 64 * 1024 });
  stops.push(() => agent.stop());
  return { agent, received };
}

describe("an agent takes from its server", () => {
  test("no revision without end", async () => {
    const { agent } = await hostile((say) => {
      for (let part = 1; part <= 500; part++) {
        say({ case: "down", value: { revision: 1, part, complete: part === 1, upserts: [body(`route-${part}`)] } });
      }
    });
    await until(() => agent.states.some((state) => state.includes("larger than 64 KiB")), "the agent has given it up");
    expect(agent.desired).toEqual([]);
  });

  test("no objects without end, reported little by little: what is desired at all is asked for again, and continues", async () => {
    const { agent, received } = await hostile((say) => {
      for (let revision = 1; revision <= 100; revision++) {
        say({ case: "down", value: { revision, part: 1, last: true, complete: revision === 1, upserts: [body(`route-${revision}`)] } });
      }
    });
    await until(() => received.some(({ case: what }) => what === "resync"), "the agent asks for all that is wanted");
    // Each counts for 1 KiB at least.
    expect(agent.desired.length).toBeLessThanOrEqual(65);
    expect(agent.states.at(-1)).toMatch(/^connected/);
  });

  test("no notices without end", async () => {
    const { agent } = await hostile((say) => {
      for (let i = 1; i <= 300; i++) say({ case: "notice", value: { start: i === 1, resources: [body(`note-${i}`)] } });
    });
    await until(() => agent.states.some((state) => state.includes("more than 16 KiB")), "the agent has given it up");
    expect(agent.told()).toBeUndefined();
  });

  test("no reasons by the thousand, nor long texts for its log", async () => {
    const inputs = Array.from({ length: 200 }, (_, i) => ref(`cause-${i}`));
    const rejected = Array.from({ length: 500 }, (_, i) => ({ ref: ref(`refused-${i}`), code: "Invalid", message: "x".repeat(1_500) }));
    const { agent } = await hostile((say) => {
      say({
        case: "down",
        value: {
          revision: 1,
          part: 1,
          last: true,
          complete: true,
          deletes: [{ ref: ref("a"), evidence: { reason: "InputRemoved", inputs } }],
        },
      });
      say({ case: "upAck", value: { seq: 0, rejected } });
    });
    await until(() => agent.desired.length === 1 && agent.log.lines.length > 0, "the agent has heard both");
    expect(agent.desired[0]?.remove[0]?.evidence.inputs).toHaveLength(16);
    await until(() => agent.log.lines.some(({ message }) => message.includes("480 more")), "the agent counts what it does not log");
    expect(agent.log.lines.length).toBeLessThanOrEqual(22);
    for (const { message } of agent.log.lines) expect(message.length).toBeLessThan(1_300);
  });
});

/** What the agent's session does with what a server says, without the socket: the server takes nothing that is said to it. */
function saying(...said: readonly Body[]) {
  let session: AgentSession = agentSession({
    clusterName: CLUSTER,
    agent: { instance: "a", version: "1", agentNamespace: "gloo-mesh", clusterUid: "u" },
    kinds: KINDS,
  });
  const effects: ReturnType<typeof stepAgent>[1][number][] = [];
  const step = (event: Parameters<typeof stepAgent>[1]) => {
    const [next, more] = stepAgent(session, event);
    session = next;
    effects.push(...more);
  };
  step({ type: "opened", epoch: 1n, now: 0 });
  for (const next of said) step({ type: "received", message: create(ConnectResponseSchema, { epoch: 1n, body: next }), now: 0 });
  const of = <T extends (typeof effects)[number]["type"]>(type: T) =>
    effects.filter((effect): effect is Extract<(typeof effects)[number], { type: T }> => effect.type === type);
  return { session: () => session, of };
}

describe("an agent keeps for a server that takes nothing", () => {
  test("few answers, and ends the stream then", () => {
    const asks = Array.from({ length: 10_000 }, (_, id): Body => ({ case: "ask", value: { id, topic: "x" } }));
    const { session, of } = saying(welcome(), ...asks);
    expect(of("end")[0]).toMatchObject({ reason: expect.stringContaining("accepts no answers") });
    expect(session().stream?.answers.length).toBeLessThanOrEqual(16 * 342);
  });

  test("few queries of its own about notices that do not come", () => {
    const digests = [{ kind: "notice", count: 7, digest: "0000000000000001" }];
    const heartbeats = Array.from({ length: 30 }, (): Body => ({ case: "heartbeat", value: { digests } }));
    const { of } = saying(welcome(), ...heartbeats);
    expect(of("send").filter(({ message }) => message.body.case === "resync").length).toBeLessThanOrEqual(10);
  });
});

describe("an agent does as its server says within reason", () => {
  test("about when to say that it is there, and when to come back", () => {
    const { session, of } = saying(welcome({ heartbeatIntervalMs: 0xffff_ffff }), {
      case: "drain",
      value: { reconnectAfterMs: 0xffff_ffff },
    });
    expect(session().stream?.liveness.intervalMs).toBe(300_000);
    expect(of("drain")).toEqual([{ type: "drain", reconnectAfterMs: 300_000 }]);
  });

  test("about its name, and what to send again", () => {
    const { of } = saying(welcome({ serverId: "x".repeat(100_000) }), {
      case: "resync",
      value: { kinds: Array(10_000).fill("apps/Deployment") },
    });
    expect(of("welcomed")[0]?.serverId.length).toBeLessThanOrEqual(1_024);
    expect(of("resync")[0]?.reason.length).toBeLessThanOrEqual(1_100);
  });
});
