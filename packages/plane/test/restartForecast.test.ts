import { IssuedCertificate, Mesh, VirtualMesh } from "@isthmus/api";
import { type Resource, snapshotOf } from "@isthmus/core";
import { describe, expect, it } from "vitest";
import { certificateReport } from "../src/agent/trust/certificateReports.ts";
import { restartForecast } from "../src/server/trust/restartForecast.ts";
import type { Member } from "../src/server/trust/trustRequests.ts";

const place = { namespace: "shop", clusterName: "east" };
const by = (kind: string, name: string) => ({ ownerReferences: [{ apiVersion: "apps/v1", kind, name, uid: name, controller: true }] });
const proxy = { containers: [{ name: "istio-proxy", image: "docker.io/istio/proxyv2:1.27.0" }] };

function pod(name: string, owner: object, more: object = {}): Resource {
  return { apiVersion: "v1", kind: "Pod", metadata: { name, ...place, ...owner, ...more }, spec: proxy } as Resource;
}

function replicaSet(name: string, deployment: string, more: object = {}): Resource {
  return { apiVersion: "apps/v1", kind: "ReplicaSet", metadata: { name, ...place, ...by("Deployment", deployment), ...more } } as Resource;
}

const istiod = { namespace: "istio-system", labels: { app: "istiod" } };
const PODS: readonly Resource[] = [
  replicaSet("cart-1", "cart"),
  replicaSet("cart-2", "cart"),
  // In the midst of a rollout, of two ReplicaSets.
  pod("cart-1-a", by("ReplicaSet", "cart-1")),
  pod("cart-2-a", by("ReplicaSet", "cart-2")),
  pod("stock-0", by("StatefulSet", "stock")),
  pod("agents-a", by("DaemonSet", "agents")),
  pod("old-a", by("ReplicationController", "old")),
  pod("report-a", by("Job", "report")),
  pod("debug", {}),
  replicaSet("istiod-1", "istiod", istiod),
  { ...pod("istiod-1-a", by("ReplicaSet", "istiod-1"), istiod), spec: {} } as Resource,
];

function forecast(restartsByRollout: boolean) {
  const order = {
    apiVersion: IssuedCertificate.apiVersion,
    kind: IssuedCertificate.kind,
    metadata: { name: "istiod", namespace: "gloo-mesh" },
  };
  const mesh = Mesh.parse({
    ...order,
    apiVersion: Mesh.apiVersion,
    kind: Mesh.kind,
    spec: { istio: { installation: { namespace: "istio-system", cluster: "east", podLabels: { app: "istiod" } } } },
  });
  const virtualMesh = VirtualMesh.parse({
    ...order,
    apiVersion: VirtualMesh.apiVersion,
    kind: VirtualMesh.kind,
    spec: { mtlsConfig: { autoRestartPods: true } },
  });
  const reported = certificateReport(order, { state: "FINISHED", ...(restartsByRollout ? { restartsByRollout } : {}) });
  return restartForecast({ mesh, spec: {} } as Member, { virtualMesh, snapshot: snapshotOf(PODS), reported, isConnected: true });
}

describe("what a change of root does to each workload", () => {
  it("is a rollout where the agent restarts by rollouts and its kind has them, else evictions, or nothing", () => {
    const { restarts, evicted, single, singleCount, workloads } = forecast(true);
    expect(restarts).toEqual([
      { workload: "istio-system/istiod", pods: 1, way: "ROLLOUT" },
      { workload: "shop/agents", pods: 1, way: "ROLLOUT" },
      { workload: "shop/cart", pods: 2, way: "ROLLOUT" },
      { workload: "shop/debug", pods: 1, way: "NONE" },
      { workload: "shop/old", pods: 1, way: "EVICTION" },
      { workload: "shop/report", pods: 1, way: "NONE" },
      { workload: "shop/stock", pods: 1, way: "ROLLOUT" },
    ]);
    expect({ evicted, workloads }).toEqual({ evicted: 1, workloads: 6 });
    // What is rolled out is never without a pod.
    expect({ single, singleCount }).toEqual({ single: ["shop/debug", "shop/old", "shop/report"], singleCount: 3 });
  });

  it("is evictions where the agent says nothing of rollouts", () => {
    const { restarts = [], evicted, singleCount } = forecast(false);
    expect(restarts.map(({ way }) => way)).toEqual(["EVICTION", "EVICTION", "EVICTION", "NONE", "EVICTION", "NONE", "EVICTION"]);
    expect({ evicted, singleCount }).toEqual({ evicted: 5, singleCount: 5 });
  });
});
