import { EnvoyFilter, Pod, WASM_ANNOTATION, WASM_REVISION_ANNOTATION, WasmFilterReport, wasmOrderDigest } from "@isthmus/api";
import { type AnyResource, type Delta, kindKeyOf } from "@isthmus/core";
import { type Cluster, ClusterError, type Observation } from "@isthmus/ports";
import { simulatedCluster } from "@isthmus/simulator";
import { networkingOwner } from "@isthmus/translators";
import { afterEach, expect, it } from "vitest";
import { wasmOrdersIn, wasmOrdersOfPod } from "../src/agent/wasm/wasmOrders.ts";
import { startWasmReports, type WasmFilters } from "../src/agent/wasm/wasmReports.ts";
import { writtenFilters } from "../src/agent/wasm/writtenFilters.ts";
import { startInformer } from "../src/informer/informer.ts";
import { recordingLog } from "./recordingLog.ts";
import { clock, eventually, quiet } from "./virtualTime.ts";

const OWNER = networkingOwner("gloo-mesh");
let stop = new AbortController();
afterEach(() => stop.abort(new Error("done")));

type Outcome = ReturnType<WasmFilters["outcomes"]>[number]["outcome"];
const ACCEPTED: Outcome = { state: "ACCEPTED", version: "v1" };

function filter(
  name: string,
  {
    labels = { app: "web" } as object,
    isOurs = true,
    managers = ["gloo-mesh"],
    orders = [{ name: "wasm.one", path: "/one" }] as unknown,
    spec = {},
  } = {},
): AnyResource {
  const { apiVersion, kind } = EnvoyFilter;
  const own = isOurs ? { [OWNER.label]: OWNER.value } : {};
  const managedFields = isOurs ? managers.map((manager) => ({ manager })) : [];
  const metadata = { name, namespace: "shop", managedFields, labels: own, annotations: { [WASM_ANNOTATION]: JSON.stringify(orders) } };
  return { apiVersion, kind, metadata, spec: { workloadSelector: { labels }, configPatches: [patch("SIDECAR_INBOUND")], ...spec } };
}

function patch(context: string, before = "envoy.filters.http.router"): object {
  return { applyTo: "HTTP_FILTER", match: { context, listener: { filterChain: { filter: { subFilter: { name: before } } } } } };
}

function pod(name: string, namespace = "shop", app = "web"): AnyResource {
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace, labels: { app, more: "x" } }, spec: {} };
}

/** The reports of a cluster with these objects, whose proxies have answered so. */
async function started(
  objects: readonly AnyResource[],
  proxies: () => Readonly<Record<string, Outcome>>,
  problem?: string,
  unreadable: Readonly<Record<string, ClusterError>> = {},
) {
  stop = new AbortController();
  const kinds = [EnvoyFilter, Pod];
  const cluster = simulatedCluster({ name: "east", clock, kinds });
  cluster.load(["shop", "elsewhere"].map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } })));
  for (const { metadata, ...rest } of objects) {
    const { managedFields = [], ...others } = metadata;
    if (managedFields.length === 0) cluster.load([{ ...rest, metadata: others } as AnyResource]);
    for (const { manager } of managedFields) {
      await cluster.apply({ ...rest, metadata: others } as AnyResource, { fieldManager: String(manager), force: true });
    }
  }
  const observed: Observation[] = [];
  const synced: string[] = [];
  const changed = (delta: Delta): void => {
    ours?.observed(delta);
    reports?.observed(delta);
  };
  const view = startInformer({ cluster, kinds, clock, random: () => 0, log: recordingLog(), changed }, stop.signal);
  const server: WasmFilters = {
    changed: () => undefined,
    stateOf: () => (problem === undefined ? { version: "v1" } : { problem }),
    outcomes: () =>
      Object.entries(proxies()).map(([name, outcome]) => {
        const [namespace = "", podName = ""] = name.split("/");
        return { pod: { namespace, name: podName }, filter: "wasm.one", outcome };
      }),
    ended: Promise.resolve(),
  };
  const link = { observe: (one: Observation) => void observed.push(one), synced: (of: readonly string[]) => void synced.push(...of) };
  const log = recordingLog();
  const get: Cluster["get"] = (kind, ref, signal) => {
    const error = unreadable[ref.name];
    return error === undefined ? cluster.get(kind, ref, signal) : Promise.reject(error);
  };
  const ours = writtenFilters({ cluster: { get }, view, owners: [OWNER], changed: () => reports.changed(), clock, log }, stop.signal);
  const reports = startWasmReports(
    { clusterName: "east", view, link, owners: [OWNER], ours: () => ours, filters: () => server, clock },
    stop.signal,
  );
  const last = () =>
    Object.fromEntries(observed.flatMap(({ put }) => put).map((one) => [one.metadata.name, (one as WasmFilterReport).status]));
  /** The digest of an order as it was made, before any cluster had it. */
  const orderOf = (name: string) => wasmOrderDigest(objects.find(({ metadata }) => metadata.name === name) ?? expect.fail(name));
  return { cluster, reports, ours, log, view, observed, synced, last, orderOf };
}

