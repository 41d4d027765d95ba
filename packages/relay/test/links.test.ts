import { type Resource, type ResourceRef, refOf, resourceKeyOf } from "@isthmus/core";
import { runs } from "@isthmus/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DeletionEvidence } from "../src/session/index.ts";
import { inMemoryNetwork } from "../src/transport/inMemory.ts";
import {
  byKey,
  deployment,
  KINDS,
  service,
  type TestAgentOptions,
  type TestServer,
  testAgent,
  testServer,
  virtualService,
  wantedSet,
} from "./sessionFleet.ts";
import { virtualClock } from "./virtualClock.ts";

const CLUSTER = "cluster-1";
const MINUTE = 60_000;

const evidence = (ref: ResourceRef): DeletionEvidence => ({ reason: "InputRemoved", inputs: [{ ...ref, kind: "Service" }] });

function setUp(delayMs?: () => number, remembers = false) {
  const clock = virtualClock();
  const network = inMemoryNetwork({ clock, ...(delayMs === undefined ? {} : { delayMs }) });
  const startServer = (serverId = "server-1"): TestServer => {
    const server = testServer({ clock, serverId, remembers });
    network.listen(server.link.accept);
    return server;
  };
  const startAgent = (options: Partial<TestAgentOptions> = {}) =>
    testAgent({ clock, clusterName: CLUSTER, connector: network.connector(options.clusterName ?? CLUSTER), ...options });
  return { clock, network, startServer, startAgent };
}

const sortedKeys = (map: ReadonlyMap<string, Resource> | undefined) => [...(map?.keys() ?? [])].sort();

