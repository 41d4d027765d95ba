import { DestinationRule, deliveredKinds, HTTPRouteGroup, referredKinds, ServiceEntry, VirtualService } from "@isthmus/api";
import { type AnyResource, type Kind, kindKeyOf, type Resource, type ResourceRef, refOf } from "@isthmus/core";
import { ClusterError } from "@isthmus/ports";
import { simulatedCluster } from "@isthmus/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Applier, startApplier } from "../src/apply/applier.ts";
import { type Informer, startInformer } from "../src/informer/informer.ts";
import { recordingLog } from "./recordingLog.ts";
import { clock, eventually } from "./virtualTime.ts";

const owner = { label: "owner.networking.mesh.gloo.solo.io", value: "gloo-mesh" } as const;
const kinds = [ServiceEntry, DestinationRule, VirtualService];
const evidence = {
  reason: "InputRemoved",
  inputs: [{ apiVersion: "v1", kind: "Service", name: "s", namespace: "n", clusterName: "a" }],
} as const;

function object({ apiVersion, kind }: Kind, name: string): Resource {
  const labels = { [owner.label]: owner.value };
  return { apiVersion, kind, metadata: { name, namespace: "bookinfo", clusterName: "a", labels }, spec: SPECS[kind] } as Resource;
}

const SPECS: Readonly<Record<string, object>> = {
  ServiceEntry: { hosts: ["reviews.global"], ports: [{ number: 80, name: "http", protocol: "HTTP" }], resolution: "NONE" },
  DestinationRule: { host: "reviews.global", subsets: [{ name: "v1", labels: { version: "v1" } }] },
  VirtualService: { hosts: ["reviews.global"], http: [{ route: [{ destination: { host: "reviews.global", subset: "v1" } }] }] },
};