it("counts the proxies of the pods that a filter selects, and says what one of them refuses", async () => {
  const refused: Outcome = { state: "REFUSED", version: "v1", error: "no module" };
  const { last, orderOf } = await started(
    [filter("one"), pod("a"), pod("b"), pod("c"), pod("d"), pod("other", "shop", "cart"), pod("away", "elsewhere")],
    () => ({
      "shop/a": ACCEPTED,
      "shop/b": refused,
      "shop/c": { state: "PENDING" },
      // Of what was meant before.
      "shop/d": { state: "ACCEPTED", version: "v0" },
      "shop/other": ACCEPTED,
      "elsewhere/away": ACCEPTED,
      "shop/unknown": ACCEPTED,
    }),
  );
  await eventually(() =>
    expect(last()).toEqual({ one: { orderSha256: orderOf("one"), proxies: 4, accepted: 1, refused: 1, refusal: "no module" } }),
  );
});

it("counts a proxy once it runs all filters that are ordered, not those alone that it has asked for", async () => {
  const orders = ["wasm.one", "wasm.two"].map((name) => ({ name, path: "/one" }));
  const { last } = await started([filter("both", { orders }), filter("one"), pod("a")], () => ({ "shop/a": ACCEPTED }));
  await eventually(() => expect(last()).toMatchObject({ both: { proxies: 1, accepted: 0 }, one: { proxies: 1, accepted: 1 } }));
});

it("says why a module is not there, and waits for proxies no longer than 20 s", async () => {
  const { last, synced, orderOf } = await started([filter("one"), pod("a")], () => ({}), "status 404");
  await quiet(15_000);
  expect(synced).toEqual([]);
  await eventually(() => expect(synced).toEqual([kindKeyOf(WasmFilterReport)]));
  expect(last()).toEqual({ one: { orderSha256: orderOf("one"), proxies: 0, accepted: 0, refused: 0, unavailable: "status 404" } });
});

it("names the order that it is about as the cluster has it: each time when that is another one", async () => {
  const first = filter("one");
  const { cluster, last, orderOf } = await started([first, pod("a")], () => ({ "shop/a": ACCEPTED }));
  const named = () => last()["one"]?.orderSha256;
  await eventually(() => expect(named()).toBe(orderOf("one")));
  const { annotations } = first.metadata;
  const others = [
    filter("one", { orders: [{ name: "wasm.one", path: "/two" }] }),
    filter("one", { labels: { app: "web", more: "x" } }),
    filter("one", { spec: { priority: 1 } }),
    { ...first, metadata: { ...first.metadata, annotations: { ...annotations, [WASM_REVISION_ANNOTATION]: "a/2" } } },
    { ...first, metadata: { ...first.metadata, annotations: { ...annotations, "of-a-user": "x" } } },
  ];
  const found: (string | undefined)[] = [];
  for (const other of others) {
    const live = await cluster.get(EnvoyFilter, { name: "one", namespace: "shop" });
    const { managedFields: _, ...metadata } = other.metadata;
    await cluster.update({ ...other, metadata: { ...metadata, resourceVersion: live?.metadata.resourceVersion ?? "" } });
    await eventually(() => expect(named()).toBe(wasmOrderDigest(other)));
    found.push(named());
  }
  // What is not ours of it makes no other order.
  expect(new Set([...found, orderOf("one")]).size).toBe(others.length);
  expect(found.at(-1)).toBe(orderOf("one"));
});

