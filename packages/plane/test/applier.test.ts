import { ServiceEntry } from "@isthmus/api";
import { type AnyResource, type Delta, kindKeyOf, type Resource, type ResourceRef, refOf, resourceKeyOf } from "@isthmus/core";
import { type SimulatedCluster, simulatedCluster } from "@isthmus/simulator";
import { afterEach, describe, expect, it } from "vitest";
import { type Applier, type ApplierOptions, startApplier } from "../src/apply/applier.ts";
import { type Informer, startInformer } from "../src/informer/informer.ts";
import { recordingLog } from "./recordingLog.ts";
import { clock, eventually } from "./virtualTime.ts";

const owner = { label: "owner.networking.mesh.gloo.solo.io", value: "gloo-mesh" } as const;

function entry(name: string, host: string, labels: Record<string, string> = { [owner.label]: owner.value }): Resource {
  return {
    apiVersion: "networking.istio.io/v1",
    kind: "ServiceEntry",
    metadata: { name, namespace: "istio-system", clusterName: "a", labels },
    spec: { hosts: [host], ports: [{ number: 80, name: "http", protocol: "HTTP" }], resolution: "NONE" },
  } as Resource;
}

let stop = new AbortController();
afterEach(() => stop.abort());

interface Started {
  readonly cluster: SimulatedCluster;
  readonly view: Informer;
  readonly applier: Applier;
  readonly hosts: () => Promise<Record<string, unknown>>;
}

function started(...existing: Resource[]): Promise<Started> {
  return startedWith({}, ...existing);
}

async function startedWith(options: Pick<ApplierOptions, "mayWrite">, ...existing: Resource[]): Promise<Started> {
  stop = new AbortController();
  const log = recordingLog();
  const cluster = simulatedCluster({ name: "a", clock, kinds: [ServiceEntry] });
  await cluster.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "istio-system" } });
  for (const resource of existing) await cluster.apply(resource, { fieldManager: "kubectl" });
  const shared = { cluster, clock, random: () => 0, log };
  const changed = (delta: Delta) => applier.observed(delta);
  const view = startInformer({ ...shared, kinds: [ServiceEntry], changed }, stop.signal);
  const applier = startApplier(
    { ...shared, ...options, kinds: [ServiceEntry], owners: [owner], live: () => view.snapshot, onChange: () => undefined },
    stop.signal,
  );
  await eventually(() => expect(view.isComplete).toBe(true));
  const hosts = async () => {
    const { items } = await cluster.list(ServiceEntry);
    return Object.fromEntries(items.map((item) => [item.metadata.name, item.spec?.hosts?.[0]]));
  };
  return { cluster, view, applier, hosts };
}

function evidence(...inputs: ResourceRef[]) {
  return { reason: "InputRemoved", inputs } as const;
}

async function current(cluster: SimulatedCluster, resource: Resource): Promise<AnyResource> {
  return (await cluster.get(ServiceEntry, { name: resource.metadata.name, namespace: "istio-system" })) as AnyResource;
}

