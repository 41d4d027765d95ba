import { discoveryKinds, KubernetesCluster, kindOf } from "@isthmus/api";
import { type Log, OTHER_EDGES, type Resource, type ResourceRef, refOf, resourceKeyOf, snapshotOf } from "@isthmus/core";
import { eventually } from "@isthmus/testing/eventually";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FleetMoment, NO_INSIGHTS, NOTHING_KNOWN } from "../src/events/fleet.ts";
import { startConsoleHub } from "../src/events/hub.ts";
import { plainSegment } from "../src/events/segment.ts";
import { currentRights } from "../src/viewers/currentRights.ts";
import { discoveredPlaces, hasActivity, placesIn } from "../src/viewers/places.ts";
import { startViewerHubs } from "../src/viewers/viewerHubs.ts";
import { viewerSource } from "../src/viewers/viewerSource.ts";
import type { ConsoleActivity } from "../src/wire.ts";
import { movedClock, type Rule, scriptedReviews } from "./accessFixture.ts";
import { scriptedSource } from "./consoleFixture.ts";

const nothing = () => undefined;
const silent: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const namespace = "gloo-mesh";
const KINDS = { kindOf, registration: KubernetesCluster, discovery: discoveryKinds() };
const CLUSTERS = "kubernetesclusters.multicluster.solo.io";

let stop: AbortController;
let reviews: ReturnType<typeof scriptedReviews>;
beforeEach(() => {
  stop = new AbortController();
  reviews = scriptedReviews();
});
afterEach(() => stop.abort(new Error("the test has ended")));

function object(apiVersion: string, kind: string, place: Partial<ResourceRef>): Resource {
  return { apiVersion, kind, metadata: { name: "x", namespace: "bookinfo", clusterName: "", ...place } } as Resource;
}

const service = (place: Partial<ResourceRef>) => object("v1", "Service", { clusterName: "cluster-1", ...place });
const policy = (place: Partial<ResourceRef>) => object("networking.mesh.gloo.solo.io/v1", "TrafficPolicy", place);
const registered = (name: string) => object("multicluster.solo.io/v1alpha1", "KubernetesCluster", { name, namespace });

function momentOf(objects: readonly Resource[], generated: readonly Resource[] = []): FleetMoment {
  const rows = objects.map(
    (one) =>
      [resourceKeyOf(refOf(one)), { object: refOf(one), insights: [{ object: refOf(one), code: "RES1003", since: "" } as never] }] as const,
  );
  const ended = objects.map((one) => ({ object: refOf(one), code: "RES1003" }) as never);
  return {
    ...NOTHING_KNOWN,
    objects: new Map([["all", snapshotOf(objects)]]),
    generated: new Map([["all", snapshotOf(generated)]]),
    insights: {
      at: "now",
      objects: NO_INSIGHTS.with(rows),
      unknown: ["cluster-1", "cluster-2"],
      ended,
      forgotten: ["", "cluster-1", "cluster-2"].map((cluster) => ({ cluster, before: "then" })),
    },
    certificates: ["", "cluster-1", "cluster-2"].map((cluster) => ({ cluster, kind: "root", name: "r" })),
  };
}

function viewed(
  rules: readonly Rule[],
  {
    most,
    mostOfCluster = most,
    moment,
    countedNamespaces,
  }: { most?: number; mostOfCluster?: number; moment?: FleetMoment; countedNamespaces?: () => Promise<ReadonlySet<string>> } = {},
) {
  reviews.rules.set("alice", rules);
  const clock = movedClock();
  const at = "2026-01-01T00:00:00Z";
  const hub = {
    about: { kind: "store", name: "Redis", version: "0", namespace } as const,
    moment,
    clock: () => ({
      now: at,
      at,
      clusters: [
        { name: "cluster-1", at },
        { name: "cluster-2", at },
      ],
      servers: [{ version: "1.4.0", replicas: 2 }],
      problem: "cluster-2 is broken",
    }),
  };
  const places = async () =>
    hub.moment === undefined
      ? []
      : [
          ...(hasActivity(hub.moment) ? discoveredPlaces(discoveryKinds(), namespace) : []),
          ...(await placesIn(hub.moment, clock, stop.signal)),
        ];
  const asked = { user: { username: "alice" }, reviews, namespace, kindOf, registration: KubernetesCluster, places, clock, log: silent };
  const rights = currentRights(
    {
      ...asked,
      ...(countedNamespaces === undefined ? {} : { countedNamespaces }),
      ...(most === undefined ? {} : { most }),
      ...(mostOfCluster === undefined ? {} : { mostOfCluster }),
    },
    stop.signal,
  );
  const source = viewerSource({ username: "alice", rights, discovery: discoveryKinds(), hub, clock });
  const read = async () => (await source.read(stop.signal)) as FleetMoment;
  const past = async () =>
    (await viewerSource({ username: "alice", rights, discovery: discoveryKinds(), hub, clock }).read(stop.signal)) as FleetMoment;
  return { hub, clock, source, read, past };
}