it("says nothing any more of a filter that is gone", async () => {
  const { cluster, observed, synced } = await started([filter("one"), pod("a")], () => ({ "shop/a": ACCEPTED }));
  await eventually(() => expect(synced).toHaveLength(1));
  await cluster.delete({ ...EnvoyFilter, name: "one", namespace: "shop", clusterName: "east" });
  await eventually(() => expect(observed.flatMap(({ remove }) => remove).map(({ name }) => name)).toEqual(["one"]));
});

it("names the filters of users at the same place for the same pods, and no others", async () => {
  const mine = (name: string, spec: object) => filter(name, { isOurs: false, spec });
  const { last } = await started(
    [
      filter("one"),
      pod("a"),
      mine("same-place", { configPatches: [patch("ANY")] }),
      mine("whole-namespace", { workloadSelector: undefined, configPatches: [patch("SIDECAR_INBOUND")] }),
      mine("elsewhere", { configPatches: [patch("SIDECAR_INBOUND", "envoy.filters.http.cors")] }),
      mine("outbound", { configPatches: [patch("SIDECAR_OUTBOUND")] }),
      mine("other-pods", { workloadSelector: { labels: { app: "cart" } } }),
      mine("nonsense", { configPatches: "none" }),
    ],
    () => ({ "shop/a": ACCEPTED }),
  );
  await eventually(() => expect(last()["one"]).toMatchObject({ userFilters: ["shop/same-place", "shop/whole-namespace"] }));
});

it("takes orders only of what bears the plane's label, in a form that is understood, and for pods of its namespace", async () => {
  const forged = [
    filter("of-a-user", { isOurs: false }),
    filter("of-all-pods", { labels: {} }),
    filter("of-no-list", { orders: { name: "wasm.one" } }),
    filter("of-another-name", { orders: [{ name: "envoy.filters.http.router", path: "/one" }] }),
    filter("of-two-sources", { orders: [{ name: "wasm.one", path: "/one", image: "registry.example.com/a:v1" }] }),
    filter("of-no-digest", { orders: [{ name: "wasm.one", uri: "https://example.com/one" }] }),
    filter("of-another-writer", { managers: ["kubectl", "kube-controller-manager"] }),
    filter("of-more", { orders: [{ name: "wasm.one", path: "/one", pullSecret: "mine" }] }),
  ];
  const { view, ours, log } = await started([filter("one"), ...forged, pod("a"), pod("a", "elsewhere")], () => ({}));
  await eventually(() => expect(view.isComplete && ours.isEvaluated).toBe(true));
  expect(log.warnings).toEqual([expect.stringContaining("EnvoyFilter shop/of-another-writer has the label")]);
  expect(wasmOrdersIn(view.snapshot, ours.isOurs).map(({ name }) => name)).toEqual(["one"]);
  const ofPod = (namespace: string) => wasmOrdersOfPod(view.snapshot, ours.isOurs, { name: "a", namespace, clusterName: "east" });
  expect([ofPod("shop").length, ofPod("elsewhere").length]).toEqual([1, 0]);
});

it("is held up by no EnvoyFilter that cannot be read, and asks again for those that may be ours", async () => {
  const unreadable = { aaa: new ClusterError("Invalid", "spec: must be an object"), aab: new ClusterError("Forbidden", "not here") };
  const { view, ours, last } = await started(
    [filter("aaa"), filter("aab"), filter("one"), pod("a")],
    () => ({ "shop/a": ACCEPTED }),
    undefined,
    unreadable,
  );
  await eventually(() => expect(wasmOrdersIn(view.snapshot, ours.isOurs).map(({ name }) => name)).toEqual(["one"]));
  expect(ours.isEvaluated).toBe(false);
  delete (unreadable as Partial<typeof unreadable>).aab;
  await eventually(() => expect(ours.isEvaluated).toBe(true));
  await eventually(() => expect(Object.keys(last()).sort()).toEqual(["aab", "one"]));
});
