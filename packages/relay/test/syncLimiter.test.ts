import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ConnectRequestSchema, HelloSchema } from "../src/gen/relay/v1/relay_pb.ts";
import { serverSession, serverWakeAt, stepServer } from "../src/session/serverSession.ts";
import { startSyncLimiter } from "../src/session/syncLimiter.ts";
import { inMemoryNetwork } from "../src/transport/inMemory.ts";
import { KINDS, testAgent, testServer } from "./sessionFleet.ts";
import { virtualClock } from "./virtualClock.ts";

function setUp(places: number) {
  const clock = virtualClock();
  const admission = startSyncLimiter({ places, clock });
  const admitted: string[] = [];
  const enter = (name: string) => admission.enter(() => admitted.push(name));
  return { clock, admission, admitted, enter };
}

test("agents are let in in order of coming, one for each place that is given back", () => {
  const { admission, admitted, enter } = setUp(2);
  const leave = ["a", "b", "c", "d"].map(enter);
  expect(admitted).toEqual(["a", "b"]);
  expect(admission.waiting).toBe(2);
  leave[1]?.();
  expect(admitted).toEqual(["a", "b", "c"]);
  leave[1]?.();
  expect(admitted).toEqual(["a", "b", "c"]);
  leave[0]?.();
  expect(admitted).toEqual(["a", "b", "c", "d"]);
});

test("who goes away while waiting takes no place", () => {
  const { admitted, enter } = setUp(1);
  const [leaveA, leaveB] = ["a", "b", "c"].map(enter);
  leaveB?.();
  leaveA?.();
  expect(admitted).toEqual(["a", "c"]);
});

test("a place that is held for too long is given to the next one", async () => {
  const { clock, admitted, enter } = setUp(1);
  const [leaveA] = ["a", "b", "c"].map(enter);
  await clock.advance(15_000);
  expect(admitted).toEqual(["a", "b"]);
  // It has none to give back any more.
  leaveA?.();
  expect(admitted).toEqual(["a", "b"]);
});

test("agents that come at once are let in in order, and keep their connections while they wait", async () => {
  const clock = virtualClock();
  const network = inMemoryNetwork({ clock });
  const server = testServer({ clock, places: 1 });
  network.listen(server.link.accept);
  const names = ["a", "b", "c", "d", "e"];
  const agents = names.map((clusterName) => testAgent({ clock, clusterName, connector: network.connector(clusterName) }));
  await clock.advance(10);
  expect(server.events).toEqual(["connected a"]);
  // `a` cannot report everything: it gives its place up in the end.
  agents[1]?.link.synced(KINDS, []);
  await clock.advance(15_000);
  expect(server.events).toEqual(["connected a", "connected b", "synced b /Service,apps/Deployment", "connected c"]);
  // Longer than a silent connection is borne by either end.
  await clock.advance(45_000);
  expect(server.events.filter((event) => event.startsWith("connected"))).toEqual(names.map((name) => `connected ${name}`));
  expect(server.events.filter((event) => event.startsWith("disconnected"))).toEqual([]);
  for (const { states } of agents) expect(states.filter((state) => state.startsWith("waiting"))).toEqual([]);
});

test("an agent that continues talking before it was let in is disconnected", async () => {
  const clock = virtualClock();
  const network = inMemoryNetwork({ clock });
  const server = testServer({ clock, places: 1 });
  network.listen(server.link.accept);
  testAgent({ clock, clusterName: "a", connector: network.connector("a") });
  await clock.advance(10);
  const ends: string[] = [];
  const stream = { send: () => true, end: ({ reason }: { readonly reason: string }) => void ends.push(reason) };
  const handler = server.link.accept({ clusterName: "b", address: "b", authentication: "none" }, stream);
  const hello = create(ConnectRequestSchema, { epoch: 1n, body: { case: "hello", value: create(HelloSchema, { protocolVersion: 1 }) } });
  handler.received(hello);
  handler.received(hello);
  expect(ends).toEqual(["the agent sent more messages before it was accepted"]);
});

test("an agent whose certificate expires while it waits is disconnected, and not looked at for ever", () => {
  const now = 60_000;
  const session = serverSession({
    clusterName: "a",
    serverId: "server-1",
    heartbeatMs: 10_000,
    expiresAt: now,
    desired: undefined,
    now: 0,
  });
  const hello = create(ConnectRequestSchema, { epoch: 1n, body: { case: "hello", value: create(HelloSchema, { features: ["wait"] }) } });
  const [waiting, nothing] = stepServer(session, { type: "waits", hello, now: now - 1 });
  expect(nothing.map(({ type }) => type)).toEqual(["send"]);
  expect(serverWakeAt(waiting)).toBe(now);
  const [, effects] = stepServer(waiting, { type: "waits", hello, now });
  expect(effects).toEqual([{ type: "end", code: "CertificateRefused", reason: "the agent's certificate has expired" }]);
});