function keysIn({ objects, generated, insights }: FleetMoment) {
  const keys = (parts: FleetMoment["objects"]) =>
    [...parts.values()].flatMap((part) =>
      [...part.collections().values()].flatMap((all) => [...all].map((one) => resourceKeyOf(refOf(one)))),
    );
  const byKey = [...insights.objects].map(({ object: of }) => resourceKeyOf(of));
  return {
    objects: keys(objects).sort(),
    generated: keys(generated).sort(),
    insights: byKey.sort(),
    ended: insights.ended.map(({ object: of }) => resourceKeyOf(of)).sort(),
  };
}

const FLEET = momentOf(
  [
    service({ name: "a" }),
    service({ name: "b", namespace: "other" }),
    service({ name: "c", clusterName: "cluster-2" }),
    policy({ name: "p" }),
    policy({ name: "q", namespace: "other" }),
    registered("cluster-1"),
    registered("cluster-2"),
    object("unheard.of/v1", "Thing", { name: "thing" }),
  ],
  [object("networking.istio.io/v1beta1", "VirtualService", { name: "v", clusterName: "cluster-1" })],
);

describe("what a user sees", () => {
  it("without any right is nothing, not even names of clusters", async () => {
    const { read, source } = viewed([], { moment: FLEET });
    const seen = await read();
    expect(keysIn(seen)).toEqual({ objects: [], generated: [], insights: [], ended: [] });
    expect([seen.certificates, seen.insights.unknown, source.clock().clusters]).toEqual([[], [], []]);
    expect(source.clock().problem).not.toContain("cluster-2");
    // Versions say nothing of the fleet.
    expect(source.clock().servers).toEqual([{ version: "1.4.0", replicas: 2 }]);
    expect(seen.viewer).toMatchObject({ username: "alice", isPartial: true, hasAllClusters: false, isExhausted: false });
    expect(JSON.stringify(seen.viewer)).not.toContain("cluster-2");
  });

  it("with rights in one namespace is that namespace, of the clusters that the user may get", async () => {
    const { read, source } = viewed([{ namespace: "bookinfo" }, { resource: CLUSTERS, namespace, name: "cluster-1", verb: "get" }], {
      moment: FLEET,
    });
    const seen = await read();
    const mine = [service({ name: "a" }), policy({ name: "p" })].map((one) => resourceKeyOf(refOf(one))).sort();
    expect(keysIn(seen)).toEqual({
      objects: mine,
      generated: [
        resourceKeyOf({
          apiVersion: "networking.istio.io/v1beta1",
          kind: "VirtualService",
          name: "v",
          namespace: "bookinfo",
          clusterName: "cluster-1",
        }),
      ],
      insights: mine,
      ended: mine,
    });
    expect(seen.certificates.map(({ cluster }) => cluster)).toEqual(["cluster-1"]);
    expect(seen.insights.unknown).toEqual(["cluster-1"]);
    expect(seen.insights.forgotten.map(({ cluster }) => cluster)).toEqual(["", "cluster-1"]);
    expect(source.clock().clusters.map(({ name }) => name)).toEqual(["cluster-1"]);
    expect(seen.viewer?.missing).toEqual([
      CLUSTERS,
      "services",
      "trafficpolicies.networking.mesh.gloo.solo.io",
      "virtualservices.networking.istio.io",
    ]);
  });

  it("with counted namespaces is of other clusters what is in those, and of the management cluster as before", async () => {
    let counted = new Set(["other"]);
    const rules = [{ namespace: "bookinfo" }, { resource: CLUSTERS }];
    const { clock, read } = viewed(rules, { moment: FLEET, countedNamespaces: async () => counted });
    const ofManagement = [policy({ name: "p" }), registered("cluster-1"), registered("cluster-2")].map((one) => resourceKeyOf(refOf(one)));
    expect(keysIn(await read()).objects.sort()).toEqual(ofManagement.sort());
    counted = new Set(["bookinfo"]);
    await clock.move(60_000);
    const elsewhere = [service({ name: "a" }), service({ name: "c", clusterName: "cluster-2" })].map((one) => resourceKeyOf(refOf(one)));
    expect(keysIn(await read()).objects.sort()).toEqual([...ofManagement, ...elsewhere].sort());
    counted = new Set();
    await clock.move(60_000);
    expect(keysIn(await read()).objects.sort()).toEqual(ofManagement.sort());
  });

  it("with counted namespaces that cannot be asked is not known", async () => {
    const countedNamespaces = () => Promise.reject(new Error("down"));
    await expect(viewed([{ namespace: "bookinfo" }, { resource: CLUSTERS }], { moment: FLEET, countedNamespaces }).read()).rejects.toThrow(
      "cannot be asked",
    );
    // They are not asked for while no other cluster is seen.
    expect(keysIn(await viewed([{ namespace: "other" }], { moment: FLEET, countedNamespaces }).read()).objects).toEqual([
      resourceKeyOf(refOf(policy({ name: "q", namespace: "other" }))),
    ]);
  });

  it("in another cluster needs both: the namespace, and the cluster", async () => {
    expect(keysIn(await viewed([{ resource: "services" }], { moment: FLEET }).read()).objects).toEqual([]);
    expect(keysIn(await viewed([{ resource: CLUSTERS }], { moment: FLEET }).read()).objects).toEqual(
      [registered("cluster-1"), registered("cluster-2")].map((one) => resourceKeyOf(refOf(one))),
    );
  });

  it("with all rights is everything of kinds that are known", async () => {
    const { read, source } = viewed([{}], { moment: FLEET });
    const seen = await read();
    expect(keysIn(seen).objects).toHaveLength(7);
    expect(seen.certificates).toEqual(FLEET.certificates);
    expect(source.clock().problem).toBe("cluster-2 is broken");
    expect(seen.viewer).toEqual({ username: "alice", isPartial: false, missing: [], hasAllClusters: true, isExhausted: false });
  });

  it("asks nothing twice, and for one who sees all only about kinds", async () => {
    const { hub, read } = viewed([{}], { moment: FLEET });
    await read();
    expect(reviews.asked).toHaveLength(4 + 1);
    hub.moment = momentOf([service({ name: "d", namespace: "new", clusterName: "cluster-3" })]);
    await read();
    expect(reviews.asked).toHaveLength(4 + 1);
  });

  it("ends at a bound of questions: what was not asked is not shown, and that is said", async () => {
    const many = Array.from({ length: 50 }, (_, i) => policy({ namespace: `n${i}` }));
    const { read } = viewed(
      many.map(({ metadata }) => ({ namespace: metadata.namespace ?? "" })),
      { most: 20, moment: momentOf(many) },
    );
    const seen = await read();
    expect(keysIn(seen).objects.length).toBeLessThanOrEqual(20);
    expect(seen.viewer?.isExhausted).toBe(true);
  });

  it("follows rights that are given and taken away, within a minute", async () => {
    const { clock, read } = viewed([{ namespace: "bookinfo" }], { moment: FLEET });
    expect(keysIn(await read()).objects).toHaveLength(1);
    reviews.rules.set("alice", [{ namespace: "other" }]);
    expect(keysIn(await read()).objects).toEqual([resourceKeyOf(refOf(policy({ name: "p" })))]);
    await clock.move(60_000);
    expect(keysIn(await read()).objects).toEqual([resourceKeyOf(refOf(policy({ name: "q", namespace: "other" })))]);
    reviews.rules.delete("alice");
    await clock.move(60_000);
    expect(keysIn(await read())).toEqual({ objects: [], generated: [], insights: [], ended: [] });
  });

  it("does not grow by what was not asked while the Kubernetes API cannot be asked", async () => {
    const rules = [{ namespace: "bookinfo" }, { namespace: "other" }];
    const { clock, hub, read } = viewed(rules, { moment: momentOf([policy({ name: "p" })]) });
    expect(keysIn(await read()).objects).toHaveLength(1);
    reviews.problem = "down";
    hub.moment = momentOf([policy({ name: "p" }), policy({ name: "new" }), policy({ name: "unasked", namespace: "other" })]);
    await expect(read()).rejects.toThrow("the Kubernetes API cannot be asked what you may list");
    // It is not asked three times a second while it does not answer.
    const asked = reviews.asked.length;
    await expect(read()).rejects.toThrow("cannot be asked");
    expect(reviews.asked).toHaveLength(asked);
    reviews.problem = undefined;
    await clock.move(5_000);
    expect(keysIn(await read()).objects).toHaveLength(3);
  });

  it("is nothing once the Kubernetes API could not be asked for five minutes, of the past, too", async () => {
    const { clock, source, read, past } = viewed([{}], { moment: FLEET });
    expect(keysIn(await read()).objects).toHaveLength(7);
    const { revision } = await read();
    reviews.problem = "down";
    for (let minute = 0; minute < 5; minute++) {
      await clock.move(60_000);
      expect(keysIn(await read()).objects).toHaveLength(7);
      expect(keysIn(await past()).objects).toHaveLength(7);
    }
    await clock.move(60_000);
    const lost = await read();
    expect([keysIn(lost).objects, keysIn(await past()).objects, lost.certificates]).toEqual([[], [], []]);
    expect(lost.revision).not.toBe(revision);
    expect([source.clock().clusters, source.clock().problem]).toEqual([[], expect.stringContaining("could not be asked")]);
    reviews.problem = undefined;
    await clock.move(5_000);
    expect(keysIn(await read()).objects).toHaveLength(7);
  });

  it("does not shrink because of what a cluster invents, and is whole again when that has gone", async () => {
    const invented = (clusterName: string) =>
      Array.from({ length: 3_000 }, (_, i) => service({ name: "x", namespace: `n${i}`, clusterName }));
    const own = [service({ name: "a" }), policy({ name: "p" })];
    const rules = [
      { namespace: "bookinfo" },
      ...["cluster-1", "evil"].map((name) => ({ resource: CLUSTERS, namespace, name, verb: "get" })),
    ];
    // Of a cluster that the user may not get nothing more is asked.
    const { read } = viewed(rules, { moment: momentOf([...invented("hidden"), ...own]) });
    expect(keysIn(await read()).objects).toHaveLength(2);
    expect(reviews.asked.length).toBeLessThan(20);
    expect((await read()).viewer?.isExhausted).toBe(false);
    // One that the user may get uses up what is its own.
    const { clock, hub, read: readEvil } = viewed(rules, { moment: momentOf([...invented("evil"), ...own]), mostOfCluster: 1_000 });
    const seen = await readEvil();
    expect([keysIn(seen).objects, seen.viewer?.isExhausted]).toEqual([own.map((one) => resourceKeyOf(refOf(one))).sort(), true]);
    hub.moment = momentOf([...invented("evil"), ...own, service({ name: "late", namespace: "bookinfo" })]);
    await clock.move(60_000);
    const later = await readEvil();
    expect([keysIn(later).objects.length, later.viewer?.isExhausted]).toEqual([3, true]);
    hub.moment = momentOf(own);
    await clock.move(60_000);
    const after = await readEvil();
    expect([keysIn(after).objects.length, after.viewer?.isExhausted]).toEqual([2, false]);
    const asked = reviews.asked.length;
    await clock.move(60_000);
    await readEvil();
    expect(reviews.asked.length - asked).toBeLessThan(20);
  });

  it("names clusters without objects to those who may get them", async () => {
    const { read, source } = viewed([{ resource: CLUSTERS, namespace, name: "cluster-2", verb: "get" }], { moment: momentOf([]) });
    const seen = await read();
    expect([seen.insights.unknown, seen.certificates.map(({ cluster }) => cluster)]).toEqual([["cluster-2"], ["cluster-2"]]);
    expect(source.clock().clusters.map(({ name }) => name)).toEqual(["cluster-2"]);
  });

  it("keeps what did not change, so that changes cost what they are", async () => {
    const { read, hub } = viewed([{ namespace: "bookinfo" }], { moment: FLEET });
    const first = await read();
    expect(await read()).toBe(first);
    hub.moment = { ...FLEET, generated: new Map([["all", snapshotOf([])]]) };
    expect((await read()).objects.get("all")).toBe(first.objects.get("all"));
  });

  it("is always exactly what the rules say, whatever changes", async () => {
    const names = fc.constantFrom("a", "b");
    const made = fc.record({
      kind: fc.constantFrom(service, policy),
      name: names,
      namespace: fc.constantFrom("n1", "n2", "n3"),
      clusterName: fc.constantFrom("", "c1", "c2"),
    });
    const rule = fc.record(
      {
        resource: fc.constantFrom("services", "trafficpolicies.networking.mesh.gloo.solo.io", CLUSTERS),
        namespace: fc.constantFrom("n1", "n2", namespace),
        name: fc.constantFrom("c1", "c2"),
      },
      { requiredKeys: [] },
    );
    const step = fc.record({ objects: fc.array(made, { maxLength: 8 }), rules: fc.option(fc.array(rule, { maxLength: 4 })) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), async (steps) => {
        const { hub, clock, read } = viewed([]);
        let rules: readonly Rule[] = [];
        for (const { objects, rules: next } of steps) {
          const all = objects.map(({ kind, ...place }) => kind(place));
          hub.moment = momentOf(all);
          if (next !== null) {
            rules = next.map((one) => Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined)));
            reviews.rules.set("alice", rules);
            await clock.move(60_000);
          }
          const may = (resource: string, of: string, name?: string) =>
            rules.some(
              (one) =>
                (one.resource ?? resource) === resource && (one.namespace ?? of) === of && (one.name === undefined || one.name === name),
            );
          const visible = all.filter(({ kind, metadata: { namespace: of = "", clusterName = "" } }) => {
            const plural = kind === "Service" ? "services" : "trafficpolicies.networking.mesh.gloo.solo.io";
            const cluster = clusterName === "" || may(CLUSTERS, namespace) || may(CLUSTERS, namespace, clusterName);
            return cluster && (may(plural, "") || may(plural, of));
          });
          const keys = [...new Set(visible.map((one) => resourceKeyOf(refOf(one))))].sort();
          const seen = keysIn(await read());
          expect(seen.objects).toEqual(keys);
          expect(seen.insights).toEqual(keys);
        }
      }),
      { numRuns: 50 },
    );
  });

  it("knows the kinds of what is discovered", () => {
    for (const { apiVersion, kind } of discoveryKinds()) expect(kindOf(apiVersion, kind)).toBeDefined();
  });
});

