import type { AnyResource } from "@isthmus/core";
import { beforeAll, expect, it } from "vitest";
import { type Meshes, meshesOn, type Written } from "./harness/meshes.ts";
import { accessPolicy, service, settings, trafficPolicy, virtualMesh } from "./harness/resources.ts";
import { sharedTestbed } from "./harness/sharedTestbed.ts";
import type { RequestOptions } from "./harness/testbed.ts";
import { writeBrownfieldTopology } from "./harness/topology.ts";

const peerAuthentication = (name: string, mode: string, matchLabels: object): AnyResource => ({
  apiVersion: "security.istio.io/v1",
  kind: "PeerAuthentication",
  metadata: { name, namespace: "bookinfo" },
  spec: { selector: { matchLabels }, mtls: { mode } },
});

/** What users have in a cluster before they know us. */
const OWN: readonly AnyResource[] = [
  peerAuthentication("legacy", "DISABLE", { app: "legacy" }),
  peerAuthentication("strict", "STRICT", { app: "strict" }),
  // Half of its pods were not restarted since injection was turned on.
  peerAuthentication("half", "DISABLE", { app: "half", version: "old" }),
  {
    apiVersion: "networking.istio.io/v1",
    kind: "DestinationRule",
    metadata: { name: "all", namespace: "istio-system" },
    spec: { host: "*.local", trafficPolicy: { connectionPool: { http: { maxRequestsPerConnection: 7 } } } },
  },
  {
    apiVersion: "networking.istio.io/v1",
    kind: "Gateway",
    metadata: { name: "front", namespace: "istio-system" },
    spec: { selector: { istio: "ingressgateway" }, servers: [{ port: { number: 80, name: "http", protocol: "HTTP" }, hosts: ["*"] }] },
  },
  {
    apiVersion: "networking.istio.io/v1",
    kind: "VirtualService",
    metadata: { name: "front", namespace: "istio-system" },
    spec: {
      hosts: ["*"],
      gateways: ["istio-system/front"],
      http: [{ route: [{ destination: { host: "strict.bookinfo.svc.cluster.local", port: { number: 9080 } } }] }],
    },
  },
  {
    apiVersion: "security.istio.io/v1",
    kind: "AuthorizationPolicy",
    metadata: { name: "strict", namespace: "bookinfo" },
    spec: {
      selector: { matchLabels: { app: "strict" } },
      rules: [
        { from: [{ source: { principals: ["cluster.local/ns/bookinfo/sa/bookinfo-productpage"] } }] },
        { from: [{ source: { namespaces: ["istio-system"] } }] },
      ],
    },
  },
];

/** A gateway that pods call, as those of serverless platforms do. */
const FRONT = { host: "istio-ingressgateway.istio-system.svc.cluster.local", port: 80 };
const HOSTS = ["reviews", "legacy", "strict", "half"].map((name) => ({ host: `${name}.bookinfo.svc.cluster.local` }));
const CALLERS: readonly Partial<RequestOptions>[] = [{}, { identity: "sleep" }, { from: "cluster-2" }];
const REQUESTS: readonly RequestOptions[] = [
  ...CALLERS.flatMap((caller) =>
    [...HOSTS, FRONT]
      .filter(({ host }) => caller.from === undefined || host.startsWith("reviews"))
      .map((to) => ({ ...caller, ...to, count: 12 })),
  ),
  // Pods without a sidecar call pods: nobody forwards the addresses of Services here.
  ...[20, 30, 31, 32, 33].map((pod) => ({ hasNoSidecar: true, host: `10.71.1.${pod}`, count: 12, timeoutSeconds: 3 })),
];