describe("a link", () => {
  test("carries what an agent observes, then sync complete, then changes", async () => {
    const { clock, startServer, startAgent } = setUp();
    const server = startServer();
    const { link } = startAgent();
    link.observe({ put: [service(CLUSTER, "reviews"), deployment(CLUSTER, "reviews-v1")], remove: [] });
    link.synced(["/Service"], []);
    await clock.advance(10);
    expect(server.events).toEqual(["connected cluster-1"]);
    link.synced(["apps/Deployment"], []);
    await clock.advance(10);
    expect(server.events).toEqual(["connected cluster-1", "synced cluster-1 /Service,apps/Deployment"]);
    expect(sortedKeys(server.known.get(CLUSTER))).toEqual([
      "/Service|reviews.bookinfo.cluster-1",
      "apps/Deployment|reviews-v1.bookinfo.cluster-1",
    ]);
    link.observe({ put: [service(CLUSTER, "ratings")], remove: [refOf(service(CLUSTER, "reviews"))] });
    await clock.advance(10);
    expect(sortedKeys(server.known.get(CLUSTER))).toEqual([
      "/Service|ratings.bookinfo.cluster-1",
      "apps/Deployment|reviews-v1.bookinfo.cluster-1",
    ]);
  });

  test("carries what is desired after sync complete: complete at first, then changes", async () => {
    const { clock, startServer, startAgent } = setUp();
    const server = startServer();
    const { link, applied, desired } = startAgent();
    const first = virtualService(CLUSTER, "reviews");
    const wanted = wantedSet([first]);
    server.link.setDesired(CLUSTER, wanted, { evidenceOf: evidence });
    await clock.advance(10);
    expect(desired).toEqual([]);
    link.synced(KINDS, []);
    await clock.advance(10);
    expect(desired).toEqual([{ revision: 1, complete: true, put: [first], remove: [] }]);
    expect(server.acknowledged).toMatchObject([{ clusterName: CLUSTER, revision: 1, rejected: [] }]);
    expect(server.acknowledged[0]?.wanted).toBe(wanted);

    const second = virtualService(CLUSTER, "ratings");
    server.link.setDesired(CLUSTER, wantedSet([second]), { evidenceOf: evidence });
    await clock.advance(10);
    expect(desired[1]).toEqual({
      revision: 2,
      complete: false,
      put: [second],
      remove: [{ ref: refOf(first), evidence: evidence(refOf(first)) }],
    });
    expect(sortedKeys(applied)).toEqual([resourceKeyOf(refOf(second))]);
  });

  test("sends nothing of what was desired before its cluster was deregistered", async () => {
    const { clock, startServer, startAgent } = setUp();
    const server = startServer();
    const { link, desired } = startAgent();
    link.synced(KINDS, []);
    server.link.setDesired(CLUSTER, wantedSet([virtualService(CLUSTER, "reviews")]), { evidenceOf: evidence });
    await clock.advance(10);
    server.link.disconnect(CLUSTER, "the cluster is no longer registered", "Deregistered");
    await clock.advance(2 * MINUTE);
    expect(server.events.filter((event) => event.startsWith("connected"))).toHaveLength(2);
    expect(desired).toHaveLength(1);
    const now = virtualService(CLUSTER, "ratings");
    server.link.setDesired(CLUSTER, wantedSet([now]), { evidenceOf: evidence, holdsSurplus: () => true });
    await clock.advance(10);
    expect(desired.slice(1)).toEqual([{ revision: 2, complete: true, put: [now], remove: [], holdsSurplus: true }]);
  });

  test("says one turn's observations together", async () => {
    const { clock, startServer, startAgent } = setUp();
    const server = startServer();
    const { link } = startAgent();
    await clock.advance(10);
    for (let i = 0; i < 50; i++) link.observe({ put: [service(CLUSTER, `s${i}`)], remove: [] });
    await clock.advance(10);
    expect(server.observations.map(({ put }) => put.length)).toEqual([50]);
  });

  test("answers a desired set of equal content without sending it", async () => {
    const { clock, startServer, startAgent } = setUp();
    const server = startServer();
    const { link, desired } = startAgent();
    link.synced(KINDS, []);
    server.link.setDesired(CLUSTER, wantedSet([virtualService(CLUSTER, "reviews")]), { evidenceOf: evidence });
    await clock.advance(10);
    const again = wantedSet([virtualService(CLUSTER, "reviews")]);
    server.link.setDesired(CLUSTER, again, { evidenceOf: evidence });
    expect(server.acknowledged).toHaveLength(1);
    await clock.advance(10);
    expect(desired).toHaveLength(1);
    expect(server.acknowledged.at(-1)?.wanted).toBe(again);
  });

  test("does not remove what nothing explains", async () => {
    const { clock, startServer, startAgent } = setUp();
    const server = startServer();
    const { link, desired, applied } = startAgent();
    link.synced(KINDS, []);
    server.link.setDesired(CLUSTER, wantedSet([virtualService(CLUSTER, "reviews")]), { evidenceOf: evidence });
    await clock.advance(10);
    server.link.setDesired(CLUSTER, wantedSet([]), { evidenceOf: () => ({ reason: "InputRemoved", inputs: [] }) });
    await clock.advance(10);
    expect(desired).toHaveLength(1);
    expect(applied.size).toBe(1);
    expect(server.log.lines.filter(({ level }) => level === "error")).toMatchObject([
      { message: expect.stringMatching(/is kept: its delete has no recorded cause/) },
    ]);
  });

  test("asks an agent and brings its answer, also a long one, or why there is none", async () => {
    const { clock, startServer, startAgent } = setUp();
    const server = startServer();
    const long = new Uint8Array(300_000).map((_, i) => i % 251);
    startAgent({
      answer: async (topic, body) => {
        if (topic === "long") return long;
        if (topic === "echo") return body;
        throw new Error(`nothing is known about ${topic}`);
      },
    });
    await clock.advance(10);
    const { signal } = new AbortController();
    const ask = async (topic: string) => {
      const asked = server.link.ask(CLUSTER, { topic, body: new Uint8Array([1, 2]) }, signal);
      asked.catch(() => undefined);
      await clock.advance(10);
      return asked;
    };
    expect(await ask("echo")).toEqual(new Uint8Array([1, 2]));
    expect(Buffer.compare(await ask("long"), long)).toBe(0);
    await expect(ask("weather")).rejects.toThrow("nothing is known about weather");
    await expect(server.link.ask("cluster-9", { topic: "echo", body: long }, signal)).rejects.toThrow("no agent of cluster-9 is connected");
  });
});