describe("applier", () => {
  it("makes the cluster hold what is desired, and writes nothing twice", async () => {
    const { cluster, applier, hosts } = await started();
    applier.put(entry("one", "one.global"));
    applier.put(entry("two", "two.global"));
    await eventually(async () => expect(await hosts()).toEqual({ one: "one.global", two: "two.global" }));
    const version = (await current(cluster, entry("one", ""))).metadata.resourceVersion;
    applier.put(entry("one", "one.global"));
    await eventually(() => expect(applier.isIdle).toBe(true));
    expect((await current(cluster, entry("one", ""))).metadata.resourceVersion).toBe(version);
  });

  it("holds once, in memory, what is desired and seen to be there", async () => {
    const { view, applier } = await started(entry("one", "one.global"));
    for (const name of ["one", "two"]) {
      const wanted = entry(name, `${name}.global`);
      applier.put(wanted);
      await eventually(() => expect(view.snapshot.of(ServiceEntry).get(refOf(wanted))?.spec).toBe((wanted as AnyResource)["spec"]));
    }
  });

  it("restores what somebody changed, and recreates what somebody deleted", async () => {
    const { cluster, applier, hosts } = await started();
    applier.put(entry("one", "one.global"));
    await eventually(async () => expect(await hosts()).toEqual({ one: "one.global" }));
    const live = await current(cluster, entry("one", ""));
    await cluster.update({ ...live, spec: { hosts: ["hijacked.example"], ports: [], resolution: "NONE" } } as Resource);
    await eventually(async () => expect(await hosts()).toEqual({ one: "one.global" }));
    await cluster.delete(refOf(entry("one", "")));
    await eventually(async () => expect(await hosts()).toEqual({ one: "one.global" }));
  });

  it("leaves an object alone that exists and isn't ours, and says so", async () => {
    const { applier, hosts } = await started(entry("one", "theirs.example", { team: "shop" }));
    applier.put(entry("one", "one.global"));
    applier.put(entry("two", "two.global"));
    await eventually(async () => expect(await hosts()).toEqual({ one: "theirs.example", two: "two.global" }));
    await eventually(() => expect(applier.rejections.size).toBe(1));
    const rejection = applier.rejections.get(resourceKeyOf(refOf(entry("one", ""))));
    expect(rejection).toMatchObject({ code: "Conflict" });
    expect(rejection?.message).toContain("ServiceEntry istio-system/one in a exists and is not managed by us");
  });

  it("refuses a removal without evidence", async () => {
    const { applier, hosts } = await started();
    applier.put(entry("one", "one.global"));
    await eventually(async () => expect(await hosts()).toEqual({ one: "one.global" }));
    applier.remove({ ref: refOf(entry("one", "")), evidence: evidence() });
    await eventually(() => expect(applier.isIdle).toBe(true));
    expect(await hosts()).toEqual({ one: "one.global" });
    expect([...applier.rejections.values()][0]).toMatchObject({ code: "Refused" });
  });

  it("removes with evidence what is ours, and nothing else", async () => {
    const { applier, hosts } = await started(
      entry("theirs", "theirs.example", { team: "shop" }),
      // Bears our label, but our field manager never wrote it.
      entry("labelled", "labelled.example"),
    );
    applier.put(entry("one", "one.global"));
    await eventually(async () => expect(Object.keys(await hosts())).toContain("one"));
    for (const name of ["one", "theirs", "labelled"]) {
      applier.remove({ ref: refOf(entry(name, "")), evidence: evidence(refOf(entry("cause", ""))) });
    }
    await eventually(async () => expect(await hosts()).toEqual({ theirs: "theirs.example", labelled: "labelled.example" }));
  });

  it("prunes beyond a complete set only what is ours", async () => {
    const { applier, hosts } = await started(entry("theirs", "theirs.example", {}));
    applier.put(entry("one", "one.global"));
    applier.put(entry("two", "two.global"));
    await eventually(async () => expect(Object.keys(await hosts())).toHaveLength(3));
    const surplus = applier.surplus(new Set([resourceKeyOf(refOf(entry("two", "")))]));
    expect(surplus.map(({ name }) => name)).toEqual(["one"]);
    for (const ref of surplus) applier.prune(ref, "the test says so");
    await eventually(async () => expect(await hosts()).toEqual({ theirs: "theirs.example", two: "two.global" }));
  });

  it("leaves alone what somebody else makes in the moment of its first write, though it contradicts nothing", async () => {
    const { cluster, applier } = await started();
    const theirs = entry("one", "one.global", {});
    const { get } = cluster;
    let made: AnyResource | undefined;
    cluster.get = async (kind, ref, signal) => {
      const found = await get(kind, ref, signal);
      made ??= await cluster.apply(theirs, { fieldManager: "kubectl" });
      return found;
    };
    applier.put(entry("one", "one.global"));
    await eventually(() => expect([...applier.rejections.values()][0]).toMatchObject({ code: "Conflict" }));
    const { managedFields: _, ...metadata } = (await current(cluster, theirs)).metadata;
    expect(metadata).toEqual(made?.metadata);
  });

  it("leaves alone what somebody puts in the place of ours between the last look and the apply", async () => {
    const { cluster, applier, hosts } = await started();
    // Applied twice: what was once created is updated before it is first applied.
    for (const host of ["one.global", "two.global"]) {
      applier.put(entry("one", host));
      await eventually(async () => expect(await hosts()).toEqual({ one: host }));
    }
    const { get } = cluster;
    const theirs = entry("one", "theirs.example", { team: "shop" });
    cluster.get = async (kind, ref, signal) => {
      const found = await get(kind, ref, signal);
      cluster.get = get;
      await cluster.delete(refOf(theirs));
      await cluster.apply(theirs, { fieldManager: "kubectl" });
      return found;
    };
    applier.put(entry("one", "three.global"));
    await eventually(() => expect([...applier.rejections.values()].map(({ code }) => code)).toEqual(["Conflict"]));
    expect(await hosts()).toEqual({ one: "theirs.example" });
    expect((await current(cluster, theirs)).metadata.labels).toEqual({ team: "shop" });
  });

  it("leaves alone what somebody takes over in the moment between the last look and the removal", async () => {
    const { cluster, applier, hosts } = await started();
    const one = entry("one", "one.global");
    applier.put(one);
    await eventually(async () => expect(await hosts()).toEqual({ one: "one.global" }));
    const { get } = cluster;
    let isTaken = false;
    cluster.get = async (kind, ref, signal) => {
      const found = await get(kind, ref, signal);
      if (found === undefined || isTaken) return found;
      isTaken = true;
      const taken = { ...found, metadata: { ...found.metadata, labels: { team: "shop" } } };
      await cluster.update({ ...taken, spec: { hosts: ["theirs.example"], ports: [], resolution: "NONE" } } as Resource);
      return found;
    };
    applier.remove({ ref: refOf(one), evidence: evidence(refOf(entry("cause", ""))) });
    await eventually(() => expect([...applier.rejections.values()][0]).toMatchObject({ code: "Conflict" }));
    expect(await hosts()).toEqual({ one: "theirs.example" });
    // It looks again, and finds that there is nothing of ours to remove.
    await eventually(() => expect(applier.rejections.size).toBe(0));
    expect(await hosts()).toEqual({ one: "theirs.example" });
    expect((await current(cluster, one)).metadata.labels).toEqual({ team: "shop" });
  });

  it("undoes what it has set at first and no longer wants, and leaves what others have added", async () => {
    const { cluster, applier } = await started();
    const one = entry("one", "one.global") as AnyResource;
    const spec = one["spec"] as object;
    applier.put({ ...one, spec: { ...spec, exportTo: ["."] } } as Resource);
    await eventually(async () => expect((await current(cluster, one))["spec"]).toMatchObject({ exportTo: ["."] }));
    const note = { apiVersion: one.apiVersion, kind: one.kind, metadata: { ...one.metadata, labels: {}, annotations: { note: "theirs" } } };
    await cluster.apply(note, { fieldManager: "kubectl" });
    applier.put(one);
    await eventually(async () => expect((await current(cluster, one))["spec"]).toEqual(spec));
    expect((await current(cluster, one)).metadata.annotations).toEqual({ note: "theirs" });
  });

  it("tells of what it deleted while nobody watched and is back, until that is seen to be gone", async () => {
    const { cluster, view, applier, hosts } = await started();
    const one = entry("one", "one.global");
    applier.put(one);
    await eventually(() => expect(view.snapshot.of(ServiceEntry).get(refOf(one))).toBeDefined());
    const listed = () => applier.listed(kindKeyOf(ServiceEntry)).map(({ metadata }) => metadata.name);
    const backup = cluster.image();
    cluster.faults.fail({ code: "Expired", matches: ({ verb }) => verb === "watch", times: 1_000 });
    cluster.faults.cutWatches();
    await clock.settle();
    applier.remove({ ref: refOf(one), evidence: evidence(refOf(entry("source", ""))) });
    await clock.settle();
    expect(await hosts()).toEqual({});
    cluster.faults.restore(backup, 1_000);
    await clock.advance(10_000);
    expect(await hosts()).toEqual({ one: "one.global" });
    expect(listed()).toEqual(["one"]);
    await cluster.delete(refOf(one));
    await clock.advance(60_000);
    expect(listed()).toEqual([]);
  });

  it("counts as surplus what it wrote while nobody watched, and no longer once that is gone", async () => {
    const { cluster, view, applier, hosts } = await started();
    const one = entry("one", "one.global");
    cluster.faults.fail({ code: "Expired", matches: ({ verb }) => verb === "watch", times: 1_000 });
    cluster.faults.cutWatches();
    await clock.settle();
    applier.put(one);
    await clock.settle();
    expect(await hosts()).toEqual({ one: "one.global" });
    expect(view.snapshot.of(ServiceEntry).get(refOf(one))).toBeUndefined();
    expect(applier.surplus(new Set()).map(({ name }) => name)).toEqual(["one"]);
    expect(applier.mayStand(refOf(one))).toBe(true);
    applier.prune(refOf(one), "not desired");
    await clock.settle();
    expect(await hosts()).toEqual({});
    expect(applier.mayStand(refOf(one))).toBe(false);
    expect(applier.surplus(new Set())).toEqual([]);
  });

  it("does not keep in mind what it wrote, no longer wants, and two lists did not have", async () => {
    const { cluster, applier } = await started();
    const one = entry("one", "one.global");
    cluster.faults.fail({ code: "Expired", matches: ({ verb }) => verb === "watch", times: 1_000 });
    cluster.faults.cutWatches();
    await clock.settle();
    applier.put(one);
    await clock.settle();
    applier.release(refOf(one));
    await cluster.delete(refOf(one));
    applier.listed(kindKeyOf(ServiceEntry));
    expect(applier.mayStand(refOf(one))).toBe(true);
    applier.listed(kindKeyOf(ServiceEntry));
    expect(applier.mayStand(refOf(one))).toBe(false);
  });

  it("does not count as surplus what the API server refused", async () => {
    const { cluster, applier } = await started();
    cluster.faults.fail({ code: "Invalid", matches: ({ verb }) => verb === "create" });
    applier.put(entry("one", "one.global"));
    await clock.settle();
    expect(applier.rejections.size).toBe(1);
    expect(applier.surplus(new Set())).toEqual([]);
  });

  it("does not let a refused object hold up others, and tries it again", async () => {
    const { cluster, applier, hosts } = await started();
    cluster.faults.fail({ code: "Unavailable", matches: ({ verb, ref }) => verb === "create" && ref.name === "one" });
    applier.put(entry("one", "one.global"));
    applier.put(entry("two", "two.global"));
    await eventually(async () => expect(await hosts()).toEqual({ two: "two.global" }));
    await eventually(async () => expect(await hosts()).toEqual({ one: "one.global", two: "two.global" }));
    expect(applier.rejections.size).toBe(0);
  });

  it("waits as long as the API server asks before it tries again", async () => {
    const { cluster, applier, hosts } = await started();
    const tried: number[] = [];
    cluster.faults.fail({
      code: "Unavailable",
      retryAfterMs: 7_000,
      times: 2,
      matches: ({ verb }) => verb === "create" && tried.push(clock.now()) > 0,
    });
    applier.put(entry("one", "one.global"));
    await eventually(async () => expect(await hosts()).toEqual({ one: "one.global" }));
    const [first = 0, second = 0] = tried;
    expect(second - first).toBeGreaterThanOrEqual(7_000);
    expect(applier.rejections.size).toBe(0);
  });

  it("rejects a kind that the cluster does not serve, and applies it once it does", async () => {
    const { cluster, applier, hosts } = await started();
    cluster.unserve(ServiceEntry);
    applier.put(entry("one", "one.global"));
    await eventually(() => expect([...applier.rejections.values()][0]).toMatchObject({ code: "Unserved" }));
    cluster.serve(ServiceEntry);
    await eventually(async () => expect(await hosts()).toEqual({ one: "one.global" }));
  });

  describe("where nothing may be written", () => {
    const said = (applier: Applier) => [...applier.rejections.values()].map(({ code, message }) => `${code} ${message}`);

    it("tells what a desired object would become, with the reason where the API server cannot be asked, and asks again", async () => {
      const { cluster, applier, hosts } = await startedWith({ mayWrite: () => false }, entry("one", "theirs.example", { team: "shop" }));
      cluster.faults.fail({ code: "Unavailable", times: 1, message: "etcd is away", matches: ({ verb }) => verb === "get" });
      applier.put(entry("one", "one.global"));
      await eventually(() => expect(said(applier)).toEqual(["Failed ServiceEntry istio-system/one in a: etcd is away"]));
      await eventually(() => expect(said(applier)[0]).toMatch(/^WouldConflict .* exists, managed by kubectl, and differs: spec.hosts;/));
      expect(await hosts()).toEqual({ one: "theirs.example" });
    });

    it("tells what would be deleted, and deletes nothing", async () => {
      const { applier, hosts } = await startedWith({ mayWrite: () => false }, entry("one", "one.global"));
      applier.remove({ ref: refOf(entry("one", "")), evidence: evidence(refOf(entry("cause", ""))) });
      await eventually(() => expect(said(applier)[0]).toMatch(/^WouldDelete ServiceEntry istio-system\/one in a: would be deleted: /));
      expect(await hosts()).toEqual({ one: "one.global" });
    });

    it("tells that the cluster does not serve the kind, until it does", async () => {
      const { cluster, applier, hosts } = await startedWith({ mayWrite: () => false });
      cluster.unserve(ServiceEntry);
      applier.put(entry("one", "one.global"));
      await eventually(() => expect(said(applier)[0]).toMatch(/^Unserved .* the cluster does not serve ServiceEntry/));
      cluster.serve(ServiceEntry);
      await eventually(() => expect(said(applier)).toEqual(["WouldCreate ServiceEntry istio-system/one in a: would be created"]));
      expect(await hosts()).toEqual({});
    });
  });
});