describe("the order of writes", () => {
  let stop: AbortController;
  let view: Informer;
  let applier: Applier;
  /** `create DestinationRule a` when it begins, `done …` when it was answered. */
  let calls: string[];
  /** Kinds (`create DestinationRule`) whose calls are not answered before the test says so. */
  let slow: Map<string, Promise<void>>;
  let failing: Set<string>;

  beforeEach(async () => {
    [stop, calls, slow, failing] = [new AbortController(), [], new Map(), new Set()];
    const cluster = simulatedCluster({ name: "a", clock, kinds });
    await cluster.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "bookinfo" } });
    async function called<T>(verb: string, { kind, name }: Pick<ResourceRef, "kind" | "name">, call: () => Promise<T>): Promise<T> {
      calls.push(`${verb} ${kind} ${name}`);
      await slow.get(`${verb} ${kind}`);
      if (failing.has(kind)) throw new ClusterError("Unavailable", "not now");
      const answer = await call();
      calls.push(`done ${kind} ${name}`);
      return answer;
    }
    const slowCluster: typeof cluster = {
      ...cluster,
      create: (resource: AnyResource) => called("create", refOf(resource), () => cluster.create(resource)),
      delete: (ref, preconditions) => called("delete", ref, () => cluster.delete(ref, preconditions)),
    };
    const shared = { cluster: slowCluster, clock, random: () => 0, log: recordingLog() };
    view = startInformer({ ...shared, kinds, changed: (delta) => applier.observed(delta) }, stop.signal);
    applier = startApplier(
      { ...shared, kinds, refersTo: referredKinds(), owners: [owner], live: () => view.snapshot, onChange: () => undefined },
      stop.signal,
    );
    await eventually(() => expect(view.isComplete).toBe(true));
  });
  afterEach(() => stop.abort());

  const idle = () => eventually(() => expect(applier.isIdle).toBe(true));
  const position = (call: string) => calls.indexOf(call);

  it("a route is written once what it refers to is there, however many are written at once", async () => {
    const names = Array.from({ length: 20 }, (_, i) => `route-${i}`);
    // The worst order: what refers comes first.
    for (const kind of [VirtualService, DestinationRule, ServiceEntry]) for (const name of names) applier.put(object(kind, name));
    await idle();
    const firstRoute = calls.findIndex((call) => call.startsWith("create VirtualService"));
    const lastReferred = calls.findLastIndex((call) => /^done (DestinationRule|ServiceEntry)/.test(call));
    expect(calls.filter((call) => call.startsWith("done"))).toHaveLength(60);
    expect(firstRoute).toBeGreaterThan(lastReferred);
  });

  it("what a route referred to is deleted after it", async () => {
    for (const kind of kinds) applier.put(object(kind, "one"));
    await idle();
    await eventually(() => expect(view.snapshot.of(VirtualService).size).toBe(1));
    for (const kind of kinds) applier.remove({ ref: refOf(object(kind, "one")), evidence });
    await idle();
    expect(position("delete DestinationRule one")).toBeGreaterThan(calls.lastIndexOf("done VirtualService one"));
    expect(position("delete ServiceEntry one")).toBeGreaterThan(calls.lastIndexOf("done VirtualService one"));
  });

  it("waits for one try alone: what is refused holds up nothing", async () => {
    failing.add("DestinationRule");
    applier.put(object(VirtualService, "one"));
    applier.put(object(DestinationRule, "one"));
    await eventually(() => expect(calls).toContain("done VirtualService one"));
    expect(position("create VirtualService one")).toBeGreaterThan(position("create DestinationRule one"));
    expect(applier.rejections.size).toBe(1);
  });

  it("does not wait for what is desired later", async () => {
    let answer = (): void => undefined;
    slow.set("create DestinationRule", new Promise((resolve) => (answer = resolve)));
    applier.put(object(DestinationRule, "first"));
    applier.put(object(VirtualService, "one"));
    await eventually(() => expect(calls).toContain("create DestinationRule first"));
    applier.put(object(DestinationRule, "second"));
    await eventually(() => expect(calls).toContain("create DestinationRule second"));
    expect(calls).not.toContain("create VirtualService one");
    slow.set("create DestinationRule", new Promise(() => undefined));
    applier.put(object(DestinationRule, "third"));
    await eventually(() => expect(calls).toContain("create DestinationRule third"));
    answer();
    await eventually(() => expect(calls).toContain("done VirtualService one"));
  });

  it("waits also for what became desired together with its latest form", async () => {
    let answer = (): void => undefined;
    slow.set(
      "create DestinationRule",
      new Promise((resolve) => {
        answer = resolve;
      }),
    );
    applier.put(object(DestinationRule, "first"));
    applier.put(object(VirtualService, "one"));
    await eventually(() => expect(calls).toContain("create DestinationRule first"));
    let answerSecond = (): void => undefined;
    slow.set(
      "create DestinationRule",
      new Promise((resolve) => {
        answerSecond = resolve;
      }),
    );
    applier.put(object(VirtualService, "one"));
    applier.put(object(DestinationRule, "second"));
    await eventually(() => expect(calls).toContain("create DestinationRule second"));
    answer();
    await eventually(() => expect(calls).toContain("done DestinationRule first"));
    expect(calls).not.toContain("create VirtualService one");
    answerSecond();
    await eventually(() => expect(calls).toContain("done VirtualService one"));
  });

  it("what is desired again while its delete waits is written, and what waits for it too", async () => {
    for (const kind of [DestinationRule, VirtualService]) applier.put(object(kind, "one"));
    await idle();
    await eventually(() => expect(view.snapshot.of(VirtualService).size).toBe(1));
    let answer = (): void => undefined;
    slow.set(
      "delete VirtualService",
      new Promise((resolve) => {
        answer = resolve;
      }),
    );
    for (const kind of [VirtualService, DestinationRule]) applier.remove({ ref: refOf(object(kind, "one")), evidence });
    await eventually(() => expect(calls).toContain("delete VirtualService one"));
    applier.put(object(VirtualService, "two"));
    applier.put(object(VirtualService, "one"));
    applier.put(object(DestinationRule, "one"));
    answer();
    await idle();
    expect(calls).not.toContain("delete DestinationRule one");
    expect(calls).toContain("done VirtualService two");
  });

  it("endpoints of other clusters are written once their order is there", async () => {
    let answer: () => void = () => undefined;
    slow.set("create DestinationRule", new Promise((resolve) => (answer = resolve)));
    applier.put(object(ServiceEntry, "one"));
    applier.put(object(DestinationRule, "one"));
    await eventually(() => expect(calls).toContain("create DestinationRule one"));
    expect(calls).not.toContain("create ServiceEntry one");
    answer();
    await eventually(() => expect(calls).toContain("done ServiceEntry one"));
  });

  it("an object that refers to nothing waits for nothing", async () => {
    slow.set("create ServiceEntry", new Promise(() => undefined));
    applier.put(object(ServiceEntry, "one"));
    await eventually(() => expect(calls).toContain("create ServiceEntry one"));
    applier.put(object(DestinationRule, "one"));
    await eventually(() => expect(calls).toContain("done DestinationRule one"));
    expect(calls).not.toContain("done ServiceEntry one");
  });
});

it("no kind refers to itself, by whichever way, and all are delivered", () => {
  const refersTo = referredKinds();
  expect(refersTo.get(kindKeyOf(VirtualService))).toContain(DestinationRule);
  expect([...refersTo.values()].flat()).toContain(HTTPRouteGroup);
  const delivered = new Set(deliveredKinds().map(kindKeyOf));
  for (const [kindKey, referred] of refersTo) {
    expect(delivered).toContain(kindKey);
    for (const kind of referred) {
      expect(delivered).toContain(kindKeyOf(kind));
      // One step is enough: whatever a kind refers to by way of another one, it names itself, and never itself.
      for (const further of refersTo.get(kindKeyOf(kind)) ?? []) expect(referred).toContain(further);
      expect(kindKeyOf(kind)).not.toBe(kindKey);
    }
  }
});
