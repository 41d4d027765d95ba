import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type AnyResource, refOf, SortedMap } from "@isthmus/core";
import { describe, expect, test } from "vitest";
import { type ConnectRequest, ConnectResponseSchema, type Notice } from "../src/gen/relay/v1/relay_pb.ts";
import { type AgentEvent, agentSession, stepAgent } from "../src/session/agentSession.ts";
import {
  hasMissedNotices,
  nextNotice,
  noticeDigest,
  noticeItems,
  startReceivingNotices,
  startSendingNotices,
  takeNotice,
  withItems,
} from "../src/session/notices.ts";
import { inMemoryNetwork } from "../src/transport/inMemory.ts";
import { KINDS, service, testAgent, testServer } from "./sessionFleet.ts";
import { virtualClock } from "./virtualClock.ts";

const CLUSTER = "cluster-1";
const MAX = 1024 * 1024;

function note(name: string, extra: Record<string, unknown> = {}): AnyResource {
  return {
    apiVersion: "networking.mesh.gloo.solo.io/v1",
    kind: "TrafficPolicy",
    metadata: { name, namespace: "a", clusterName: CLUSTER },
    ...extra,
  };
}

function setUp(tellsFirst: boolean) {
  const clock = virtualClock();
  const network = inMemoryNetwork({ clock });
  const server = testServer({ clock, tellsFirst });
  network.listen(server.link.accept);
  const start = () => testAgent({ clock, clusterName: CLUSTER, connector: network.connector(CLUSTER) });
  return { clock, network, server, start };
}

describe("what a server tells", () => {
  test("is the latest of each resource, and reported again to an agent that comes back", async () => {
    const { clock, network, server, start } = setUp(false);
    server.link.sendNotices(CLUSTER, { put: [note("p", { status: 1 }), note("q")], remove: [] });
    server.link.sendNotices(CLUSTER, { put: [note("p", { status: 2 })], remove: [refOf(note("q"))] });
    const { told } = start();
    await clock.advance(10);
    expect([...(told()?.values() ?? [])]).toEqual([note("p", { status: 2 })]);
    server.link.sendNotices(CLUSTER, { put: [note("r")], remove: [refOf(note("p"))] });
    await clock.advance(10);
    expect([...(told()?.values() ?? [])]).toEqual([note("r")]);
    network.cut(CLUSTER);
    server.link.sendNotices(CLUSTER, { put: [note("s")], remove: [refOf(note("r"))] });
    await clock.advance(100);
    network.heal(CLUSTER);
    await clock.advance(60_000);
    expect([...(told()?.values() ?? [])]).toEqual([note("s")]);
  });

  test("comes before the agent reports anything, where the server says so", async () => {
    const { clock, server, start } = setUp(true);
    const { link, told } = start();
    link.observe({ put: [service(CLUSTER, "reviews")], remove: [] });
    link.synced(KINDS, []);
    await clock.advance(1_000);
    expect([server.observations, told()]).toEqual([[], undefined]);
    server.link.sendNotices(CLUSTER, { put: [], remove: [] });
    await clock.advance(10);
    expect(told()?.size).toBe(0);
    expect(server.events).toContain("synced cluster-1 /Service,apps/Deployment");
  });

  test("goes in parts where it is large, and what names another cluster is left out", () => {
    const items = noticeItems({ put: [...Array(40).keys()].map((i) => note(`p${i}`, { status: "x".repeat(10_000) })), remove: [] });
    let notices = startSendingNotices(withItems(SortedMap.empty(), items));
    let heard = startReceivingNotices();
    const tellings: number[] = [];
    const messages: Notice[] = [];
    for (let next = nextNotice(notices, MAX); next !== undefined; next = nextNotice(notices, MAX)) {
      notices = next.notices;
      messages.push(next.message);
      const step = takeNotice(heard, next.message, CLUSTER);
      heard = step.notices;
      if (step.received !== undefined) tellings.push(step.received.put.length);
    }
    expect(messages.length).toBeGreaterThan(3);
    expect(tellings).toEqual([40]);
    expect(hasMissedNotices(heard, noticeDigest(notices))).toBe(false);
    expect(takeNotice(startReceivingNotices(), messages[0] as Notice, "cluster-2").notices.arriving?.piece.put).toEqual([]);
  });

  test("is asked for again when some of it was lost", () => {
    const first = nextNotice(startSendingNotices(withItems(SortedMap.empty(), noticeItems({ put: [note("p")], remove: [] }))), MAX);
    if (first === undefined) throw new Error("nothing was told");
    const digests = [...noticeDigest(first.notices)];
    expect(hasMissedNotices(startReceivingNotices(), digests)).toBe(true);
    const agent = agentAt({ features: ["notices", "user-resources"] });
    expect(agent({ case: "heartbeat", value: { digests } })).toMatchObject([{ body: { case: "resync", value: { kinds: ["notice"] } } }]);
    expect(agent({ case: "notice", value: first.message })).toEqual([]);
    expect(agent({ case: "heartbeat", value: { digests } })).toEqual([]);
  });
});

describe("what users ask in workload clusters", () => {
  test("is not said to a server that is too old to tell it from what the management cluster says", () => {
    expect(reportedTo(["ask"])).toEqual(["/Service"]);
    expect(reportedTo(["ask", "user-resources"])).toEqual(["/Service", "networking.mesh.gloo.solo.io/TrafficPolicy"]);
  });
});

/** The kinds that an agent says to have reported completely. */
function reportedTo(features: readonly string[]): readonly string[] {
  const kinds = ["/Service", "networking.mesh.gloo.solo.io/TrafficPolicy"];
  const agent = agentAt({ features, kinds });
  const sent = [...Array(4).keys()].flatMap(() => agent(undefined));
  return sent.flatMap(({ body }) => (body.case === "syncComplete" ? body.value.kinds.map(({ kind }) => kind) : []));
}

/** An agent that a server has welcomed: takes what that says next, or flushes, and gives what the agent says to it. */
function agentAt({ features, kinds = ["/Service"] }: { readonly features: readonly string[]; readonly kinds?: readonly string[] }) {
  const agent = { instance: "i", version: "1", agentNamespace: "n", clusterUid: "u" };
  let session = agentSession({ clusterName: CLUSTER, agent, kinds, userKinds: kinds.slice(1) });
  const step = (event: AgentEvent): readonly ConnectRequest[] => {
    const [next, effects] = stepAgent(session, event);
    session = next;
    return effects.flatMap((effect) => (effect.type === "send" ? [effect.message] : []));
  };
  type Body = NonNullable<MessageInitShape<typeof ConnectResponseSchema>["body"]>;
  const hear = (body: Body) => step({ type: "received", message: create(ConnectResponseSchema, { epoch: 1n, body }), now: 0 });
  step({ type: "observed", observation: { put: [service(CLUSTER, "reviews"), note("p")], remove: [] } });
  step({ type: "synced", kinds, unserved: [] });
  step({ type: "opened", epoch: 1n, now: 0 });
  const limits = { maxMessageBytes: MAX, maxUnackedUps: 8 };
  hear({ case: "welcome", value: { protocolVersion: 1, heartbeatIntervalMs: 10_000, limits, features: [...features] } });
  return (body: Body | undefined) => (body === undefined ? step({ type: "flush" }) : hear(body));
}
