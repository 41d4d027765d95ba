import { create } from "@bufbuild/protobuf";
import { keyOf, kindKeyOf, type Resource, refOf } from "@isthmus/core";
import { describe, expect, test } from "vitest";
import { AckSchema, HelloSchema, KindDigestSchema, SyncCompleteSchema, UpSchema } from "../src/gen/relay/v1/relay_pb.ts";
import { boundedRejections, problemOfHello, rejectionMessages } from "../src/session/bounds.ts";
import { digestOfKind, emptyInventory, withChanges, withObject } from "../src/session/inventory.ts";
import { ACCEPT_ALL, type Quota, type ReportFilter } from "../src/session/reportFilter.ts";
import {
  checkReported,
  quotaExcessOf,
  type ServerUp,
  startReceiving,
  takeSyncComplete,
  takeUp,
  type UpStep,
} from "../src/session/serverUp.ts";
import { bodyOf, refMessage } from "../src/session/wire.ts";
import { deployment, service } from "./sessionFleet.ts";

const CLUSTER = "cluster-1";
const SERVICES = "/Service";

/** A server's hearing behind a report filter, and what it has taken. */
function hearing(reportFilter: Partial<ReportFilter> = {}, ledger?: ServerUp["ledger"]) {
  const quota = { objects: 100, bytes: 100_000 };
  const taken = new Map<string, Resource>();
  const hears = {
    clusterName: CLUSTER,
    reportFilter: {
      ...ACCEPT_ALL,
      quota: () => quota,
      heldObjects: () => taken.size,
      isHeld: (ref: Parameters<ReportFilter["isHeld"]>[0]) => taken.has(keyOf(ref)),
      ...reportFilter,
    },
  };
  let up = startReceiving(undefined, ledger);
  const did = (step: UpStep) => {
    up = step.up;
    for (const resource of step.observation?.put ?? []) taken.set(keyOf(refOf(resource)), resource);
    for (const ref of step.observation?.remove ?? []) taken.delete(keyOf(ref));
    return step;
  };
  const digest = (resources: readonly Resource[], kind = SERVICES) => {
    const inventory = withChanges(
      emptyInventory,
      resources.map((resource) => withObject(kind, refOf(resource), bodyOf(resource))),
    );
    return create(KindDigestSchema, { kind, ...digestOfKind(inventory, kind) });
  };
  return {
    quota: (now: Partial<Quota>) => Object.assign(quota, now),
    taken: () => [...taken.values()].map(({ metadata }) => metadata.name).sort(),
    excess: () => quotaExcessOf(up, hears.reportFilter.quota(CLUSTER)),
    get up() {
      return up;
    },
    puts: (resources: readonly Resource[], start = false) =>
      did(
        takeUp(
          up,
          create(UpSchema, {
            seq: up.seq + 1,
            kind: resources[0] === undefined ? SERVICES : kindKeyOf(resources[0]),
            start,
            upserts: resources.map((resource) => ({ ref: refMessage(refOf(resource)), json: bodyOf(resource) })),
          }),
          hears,
        ),
      ),
    removes: (resource: Resource) =>
      did(takeUp(up, create(UpSchema, { seq: up.seq + 1, kind: kindKeyOf(resource), deletes: [refMessage(refOf(resource))] }), hears)),
    completes: (resources: readonly Resource[]) =>
      did(takeSyncComplete(up, create(SyncCompleteSchema, { kinds: [digest(resources)] }), hears)),
    beats: (resources: readonly Resource[]) => did(checkReported(up, [digest(resources)], hears)),
  };
}

const services = (count: number, from = 0) => Array.from({ length: count }, (_, i) => service(CLUSTER, `service-${i + from}`));

