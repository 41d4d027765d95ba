import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Service, VirtualService } from "@isthmus/api";
import type { AnyResource, Log, Resource } from "@isthmus/core";
import type { Store } from "@isthmus/plane";
import { readFleet, redisStore } from "@isthmus/store";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { describeReal } from "../harness/describeReal.ts";
import { type RealRedis, startRedis } from "../harness/redis.ts";
import { bookinfoMesh, entriesOf, type SimulatedFleet, simulatedFleet, timeoutPolicy, written } from "./simulatedFleet.ts";

const nothing = () => undefined;
const silent: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const keys = async () => ({ key: Buffer.alloc(32, "of-a-test") });
const soon = { timeout: 60_000, interval: 50 };
const quiet = () => new Promise((resolve) => setTimeout(resolve, 1_000));

// The real loops and a real Redis; clusters and network are simulated, so that only Redis can be the reason.
describeReal("replicas over a real Redis", ({ redis: command }) => {
  let directory: string;
  let redis: RealRedis;
  let fleet: SimulatedFleet;
  const stores: Store[] = [];

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "isthmus-redis-"));
    redis = await startRedis(command, directory, {
      tls: true,
      password: "admin",
      user: { name: "mesh", password: "of-mesh" },
      persistent: true,
    });
    fleet = simulatedFleet(silent);
  });
  afterEach(async () => {
    await fleet.stop();
    await Promise.all(stores.splice(0).map((store) => store.close()));
    await redis.stop();
    rmSync(directory, { recursive: true });
  });

  function connect(): Store {
    const store = redisStore({ ...redis.settings, timeoutMs: 500 }, { log: silent, keys });
    stores.push(store);
    return store;
  }

  const cluster = (name: string) => fleet.cluster(name);
  const everything = () => [...written(cluster("cluster-1")), ...written(cluster("cluster-2"))];
  const digestsOf = (name: string) => Object.fromEntries([...fleet.server(name).sharing.digests].sort());

  async function pair(): Promise<void> {
    const follower = { isLeader: false, fence: 1, onChange: () => () => undefined };
    fleet.startServer("a", { store: connect() });
    fleet.startServer("b", { store: connect(), leadership: follower });
    fleet.route("cluster-1", "a");
    fleet.route("cluster-2", "b");
    fleet.startAgent("cluster-1");
    fleet.startAgent("cluster-2");
    await fleet.management.create(bookinfoMesh);
    await vi.waitFor(async () => {
      expect(entriesOf(cluster("cluster-1"))).toContain("reviews.bookinfo.svc.cluster-2.global");
      expect(entriesOf(cluster("cluster-2"))).toContain("reviews.bookinfo.svc.cluster-1.global");
    }, soon);
    await agreed();
  }

  async function agreed(): Promise<object> {
    await vi.waitFor(() => {
      expect(Object.keys(digestsOf("a"))).toEqual(["", "cluster-1", "cluster-2"]);
      expect(digestsOf("b")).toEqual(digestsOf("a"));
    }, soon);
    return digestsOf("a");
  }

  async function timeouts(): Promise<readonly (string | undefined)[]> {
    const routes = ["cluster-1", "cluster-2"].map((name) => cluster(name).get(VirtualService, { name: "reviews", namespace: "bookinfo" }));
    return (await Promise.all(routes)).map((service) => service?.spec?.http?.[0]?.timeout);
  }

  async function complete(store: Store): Promise<void> {
    await vi.waitFor(async () => {
      const inputs = await readFleet(store, "input");
      expect(inputs.map(({ clusterName, complete: isWhole }) => [clusterName, isWhole])).toEqual([
        ["cluster-1", true],
        ["cluster-2", true],
      ]);
      expect((await readFleet(store, "translated")).map(({ complete: isWhole }) => isWhole)).toEqual([true, true, true]);
    }, soon);
  }

  it("show the fleet to a reader while no server runs, without any user's Secret", async () => {
    const secret = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "canary", namespace: "bookinfo" },
      data: { key: btoa("canary-of-a-user") },
    };
    await cluster("cluster-1").create(secret as Resource);
    await pair();
    await complete(connect());
    await Promise.all(["cluster-1", "cluster-2"].map((name) => fleet.stopAgent(name)));
    await Promise.all(["a", "b"].map((name) => fleet.stopServer(name)));
    const reader = connect();
    await vi.waitFor(() => reader.overview("input"), soon);
    const [first] = await readFleet(reader, "input");
    expect(first).toMatchObject({ clusterName: "cluster-1", complete: true, meta: { agent: { version: "test" } } });
    const services: AnyResource[] = [];
    for await (const page of first?.objects("/Service") ?? []) services.push(...page);
    expect(services.map(({ metadata }) => metadata.name)).toContain("reviews");
    const wanted = (await readFleet(reader, "translated")).find(({ clusterName }) => clusterName === "cluster-1");
    const objects: AnyResource[] = [];
    for await (const page of wanted?.objects() ?? []) objects.push(...page);
    expect(objects.map(({ kind }) => kind)).toContain("ServiceEntry");
    expect(
      redis
        .cli("--raw", "--scan")
        .split("\n")
        .filter((key) => !key.startsWith("gloo-mesh:")),
    ).toEqual([]);
    for (const key of redis.cli("--raw", "--scan").split("\n")) {
      if (redis.cli("type", key) === "hash") expect(redis.cli("--raw", "hgetall", key)).not.toMatch(/canary/);
    }
  });

  it("write nothing wrong while Redis is emptied, killed, empty after its return, or slow", async () => {
    await pair();
    const store = connect();
    await complete(store);
    const before = everything();

    redis.cli("FLUSHALL");
    await complete(store);
    await redis.kill();
    await quiet();
    await redis.start();
    await complete(store);
    await redis.restartEmpty();
    await complete(store);
    redis.cli("CLIENT", "PAUSE", "3000", "ALL");
    await quiet();
    await agreed();
    expect(everything()).toEqual(before);

    await redis.kill();
    await fleet.management.create(timeoutPolicy);
    await vi.waitFor(async () => expect(await timeouts()).toEqual(["2s", "2s"]), soon);
    await cluster("cluster-1").delete({ ...Service, name: "details", namespace: "bookinfo", clusterName: "cluster-1" });
    await redis.start();
    const gone = "details.bookinfo.svc.cluster-1.global";
    await vi.waitFor(async () => expect(entriesOf(cluster("cluster-2"))).not.toContain(gone), soon);
    await agreed();
  });

  it("take each other's agents over, and start cold from what Redis has", async () => {
    await pair();
    await complete(connect());
    const [before, wanted] = [everything(), await agreed()];
    fleet.route("cluster-2", "a");
    await fleet.stopServer("b");
    await vi.waitFor(
      () => expect(fleet.server("a").store.clusters.get("cluster-2")).toMatchObject({ phase: "synced", isServed: true }),
      soon,
    );
    await Promise.all(["cluster-1", "cluster-2"].map((name) => fleet.stopAgent(name)));
    await fleet.stopServer("a");
    fleet.startServer("c", { store: connect() });
    await vi.waitFor(() => expect(digestsOf("c")).toEqual(wanted), soon);
    expect(everything()).toEqual(before);
  });
});