describe("a link that is cut", () => {
  test("comes back by itself, and the agent's view is whole again", async () => {
    const { clock, network, startServer, startAgent } = setUp();
    const server = startServer();
    const { link, states } = startAgent();
    link.observe({ put: [service(CLUSTER, "a"), service(CLUSTER, "b")], remove: [] });
    link.synced(KINDS, []);
    await clock.advance(10);
    network.cut(CLUSTER);
    await clock.advance(10);
    expect(server.events.at(-1)).toBe("disconnected cluster-1: the network between cluster-1 and the management server was cut");
    link.observe({ put: [service(CLUSTER, "c")], remove: [refOf(service(CLUSTER, "a"))] });
    await clock.advance(MINUTE);
    expect(sortedKeys(server.known.get(CLUSTER))).toEqual(["/Service|a.bookinfo.cluster-1", "/Service|b.bookinfo.cluster-1"]);
    network.heal(CLUSTER);
    await clock.advance(MINUTE);
    expect(sortedKeys(server.known.get(CLUSTER))).toEqual(["/Service|b.bookinfo.cluster-1", "/Service|c.bookinfo.cluster-1"]);
    expect(server.events.slice(-2)).toEqual(["connected cluster-1", "synced cluster-1 /Service,apps/Deployment"]);
    expect(states.at(-1)).toBe("connected: connected to the management server server-1");
  });

  test("tells a server that remembers it only what has changed", async () => {
    const { clock, network, startServer, startAgent } = setUp(undefined, true);
    const server = startServer();
    const { link } = startAgent();
    link.observe({ put: [service(CLUSTER, "a"), service(CLUSTER, "b"), deployment(CLUSTER, "d")], remove: [] });
    link.synced(KINDS, []);
    await clock.advance(10);
    const putsBefore = server.observations.flatMap(({ put }) => put).length;
    network.cut(CLUSTER);
    await clock.advance(10);
    link.observe({ put: [service(CLUSTER, "c")], remove: [refOf(service(CLUSTER, "a"))] });
    network.heal(CLUSTER);
    await clock.advance(MINUTE);
    expect(server.observations.flatMap(({ put }) => put).slice(putsBefore)).toEqual([service(CLUSTER, "c")]);
    expect(sortedKeys(server.known.get(CLUSTER))).toEqual([
      "/Service|b.bookinfo.cluster-1",
      "/Service|c.bookinfo.cluster-1",
      "apps/Deployment|d.bookinfo.cluster-1",
    ]);
    expect(server.events.at(-1)).toBe("synced cluster-1 /Service,apps/Deployment");
    expect(server.link.metrics().some(({ name }) => name === "relay_server_resyncs_total")).toBe(false);
  });

  test("tells everything to a server that is another process", async () => {
    const { clock, network, startServer, startAgent } = setUp(undefined, true);
    const first = startServer();
    const { link } = startAgent();
    link.observe({ put: [service(CLUSTER, "a")], remove: [] });
    link.synced(KINDS, []);
    await clock.advance(10);
    network.listen(undefined);
    await first.stop();
    const second = startServer("server-2");
    await clock.advance(MINUTE);
    expect(sortedKeys(second.known.get(CLUSTER))).toEqual(["/Service|a.bookinfo.cluster-1"]);
  });

  test("waits longer and longer, between one and thirty seconds", async () => {
    const { clock, startAgent } = setUp();
    const { log } = startAgent();
    await clock.advance(5 * MINUTE);
    const pauses = log.lines.map(({ fields }) => fields["retryMs"]);
    expect(pauses.slice(0, 6)).toEqual([1500, 3000, 6000, 12_000, 22_500, 22_500]);
  });

  test("and says nothing any more is noticed by both ends", async () => {
    const { clock, network, startServer, startAgent } = setUp();
    const server = startServer();
    const { link, states } = startAgent();
    link.synced(KINDS, []);
    await clock.advance(MINUTE);
    expect(states.filter((state) => state.startsWith("waiting"))).toEqual([]);
    network.silence(CLUSTER);
    await clock.advance(MINUTE);
    expect(server.events.at(-1)).toBe("disconnected cluster-1: received nothing from the agent for three heartbeat intervals");
    expect(states.some((state) => state === "waiting: received nothing from the server for three heartbeat intervals")).toBe(true);
    network.heal(CLUSTER);
    await clock.advance(MINUTE);
    expect(server.events.at(-1)).toBe("synced cluster-1 /Service,apps/Deployment");
  });

  test("gives its place to a newer connection of the same cluster, whose state stands", async () => {
    const { clock, startServer, startAgent } = setUp();
    const server = startServer();
    startAgent({ instance: "old" }).link.synced(KINDS, []);
    await clock.advance(10);
    const second = startAgent({ instance: "new" });
    await clock.advance(10);
    expect(server.events.slice(-2)).toEqual([
      "disconnected cluster-1: a newer connection of cluster-1 replaced this one",
      "connected cluster-1",
    ]);
    expect(second.states.at(-1)).toMatch(/^connected/);
  });

  test("by the server's drain comes back when the server said so", async () => {
    const { clock, startServer, startAgent } = setUp();
    const server = startServer();
    const { states } = startAgent();
    await clock.advance(10);
    server.link.drain(8_000);
    await clock.advance(7_000);
    expect(states.at(-1)).toBe("waiting: the management server is shutting down");
    await clock.advance(2_000);
    expect(states.at(-1)).toMatch(/^connected/);
  });

  test("by the server, on purpose, says why; after it everything is reported again", async () => {
    const { clock, startServer, startAgent } = setUp(undefined, true);
    const server = startServer();
    const { states, link } = startAgent();
    link.observe({ put: [service(CLUSTER, "a")], remove: [] });
    link.synced(KINDS, []);
    await clock.advance(10);
    server.link.disconnect(CLUSTER, "cluster-1 is no longer registered");
    expect(server.events.at(-1)).toMatch(/^synced/);
    await clock.advance(10);
    expect(server.events.at(-1)).toBe("disconnected cluster-1: cluster-1 is no longer registered");
    expect(states.at(-1)).toBe("waiting: cluster-1 is no longer registered");
    await clock.advance(MINUTE);
    expect(server.observations.map(({ put }) => put.length)).toEqual([1, 1]);
  });
});