describe("a quota of objects", () => {
  test("refuses what is above it, one by one; a resync is not asked for, and nothing of the kind counts as gone", () => {
    const up = hearing({});
    up.quota({ objects: 2 });
    const { ack, refused } = up.puts(services(4));
    expect(up.taken()).toEqual(["service-0", "service-1"]);
    expect(refused).toEqual(new Map([["Quota", 2]]));
    expect(ack?.rejected.map(({ ref, code, message }) => [ref?.name, code, message])).toEqual([
      ["service-2", "Refused", expect.stringMatching(/^Service bookinfo\/service-2 in cluster-1: .*raise relay.agentQuota.objects/)],
      ["service-3", "Refused", expect.stringMatching(/the quota of this agent, 2 objects, is exceeded/)],
    ]);
    expect(up.excess()).toEqual({ limit: "objects", quota: 2, kinds: [SERVICES] });
    const { synced, resync } = up.completes(services(4));
    expect([resync, [...(synced?.complete.keys() ?? [])]]).toEqual([undefined, []]);
    expect(up.beats(services(4)).resync).toBeUndefined();
  });

  test("leaves what was taken in use when it is lowered, with its changes", () => {
    const up = hearing({});
    up.puts(services(3));
    up.completes(services(3));
    up.quota({ objects: 1 });
    expect(up.puts(services(4)).refused).toEqual(new Map([["Quota", 1]]));
    expect(up.taken()).toHaveLength(3);
  });

  test("is asked for again when objects are gone, and ends the excess", () => {
    const up = hearing({});
    up.quota({ objects: 10 });
    up.puts(services(11));
    up.completes(services(11));
    up.removes(service(CLUSTER, "service-0"));
    const { resync } = up.beats(services(10, 1));
    expect(resync).toEqual([SERVICES]);
    up.puts(services(10, 1), true);
    expect(up.taken()).toHaveLength(10);
    expect(up.excess()).toBeUndefined();
    expect([...(up.completes(services(10, 1)).synced?.complete.keys() ?? [])]).toEqual([SERVICES]);
  });

  test("is not evaded by an agent that comes back and reports others first", () => {
    const quota = { objects: 3, bytes: 100_000 };
    const first = hearing({ quota: () => quota });
    first.puts(services(3));
    first.completes(services(3));
    const again = hearing({ quota: () => quota, heldObjects: () => 3, isHeld: () => false }, first.up.ledger);
    expect(again.puts(services(3, 10)).refused).toEqual(new Map([["Quota", 3]]));
  });

  test("counts what is refused for another reason, as it is held for the comparison", () => {
    const up = hearing({});
    up.quota({ objects: 2 });
    const foreign = (name: string) => service("cluster-2", name);
    expect(up.puts(["a", "b", "c", "d"].map(foreign)).refused).toEqual(
      new Map([
        ["OtherCluster", 2],
        ["Quota", 2],
      ]),
    );
  });
});

describe("a quota of bytes", () => {
  test("refuses what is larger than what is left of it, also as a change", () => {
    const up = hearing({});
    const size = bodyOf(service(CLUSTER, "service-0")).length;
    up.quota({ bytes: size * 2 });
    expect(up.puts(services(3)).refused).toEqual(new Map([["Quota", 1]]));
    const large = { ...service(CLUSTER, "service-0"), spec: { padding: "x".repeat(size) } } as Resource;
    expect(up.puts([large]).refused).toEqual(new Map([["Quota", 1]]));
    expect(up.excess()).toMatchObject({ limit: "bytes", quota: size * 2 });
    up.removes(service(CLUSTER, "service-1"));
    expect(up.puts([service(CLUSTER, "service-9")]).refused).toBeUndefined();
  });

  test("keeps what was known before this server heard the agent, though there is no room for its content", () => {
    const up = hearing({ isHeld: () => true, heldObjects: () => 3 });
    up.quota({ bytes: 1 });
    expect(up.puts(services(3)).refused).toEqual(new Map([["Quota", 3]]));
    expect([...(up.completes(services(3)).synced?.complete.keys() ?? [])]).toEqual([]);
  });
});

describe("kinds that agents do not report", () => {
  const isAccepted = (kindKey: string) => kindKey === SERVICES;

  test("are refused without a look at them, and neither held nor compared", () => {
    const up = hearing({ isAccepted });
    const { refused, observation, ack } = up.puts([deployment(CLUSTER, "reviews-v1")]);
    expect([refused, observation]).toEqual([new Map([["Kind", 1]]), undefined]);
    expect(ack?.rejected[0]?.message).toBe(
      "Deployment bookinfo/reviews-v1 in cluster-1: agents do not report Deployment objects: the management plane only reads them in the management cluster",
    );
    expect(up.up.held.size).toBe(0);
    const claimed = create(KindDigestSchema, { kind: "apps/Deployment", count: 1, digest: "0000000000000000" });
    const step = takeSyncComplete(up.up, create(SyncCompleteSchema, { kinds: [claimed], unserved: ["x/Y"] }), {
      reportFilter: { ...ACCEPT_ALL, isAccepted },
    });
    expect([step.resync, step.broken, step.synced?.complete.size, step.up.unserved.size]).toEqual([undefined, undefined, 0, 0]);
  });
});

