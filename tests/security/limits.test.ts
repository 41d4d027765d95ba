import { randomUUID } from "node:crypto";
import { Service } from "@isthmus/api";
import { MAX_DEPTH, type Resource } from "@isthmus/core";
import { systemClock as clock } from "@isthmus/plane";
import { grpcConnector } from "@isthmus/relay";
import { startAgentLink } from "@isthmus/relay/session";
import { memoryStore } from "@isthmus/store";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Replica, type Replicas, replicasOf, SHARED_TOKEN, until } from "./harness/replicas.ts";
import { placeholder, tamperedConnector } from "./harness/tamperedWire.ts";

const KINDS = ["/Service"];

let plane: Replicas;
beforeEach(async () => {
  plane = await replicasOf();
});
afterEach(() => plane.stop());

/** An agent whose objects are not what an agent's library would write, over real sockets. */
function hostileAgent(replica: Replica) {
  const stop = new AbortController();
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const shared = { clusterName: "evil", clock, random: Math.random, log };
  const texts = new Map<string, string>();
  const connector = grpcConnector({
    ...shared,
    address: replica.address,
    clusterUid: "uid-of-evil",
    root: async () => replica.kept.identity.root,
    token: async () => SHARED_TOKEN,
    credentials: undefined,
  });
  const link = startAgentLink(
    {
      ...shared,
      kinds: KINDS,
      agent: { instance: "evil", version: "test", agentNamespace: "gloo-mesh", clusterUid: "uid-of-evil" },
      connector: tamperedConnector(connector, texts),
      handler: { desired: () => undefined, notices: () => undefined, state: () => undefined },
    },
    stop.signal,
  );
  return {
    link,
    /** Sends a Service in which something stands that no value of ours could be. */
    send(name: string, text: string) {
      texts.set(name, text);
      link.observe({ put: [service(name, placeholder(name))], remove: [] });
    },
    async stop() {
      stop.abort(new Error("the test is over"));
      await link.closed;
    },
  };
}

function service(name: string, extra: string): Resource {
  return { apiVersion: "v1", kind: "Service", metadata: { name, namespace: "shop", clusterName: "evil" }, extra } as Resource;
}

function nested(levels: number): string {
  return `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
}

// What once ended the server, or could: each is sent twice, since what is known is compared with what comes.
const HOSTILE: Readonly<Record<string, string>> = {
  // Where a stack is full depends on what walks there: parsing, comparing, writing it to the store.
  ...Object.fromEntries([3_500, 4_500, 6_000].map((levels) => [`nested ${levels} levels deep`, nested(levels)])),
  "a list of lists, 17,000 levels deep": `${"[".repeat(17_000)}${"]".repeat(17_000)}`,
  "a field that looks like our own word for a refusal": '1,"problem":{"toString":1,"valueOf":1}',
  "metadata of other types": '1,"metadata":{"name":"hostile","namespace":{"toString":1},"clusterName":"evil"}',
  "a prototype": '{"__proto__":{"toString":1},"constructor":{"prototype":1}}',
  "labels that are no texts": '1,"metadata":{"name":"hostile","namespace":"shop","clusterName":"evil","labels":{"a":{"toString":1}}}',
  "metadata of null": '1,"metadata":null',
};

describe("an agent's object", () => {
  for (const [what, text] of Object.entries(HOSTILE)) {
    test(`does not end the server, nor hold up others: ${what}`, async () => {
      // With a store, in which what agents report is written as text.
      const replica = await plane.start({ clientCertificates: false, store: memoryStore({ clock, id: randomUUID }) });
      const agent = hostileAgent(replica);
      const ended = replica.server.ended.then(
        () => "ended",
        (error: unknown) => `failed: ${error}`,
      );
      try {
        const known = () => [...replica.server.store.snapshot.of(Service)].map(({ metadata }) => metadata.name);
        agent.link.synced(KINDS, []);
        await until(() => replica.server.store.clusters.get("evil")?.phase === "synced", "the cluster is synced");
        for (const round of ["first", "second"]) {
          agent.send("hostile", text);
          agent.link.observe({ put: [service(round, "good")], remove: [] });
          await until(() => known().includes(round), `the ${round} good Service is known`);
        }
        expect(await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 100, "runs"))])).toBe("runs");
        if (text.length > 1_000) expect(known()).not.toContain("hostile");
      } finally {
        await agent.stop();
      }
    });
  }

  test(`may be nested ${MAX_DEPTH} levels deep, and no more`, async () => {
    const replica = await plane.start({ clientCertificates: false });
    const agent = hostileAgent(replica);
    try {
      agent.link.synced(KINDS, []);
      await until(() => replica.server.store.clusters.get("evil")?.phase === "synced", "the cluster is synced");
      // The object itself is the first level.
      agent.send("deep", nested(MAX_DEPTH - 1));
      agent.send("deeper", nested(MAX_DEPTH));
      agent.link.observe({ put: [service("good", "good")], remove: [] });
      await until(() => [...replica.server.store.snapshot.of(Service)].length > 0, "the Services are known");
      expect([...replica.server.store.snapshot.of(Service)].map(({ metadata }) => metadata.name)).toEqual(["deep", "good"]);
    } finally {
      await agent.stop();
    }
  });
});