type Step =
  | { readonly do: "put" | "remove"; readonly name: string }
  | { readonly do: "want"; readonly names: readonly string[] }
  | { readonly do: "cut" | "silence" | "heal" | "restartServer" | "restartAgent" }
  | { readonly do: "pass"; readonly ms: number };

const name = fc.constantFrom("a", "b", "c", "d");
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: name.map((it): Step => ({ do: "put", name: it })) },
  { weight: 2, arbitrary: name.map((it): Step => ({ do: "remove", name: it })) },
  { weight: 4, arbitrary: fc.uniqueArray(name).map((names): Step => ({ do: "want", names })) },
  { weight: 3, arbitrary: fc.constantFrom("cut", "silence", "heal", "restartServer", "restartAgent").map((it): Step => ({ do: it })) },
  { weight: 5, arbitrary: fc.integer({ min: 1, max: 40_000 }).map((ms): Step => ({ do: "pass", ms })) },
);

test("links heal from every mixture of cuts, silence, delays and restarts", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.boolean(),
      fc.array(step, { maxLength: 40, size: "max" }),
      fc.array(fc.nat(3_000), { minLength: 1, maxLength: 7 }),
      async (remembers, steps, delays) => {
        let hop = 0;
        const { clock, network, startServer, startAgent } = setUp(() => delays[hop++ % delays.length] ?? 0, remembers);
        const cluster = new Map<string, Resource>();
        let wanted = wantedSet([]);
        let server = startServer();
        let agent = startAgent();
        const report = () => {
          agent.link.observe({ put: [...cluster.values()], remove: [] });
          agent.link.synced(KINDS, []);
        };
        report();
        for (const it of steps) {
          if (it.do === "put") {
            const resource = service(CLUSTER, it.name, { spec: { at: clock.now() } });
            cluster.set(resourceKeyOf(refOf(resource)), resource);
            agent.link.observe({ put: [resource], remove: [] });
          } else if (it.do === "remove") {
            cluster.delete(resourceKeyOf(refOf(service(CLUSTER, it.name))));
            agent.link.observe({ put: [], remove: [refOf(service(CLUSTER, it.name))] });
          } else if (it.do === "want") {
            wanted = wantedSet(it.names.map((one) => virtualService(CLUSTER, one, { spec: { at: clock.now() } })));
            server.link.setDesired(CLUSTER, wanted, { evidenceOf: evidence });
          } else if (it.do === "pass") {
            await clock.advance(it.ms);
          } else if (it.do === "restartServer") {
            const { known } = server;
            network.listen(undefined);
            await server.stop();
            server = startServer();
            // What a server remembers, as from its store.
            for (const [clusterName, objects] of known) server.known.set(clusterName, objects);
            server.link.setDesired(CLUSTER, wanted, { evidenceOf: evidence });
          } else if (it.do === "restartAgent") {
            const { applied } = agent;
            await agent.stop();
            agent = startAgent({ instance: `agent-${clock.now()}` });
            // What a cluster holds outlives its agent.
            for (const [key, resource] of applied) agent.applied.set(key, resource);
            report();
          } else {
            network[it.do](CLUSTER);
          }
        }
        network.heal(CLUSTER);
        server.link.setDesired(CLUSTER, wanted, { evidenceOf: evidence });
        await clock.advance(4 * MINUTE);
        expect(new Map([...(server.known.get(CLUSTER) ?? [])].sort())).toEqual(new Map([...cluster].sort()));
        expect(new Map([...agent.applied].sort())).toEqual(new Map([...byKey([...wanted].map(({ resource }) => resource))].sort()));
        expect(agent.desired.flatMap(({ remove }) => remove).every((removal) => removal.evidence.inputs.length > 0)).toBe(true);
        await agent.stop();
        await server.stop();
      },
    ),
    { numRuns: runs(60) },
  );
});