describe("what is said beside objects is bounded", () => {
  const long = "x".repeat(100_000);

  test("names", () => {
    const up = hearing({});
    expect(up.puts([service(CLUSTER, long)]).broken).toMatch(/names that are longer than Kubernetes allows/);
    expect(up.puts([service(CLUSTER, "x".repeat(253))]).broken).toBeUndefined();
  });

  test("hellos", () => {
    expect(problemOfHello(create(HelloSchema, { instance: "i", features: ["ask"] }))).toBeUndefined();
    for (const hello of [
      { instance: long },
      { agentVersion: long },
      { clusterUid: long },
      { features: [long] },
      { features: new Array(65).fill("f") },
    ]) {
      expect(problemOfHello(create(HelloSchema, hello))).toBeDefined();
    }
    expect(problemOfHello(create(HelloSchema, { digests: [{ kind: long }] }))).toBe("names of kinds are too long");
  });

  test.each([
    [{ name: "enterprise-agent", grpcPort: 9977, httpPort: 9988 }, undefined],
    [{ name: "a".repeat(63), grpcPort: 1 }, undefined],
    // It has none.
    [{ name: "", grpcPort: 0 }, undefined],
    // What would lead proxies out of the agent's namespace, or break what it stands in.
    [{ name: "sink.attackers", grpcPort: 9977 }, "the name of its Service is not a DNS label"],
    [{ name: "169.254.169.254", grpcPort: 80 }, "the name of its Service is not a DNS label"],
    [{ name: "agent:1/../x", grpcPort: 9977 }, "the name of its Service is not a DNS label"],
    [{ name: "agent\n", grpcPort: 9977 }, "the name of its Service is not a DNS label"],
    [{ name: "a".repeat(64), grpcPort: 9977 }, "the name of its Service is not a DNS label"],
    [{ name: "agent", grpcPort: 0 }, "a port of its Service is not one"],
    [{ name: "agent", grpcPort: 65_536 }, "a port of its Service is not one"],
    [{ name: "agent", grpcPort: 9977, httpPort: 70_000 }, "a port of its Service is not one"],
  ])("the Service of an agent: %j", (agentEndpoint, problem) => {
    expect(problemOfHello(create(HelloSchema, { agentEndpoint }))).toBe(problem);
  });

  test("refusals to an agent", () => {
    const rejected = services(20_000).map((resource) => ({ ref: refOf(resource), code: "Refused" as const, message: long }));
    const messages = rejectionMessages(rejected);
    expect(messages.length).toBeGreaterThan(10);
    const size = messages.reduce((sum, { message, ref }) => sum + message.length + (ref?.name.length ?? 0), 0);
    expect(size).toBeLessThan(512 * 1024);
  });

  test("acknowledgements of an agent: their texts, their names, and how many there are", () => {
    const ref = refMessage(refOf(service(CLUSTER, "a")));
    const ack = (count: number, message: string) =>
      create(AckSchema, { rejected: Array.from({ length: count }, () => ({ ref, code: "Failed", message })) });
    const { taken, size } = boundedRejections(ack(20_000, long), { rejections: 0, textLength: 0 }, 5);
    expect(taken).toHaveLength(10_005);
    expect(taken.reduce((sum, { message }) => sum + message.length, 0)).toBeLessThan(5 * 1024 * 1024);
    expect(boundedRejections(ack(1, "m"), size, 5).taken).toEqual([]);
    const named = create(AckSchema, { rejected: [{ ref: refMessage(refOf(service(CLUSTER, long))), code: "Failed", message: "" }] });
    expect(boundedRejections(named, { rejections: 0, textLength: 0 }, 5).taken).toEqual([]);
  });
});
