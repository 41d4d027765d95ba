import { EndpointSlice, MutatingWebhookConfiguration, Pod, ReplicaSet, Settings } from "@isthmus/api";
import { type Resource, snapshotOf } from "@isthmus/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { podAddresses } from "../src/agent/observability/podAddresses.ts";
import { type Leadership, type MeshPod, scrapeTargets } from "../src/index.ts";
import { demoFleet, type Fleet, register } from "./fleet.ts";
import { eventually } from "./virtualTime.ts";

const all = () => true;
const metadata = (name: string, namespace = "shop") => ({ name, namespace, clusterName: "c1" });
const PROXY = { name: "istio-proxy", image: "docker.io/istio/proxyv2:1.27.0" };

function pod(name: string, containers: readonly object[], more: object = {}): Resource {
  return Pod.parse({ apiVersion: Pod.apiVersion, kind: Pod.kind, metadata: { ...metadata(name), ...more }, spec: { containers } });
}

/** Where the pods run, by `namespace/name`. */
function targetsIn(resources: readonly Resource[], places: Readonly<Record<string, string>> = {}, scope = all): readonly MeshPod[] {
  const addresses = podAddresses();
  for (const [key, ip] of Object.entries(places)) {
    const [namespace = "", name = ""] = key.split("/");
    addresses.seen({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace }, status: { podIPs: [{ ip }] } } as unknown as Resource);
  }
  return scrapeTargets(snapshotOf(resources), addresses, scope);
}

describe("the pods whose metrics are read", () => {
  it("are those with a proxy, with the address in their status, and the workload that owns them", () => {
    const owner = (kind: string, name: string) => [{ apiVersion: "apps/v1", kind, name, uid: "", controller: true }];
    const replicaSet = ReplicaSet.parse({
      apiVersion: ReplicaSet.apiVersion,
      kind: ReplicaSet.kind,
      metadata: { ...metadata("web-abc"), ownerReferences: owner("Deployment", "web") },
    });
    const web = pod("web-abc-1", [{ name: "app", image: "web" }, PROXY], { ownerReferences: owner("ReplicaSet", "web-abc") });
    const istiod = pod("istiod-1", [{ name: "discovery", image: "istio/pilot:1.27.0" }]);
    const found = targetsIn([replicaSet, web, istiod, pod("bare-1", [{ name: "app", image: "web" }]), pod("lone-1", [PROXY])], {
      "shop/web-abc-1": "10.0.0.7",
      "shop/bare-1": "10.0.0.8",
    });
    expect([...found].sort((a, b) => (a.pod < b.pod ? 1 : -1))).toEqual([
      {
        namespace: "shop",
        pod: "web-abc-1",
        workload: "web",
        kind: "proxy",
        at: { address: "10.0.0.7", port: 15020, path: "/stats/prometheus" },
      },
      { namespace: "shop", pod: "lone-1", workload: "lone-1", kind: "proxy", at: undefined },
      { namespace: "shop", pod: "istiod-1", workload: "istiod-1", kind: "controlPlane", at: undefined },
    ]);
  });

  it("are found whatever the registry of their images", () => {
    const image = "registry.corp.example/mesh/image:1";
    const labels = { app: "istiod" };
    const found = targetsIn([
      pod("control-plane-1", [{ name: "discovery", image }], { labels }),
      pod("web-1", [{ name: "istio-proxy", image }]),
    ]);
    expect(found.map((one) => [one.pod, one.kind])).toEqual([
      ["control-plane-1", "controlPlane"],
      ["web-1", "proxy"],
    ]);
  });

  it("are no control planes where no webhook of a mesh names their namespace", () => {
    const webhook = (namespace: string) =>
      MutatingWebhookConfiguration.parse({
        apiVersion: MutatingWebhookConfiguration.apiVersion,
        kind: MutatingWebhookConfiguration.kind,
        metadata: { name: "istio-sidecar-injector", clusterName: metadata("x").clusterName },
        webhooks: [{ name: "rev.sidecar-injector.istio.io", clientConfig: { service: { namespace, name: "istiod" } } }],
      });
    const istiod = pod("istiod-1", [{ name: "discovery", image: "istio/pilot:1.27.0" }]);
    expect(targetsIn([istiod, webhook("elsewhere")])).toEqual([]);
    expect(targetsIn([istiod, webhook("shop")])).toMatchObject([{ pod: "istiod-1", kind: "controlPlane" }]);
  });

  it("have no address by the word of an EndpointSlice, and are in namespaces that are reported", () => {
    const web = pod("web-1", [PROXY]);
    const { apiVersion, kind } = EndpointSlice;
    const endpoints = [{ addresses: ["10.9.9.9"], targetRef: { kind: "Pod", name: "web-1", namespace: "shop" } }];
    const slice = EndpointSlice.parse({ apiVersion, kind, metadata: metadata("web"), addressType: "IPv4", endpoints });
    expect(targetsIn([web, slice])).toMatchObject([{ at: undefined }]);
    expect(targetsIn([web], { "shop/web-1": "10.0.0.7" }, (() => false) as typeof all)).toEqual([]);
  });
});

describe("the replica of an agent that scrapes", () => {
  let fleet: Fleet;
  beforeEach(async () => {
    fleet = demoFleet();
    await register(fleet);
    fleet.startServer();
  });
  afterEach(() => fleet.stop());

  const leaders = new Map<string, (isLeader: boolean) => void>();
  function elected(name: string): Leadership {
    const listeners = new Set<(isLeader: boolean) => void>();
    let isLeader = false;
    leaders.set(name, (now) => {
      isLeader = now;
      for (const listener of listeners) listener(now);
    });
    return {
      get isLeader() {
        return isLeader;
      },
      fence: 1,
      onChange(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    };
  }

  it("is the one that leads, and reads nothing before the Settings say so", async () => {
    const running = new Map<string, () => readonly MeshPod[] | undefined>();
    const start = (name: string) =>
      fleet.startAgent("cluster-1", {
        name,
        leadership: elected(name),
        meshMetrics({ targets }, term) {
          running.set(name, targets);
          const ended = new Promise<void>((resolve) => term.addEventListener("abort", () => resolve(), { once: true }));
          return { ended: ended.then(() => void running.delete(name)) };
        },
      });
    start("-a");
    start("-b");
    leaders.get("-a")?.(true);
    await eventually(() => expect([...running.keys()]).toEqual(["-a"]));
    await eventually(() => expect(fleet.server().store.clusters.get("cluster-1")?.connected).toBe(true));
    expect(running.get("-a")?.()).toBeUndefined();
    const { apiVersion, kind } = Settings;
    const metadataOf = { name: "settings", namespace: "gloo-mesh" };
    await fleet.management.create({ apiVersion, kind, metadata: metadataOf, spec: { agentServices: { metrics: "ENABLED" } } } as Settings);
    await eventually(() =>
      expect(
        running
          .get("-a")?.()
          ?.some(({ kind: of, at }) => of === "proxy" && at?.port === 15020),
      ).toBe(true),
    );
    leaders.get("-a")?.(false);
    leaders.get("-b")?.(true);
    await eventually(() => expect([...running.keys()]).toEqual(["-b"]));
    await eventually(() => expect(running.get("-b")?.()?.length).toBeGreaterThan(0));
    const found = await fleet.management.get(Settings, metadataOf);
    await fleet.management.update({ ...(found as Settings), spec: { agentServices: { metrics: "DISABLED" } } } as Settings);
    await eventually(() => expect(running.get("-b")?.()).toBeUndefined());
  });
});