// What joining, and each thing that a user says then, leaves as it was. No Settings, Istio's own trust domain, and nothing as our other suites have it.
sharedTestbed({ topology: writeBrownfieldTopology })("clusters as users have them, on real Istio", (testbed) => {
  let meshes: Meshes;
  let before: unknown;

  /** Who gets which answer from whom. */
  async function matrix(): Promise<unknown> {
    const rows: Record<string, unknown> = {};
    for (const options of REQUESTS) {
      const { status } = await meshes.request(options);
      const { from = "cluster-1", identity = "productpage", hasNoSidecar = false, host } = options;
      rows[`${from} ${identity}${hasNoSidecar ? " without sidecar" : ""} -> ${host}`] = status;
    }
    return rows;
  }

  /** In force beside what users have; what comes of it for proxies. */
  async function written(more: Written): Promise<readonly AnyResource[]> {
    const { items } = await meshes.apply({ virtualMesh: null, ...more, own: { "cluster-1": OWN } });
    return items.filter(({ apiVersion }) => apiVersion.includes(".istio.io/"));
  }

  beforeAll(async () => {
    meshes = await meshesOn(testbed());
    const { objects, synced } = await testbed().apply({ "cluster-1": OWN });
    expect({ refused: objects.filter(({ ok }) => !ok), synced }).toEqual({ refused: [], synced: true });
    before = await matrix();
  });

  it("has what was desired: plain text, mutual TLS and both work beside each other, and what users closed is closed", () => {
    expect(before).toMatchObject({
      "cluster-1 productpage -> legacy.bookinfo.svc.cluster.local": { 200: 12 },
      "cluster-1 productpage -> half.bookinfo.svc.cluster.local": { 200: 12 },
      "cluster-1 productpage -> strict.bookinfo.svc.cluster.local": { 200: 12 },
      "cluster-1 sleep -> strict.bookinfo.svc.cluster.local": { 403: 12 },
      "cluster-1 productpage -> istio-ingressgateway.istio-system.svc.cluster.local": { 200: 12 },
    });
  });

  it("joins without a change", async () => {
    expect(await written({})).toEqual([]);
    expect(await matrix()).toEqual(before);
  });

  it("stays as it is with Settings about something else", async () => {
    const suppressed = settings({ insights: { suppressions: [{ code: "CFG0001", reason: "known" }] } });
    expect(await written({ settings: suppressed })).toEqual([]);
  });

  it("gets new hosts by a VirtualMesh, and nothing else", async () => {
    await written({ virtualMesh: virtualMesh() });
    expect(await matrix()).toEqual(before);
    const there = await meshes.request({ host: "reviews.bookinfo.svc.cluster-2.global" });
    expect(there.status).toEqual({ 200: 20 });
  });

  it("has what a policy says of connections, and users' own settings beside it", async () => {
    const policies = [
      trafficPolicy(
        { outlierDetection: { consecutiveErrors: 77 } },
        { destinationSelector: [service("legacy", "cluster-1"), service("half", "cluster-1"), service("strict", "cluster-1")] },
      ),
    ];
    await written({ policies });
    expect(await matrix()).toEqual(before);
    const config = JSON.parse(await testbed().proxyConfig("cluster-1/productpage-v1")) as unknown;
    const legacy = clustersOf(config).find((text) => text.includes("outbound|9080||legacy.bookinfo.svc.cluster.local"));
    expect(legacy).toContain('"consecutive_5xx":77');
    expect(legacy).toContain('"max_requests_per_connection":7');
  });

  it("is as it was when all of it is deleted", async () => {
    await written({ virtualMesh: virtualMesh(), policies: [accessPolicy({ destinationSelector: [service("reviews", "cluster-1")] })] });
    expect(await written({})).toEqual([]);
    expect(await matrix()).toEqual(before);
  });
});

/** The clusters of Envoy's configuration, each as JSON. */
function clustersOf(config: unknown): readonly string[] {
  const { configs = [] } = config as { readonly configs?: readonly { readonly dynamic_active_clusters?: readonly unknown[] }[] };
  return configs.flatMap(({ dynamic_active_clusters: clusters = [] }) => clusters.map((cluster) => JSON.stringify(cluster)));
}