describe("hubs of users", () => {
  it("show of the past what the user may see now", async () => {
    const clock = movedClock();
    const source = scriptedSource();
    source.moment = FLEET;
    reviews.rules.set("alice", [{ namespace: "other" }]);
    const hub = startConsoleHub({ source, epoch: "e", clock, log: silent }, stop.signal);
    const hubs = startViewerHubs({ hub, reviews, kinds: KINDS, namespace, clock, log: silent }, stop.signal);
    const at = "2026-01-01T00:00:00Z";
    const clusters = ["cluster-1", "cluster-2"].map((name) => ({ name, at }));
    const past = { moment: FLEET, clock: { now: at, at, clusters } };
    const seen = await hubs.of({ username: "alice" })?.visible(past, stop.signal);
    expect(seen?.clock).toEqual({ now: at, at, clusters: [] });
    expect(keysIn(seen?.moment as FleetMoment).objects).toEqual([resourceKeyOf(refOf(policy({ name: "q", namespace: "other" })))]);
    reviews.problem = "down";
    await expect(hubs.of({ username: "bob" })?.visible(past, stop.signal)).rejects.toThrow("cannot be asked");
  });

  it("send nothing again to which the right was taken away: not at the beginning, not to one who comes back", async () => {
    const clock = movedClock();
    const source = scriptedSource();
    source.moment = FLEET;
    reviews.rules.set("alice", [{ namespace: "bookinfo" }]);
    const hub = startConsoleHub({ source, epoch: "e", clock, log: silent }, stop.signal);
    const hubs = startViewerHubs({ hub, reviews, kinds: KINDS, namespace, clock, log: silent }, stop.signal);
    const gone = new AbortController();
    const texts: string[] = [];
    let hasEnded = false;
    const follow = async (lastEventId: string | undefined, into: string[]) => {
      for await (const segment of hubs.of({ username: "alice" })?.follow(lastEventId, gone.signal) ?? [])
        into.push(Buffer.from(plainSegment(segment)).toString());
    };
    void follow(undefined, texts).then(
      () => {
        hasEnded = true;
      },
      () => undefined,
    );
    await eventually(async () => {
      await clock.move(330);
      expect(texts.join("")).toContain("event: ready");
    });
    expect(texts.join("")).toContain('"name":"p"');
    const ids = [...texts.join("").matchAll(/^id: (.+)$/gm)].map(([, id = ""]) => id);
    reviews.rules.set("alice", [{ namespace: "other" }]);
    await eventually(async () => {
      await clock.move(20_000);
      expect(hasEnded).toBe(true);
    });
    for (const id of [undefined, ...ids, ids[0]?.replace(/-\d+$/, "-0")]) {
      const again: string[] = [];
      void follow(id, again).catch(() => undefined);
      await eventually(async () => {
        await clock.move(330);
        expect(again.join("")).toContain("event: ready");
      });
      expect(again.join("")).not.toContain('"name":"p"');
      expect(again.join("")).toContain('"name":"q"');
    }
    gone.abort();
  });

  it("are one for each user, and few", async () => {
    const clock = movedClock();
    const source = scriptedSource();
    source.moment = FLEET;
    const hub = startConsoleHub({ source, epoch: "e", clock, log: silent }, stop.signal);
    const hubs = startViewerHubs({ hub, reviews, kinds: KINDS, namespace, clock, log: silent, most: 2 }, stop.signal);
    const follow = async (username: string, gone: AbortSignal) => {
      const events = hubs.of({ username })?.follow(undefined, gone)[Symbol.asyncIterator]();
      await events?.next();
      return events;
    };
    const gone = new AbortController();
    expect(await follow("alice", gone.signal)).toBeDefined();
    expect(await follow("alice", stop.signal)).toBeDefined();
    expect(await follow("bob", stop.signal)).toBeDefined();
    expect(hubs.size).toBe(2);
    expect(await follow("carol", stop.signal)).toBeUndefined();
    gone.abort();
  });

  it("are forgotten a minute after nobody follows, also where somebody only looked at the past", async () => {
    const clock = movedClock();
    const source = scriptedSource();
    source.moment = FLEET;
    const hub = startConsoleHub({ source, epoch: "e", clock, log: silent }, stop.signal);
    const hubs = startViewerHubs({ hub, reviews, kinds: KINDS, namespace, clock, log: silent }, stop.signal);
    const at = "2026-01-01T00:00:00Z";
    await hubs.of({ username: "bob" })?.visible({ moment: FLEET, clock: { now: at, at, clusters: [] } }, stop.signal);
    const gone = new AbortController();
    const events = hubs.of({ username: "alice" })?.follow(undefined, gone.signal)[Symbol.asyncIterator]();
    await events?.next();
    expect(hubs.size).toBe(2);
    for (let i = 0; i < 12; i++) await clock.move(10_000);
    expect(hubs.size).toBe(1);
    await events?.return?.(undefined);
    for (let i = 0; i < 13; i++) await clock.move(10_000);
    expect(hubs.size).toBe(0);
  });

  it("are shared by the tokens of one ServiceAccount, and no user has many", async () => {
    const clock = movedClock();
    const hub = startConsoleHub({ source: scriptedSource(), epoch: "e", clock, log: silent }, stop.signal);
    const hubs = startViewerHubs({ hub, reviews, kinds: KINDS, namespace, clock, log: silent }, stop.signal);
    const token = (id: string, more = {}) => ({
      username: "alice",
      extra: { "authentication.kubernetes.io/credential-id": [id], ...more },
    });
    const follow = async (user: Parameters<typeof hubs.of>[0]) => {
      const events = hubs.of(user)?.follow(undefined, stop.signal)[Symbol.asyncIterator]();
      await events?.next();
      return events !== undefined;
    };
    for (let i = 0; i < 30; i++) expect(await follow(token(`JTI=${i}`))).toBe(true);
    expect(hubs.size).toBe(1);
    const others = await Promise.all(
      Array.from({ length: 10 }, (_, i) => follow(token("", { "authentication.kubernetes.io/pod-name": [`p${i}`] }))),
    );
    expect(others.filter((isIn) => isIn)).toHaveLength(4);
    expect(await follow({ username: "bob" })).toBe(true);
  });

  it("make room for others as soon as nobody follows", async () => {
    const clock = movedClock();
    const source = scriptedSource();
    source.moment = FLEET;
    const hub = startConsoleHub({ source, epoch: "e", clock, log: silent }, stop.signal);
    const hubs = startViewerHubs({ hub, reviews, kinds: KINDS, namespace, clock, log: silent, most: 1 }, stop.signal);
    const events = hubs.of({ username: "alice" })?.follow(undefined, stop.signal)[Symbol.asyncIterator]();
    await events?.next();
    expect(hubs.of({ username: "bob" })).toBeUndefined();
    await events?.return?.(undefined);
    expect(hubs.of({ username: "bob" })).toBeDefined();
    expect(hubs.size).toBe(1);
    await clock.move(60_000);
    await clock.move(60_000);
    expect(hubs.of({ username: "bob" })).toBeDefined();
  });
});

