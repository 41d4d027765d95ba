import { CiliumEndpoint, CiliumNetworkPolicy, CiliumPolicyReport } from "@isthmus/api";
import { type AnyResource, kindKeyOf } from "@isthmus/core";
import type { Observation } from "@isthmus/ports";
import { simulatedCluster } from "@isthmus/simulator";
import { networkingOwner } from "@isthmus/translators";
import { afterEach, expect, it } from "vitest";
import { startCiliumLoop } from "../src/agent/cilium/ciliumLoop.ts";
import { startInformer } from "../src/informer/informer.ts";
import { recordingLog } from "./recordingLog.ts";
import { clock, eventually, quiet } from "./virtualTime.ts";

const { label, value } = networkingOwner("gloo-mesh");
let stop = new AbortController();
afterEach(() => stop.abort(new Error("done")));

function policy(name: string, labels: Readonly<Record<string, string>>, spec: object = {}): AnyResource {
  const { apiVersion, kind } = CiliumNetworkPolicy;
  const metadata = { name, namespace: "shop", labels: { [label]: value } };
  return { apiVersion, kind, metadata, spec: { endpointSelector: { matchLabels: labels }, ingress: [{}], ...spec } };
}

function endpoint(name: string, labels: readonly string[], { enforcing = true, namespace = "shop", at = 0 } = {}): AnyResource {
  const { apiVersion, kind } = CiliumEndpoint;
  const ownerReferences = [{ apiVersion: "v1", kind: "Pod", name, uid: name }];
  const status = { id: at, identity: { labels }, policy: { ingress: { enforcing } } };
  return { apiVersion, kind, metadata: { name, namespace, ownerReferences }, status };
}

/** The loop over a cluster that holds these objects, and all that it reports. */
function started(
  objects: readonly AnyResource[],
  { mode = "SUMMARY" as "SUMMARY" | "FULL", kinds = [CiliumEndpoint, CiliumNetworkPolicy] } = {},
) {
  stop = new AbortController();
  const cluster = simulatedCluster({ name: "east", clock, kinds });
  cluster.load(objects);
  const observed: Observation[] = [];
  const synced: string[] = [];
  const log = recordingLog();
  const view = startInformer(
    { cluster, kinds: [CiliumNetworkPolicy], clock, random: () => 0, log, changed: (delta) => loop?.observed(delta) },
    stop.signal,
  );
  const link = { observe: (one: Observation) => void observed.push(one), synced: (kinds: readonly string[]) => void synced.push(...kinds) };
  const owners = [networkingOwner("gloo-mesh")];
  const loop = startCiliumLoop(
    { cluster, view, link, owners, mode: () => mode, scope: () => () => true, clock, random: () => 0, log },
    stop.signal,
  );
  const told = () => observed.flatMap(({ put }) => put).map(({ metadata, ...rest }) => [metadata.name, (rest as AnyResource)["status"]]);
  return { cluster, observed, synced, told };
}

it("counts the pods with all labels of a policy in its namespace, once for each policy", async () => {
  const both = ["k8s:app=cart", "k8s:tier=web"];
  const { told, synced } = started([
    policy("one", { "k8s:app": "cart" }),
    policy("two", { "k8s:app": "cart", "k8s:tier": "web" }),
    policy("of-nobody", { "k8s:app": "stock" }),
    policy("of-another-form", { "k8s:app": "cart" }, { endpointSelector: { matchExpressions: [{ key: "k8s:app", operator: "Exists" }] } }),
    { ...policy("of-a-user", { "k8s:app": "cart" }), metadata: { name: "of-a-user", namespace: "shop" } },
    endpoint("a", both),
    endpoint("b", both, { enforcing: false }),
    endpoint("c", ["k8s:app=cart"]),
    endpoint("d", both, { namespace: "elsewhere" }),
    endpoint("e", ["k8s:app=cartographer"]),
  ]);
  await eventually(() => expect(synced).toContain(kindKeyOf(CiliumPolicyReport)));
  expect(told()).toEqual([
    ["of-another-form", {}],
    ["of-nobody", { endpoints: 0, enforcing: 0 }],
    ["one", { endpoints: 3, enforcing: 2 }],
    ["two", { endpoints: 2, enforcing: 1 }],
  ]);
});

it("says nothing while endpoints change in what does not count, and once what a burst of changes comes to", async () => {
  const all = Array.from({ length: 30 }, (_, i) => endpoint(`pod-${i}`, ["k8s:app=cart"]));
  const { cluster, observed, told } = started([policy("one", { "k8s:app": "cart" }), policy("two", { "k8s:app": "other" }), ...all]);
  await eventually(() => expect(told()).toContainEqual(["one", { endpoints: 30, enforcing: 30 }]));
  const before = observed.length;
  for (let at = 1; at <= 3; at++) {
    for (const one of all) await cluster.updateStatus(endpoint(one.metadata.name, ["k8s:app=cart"], { at }));
    await quiet(10_000);
  }
  expect(observed).toHaveLength(before);
  for (const { metadata } of all) await cluster.delete({ ...CiliumEndpoint, name: metadata.name, namespace: "shop", clusterName: "east" });
  await quiet(10_000);
  expect(observed.length - before).toBeLessThanOrEqual(2);
  expect(told().at(-1)).toEqual(["one", { endpoints: 0, enforcing: 0 }]);
});

it("reports without numbers where endpoints cannot be read, and not before it has waited for them", async () => {
  const { cluster, observed, synced, told } = started([policy("one", { "k8s:app": "cart" })]);
  cluster.faults.fail({
    code: "Forbidden",
    matches: ({ verb, ref }) => verb === "list" && ref.kind === CiliumEndpoint.kind,
    times: Number.POSITIVE_INFINITY,
  });
  await quiet(20_000);
  expect([observed, synced]).toEqual([[], []]);
  await quiet(20_000);
  expect(told()).toEqual([["one", {}]]);
  expect(synced).toContain(kindKeyOf(CiliumPolicyReport));
});

it("sends endpoints where the Settings ask for them as soon as Cilium is installed, and has reported before that there are none", async () => {
  const { cluster, observed, synced } = started([], { mode: "FULL", kinds: [] });
  await eventually(() => expect(synced).toContain(kindKeyOf(CiliumEndpoint)));
  cluster.serve(CiliumNetworkPolicy);
  cluster.serve(CiliumEndpoint);
  cluster.load([endpoint("a", [])]);
  await eventually(() => expect(observed.flatMap(({ put }) => put).map(({ metadata }) => metadata.name)).toEqual(["a"]));
});