describe("what a user sees of what happened in clusters", () => {
  const DISCOVERED = discoveryKinds().map(({ apiVersion, plural }) => `${plural}.${apiVersion.split("/")[0]}`);
  const mayList = DISCOVERED.map((resource) => ({ resource, namespace }));
  const mayGet = (name: string) => ({ resource: CLUSTERS, namespace, name, verb: "get" });
  const row = (service: string, cluster = "") => ["shop", "web", "books", service, "v1", cluster, 1];
  const activityOf = (cluster: string, edges: readonly (readonly (string | number)[])[]): ConsoleActivity => ({
    ...{ cluster, at: "2026-01-01T00:00:00Z", sync: [1], syncBounds: [] },
    traffic: { windows: [], targets: 1, scraped: 1, edges, left: 9 },
  });
  const HAPPENED: FleetMoment = {
    ...FLEET,
    activity: new Map([
      ["cluster-1", activityOf("cluster-1", [row("reviews"), row("secret", "cluster-2"), row("invented", "cluster-9"), row(OTHER_EDGES)])],
      ["cluster-2", activityOf("cluster-2", [row("ratings")])],
    ]),
  };
  const servicesIn = ({ activity }: FleetMoment) =>
    [...(activity ?? [])].map(([cluster, { traffic }]) => [cluster, traffic?.edges.map((names) => names[3])]);

  it("without any right is nothing", async () => {
    expect(servicesIn(await viewed([], { moment: HAPPENED }).read())).toEqual([]);
  });

  it("with a cluster and what was discovered are the edges that stay there: none to clusters that are not seen, nor what is added up of some", async () => {
    const seen = await viewed([...mayList, mayGet("cluster-1")], { moment: HAPPENED }).read();
    expect(servicesIn(seen)).toEqual([["cluster-1", ["reviews"]]]);
    expect(JSON.stringify([...(seen.activity ?? [])])).not.toMatch(/secret|invented|ratings|"left":9/);
    const both = await viewed([...mayList, mayGet("cluster-1"), mayGet("cluster-2")], { moment: HAPPENED }).read();
    expect(servicesIn(both)).toEqual([
      ["cluster-1", ["reviews", "secret"]],
      ["cluster-2", ["ratings"]],
    ]);
    expect(servicesIn(await viewed([{}], { moment: HAPPENED }).read())[0]).toEqual([
      "cluster-1",
      ["reviews", "secret", "invented", OTHER_EDGES],
    ]);
  });

  it.each(DISCOVERED)("without the right to list %s is how long changes take, and no traffic", async (missing) => {
    const rules = [...mayList.filter(({ resource }) => resource !== missing), { resource: CLUSTERS }];
    const seen = await viewed(rules, { moment: HAPPENED }).read();
    expect(servicesIn(seen)).toEqual([
      ["cluster-1", undefined],
      ["cluster-2", undefined],
    ]);
    expect(seen.activity?.get("cluster-1")?.sync).toEqual([1]);
    // Nor with rights in the namespaces of the workloads alone.
    expect(
      servicesIn(await viewed([{ namespace: "shop" }, { namespace: "books" }, mayGet("cluster-1")], { moment: HAPPENED }).read()),
    ).toEqual([["cluster-1", undefined]]);
  });

  it("is nothing any more once a right is taken away, and the same again while nothing changes", async () => {
    const { read, hub, clock } = viewed([...mayList, mayGet("cluster-1")], { moment: HAPPENED });
    const first = await read();
    expect(servicesIn(first)).toEqual([["cluster-1", ["reviews"]]]);
    expect(await read()).toBe(first);
    reviews.rules.set("alice", [mayGet("cluster-1")]);
    await clock.move(61_000);
    const later = await read();
    expect(servicesIn(later)).toEqual([["cluster-1", undefined]]);
    // What was sent may not be sent again.
    expect(later.revision).not.toBe(first.revision);
    hub.moment = FLEET;
    expect(servicesIn(await read())).toEqual([]);
  });
});
