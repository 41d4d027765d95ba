import { Deployment, EndpointSlice, Pod, REVISION_ANNOTATION, Service, SIDECAR_STATUS_ANNOTATION } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import { describe, expect, it } from "vitest";
import { demoClusters } from "../src/index.ts";
import { at, type LiveCluster, liveCluster, workload } from "./liveCluster.ts";

describe("Bookinfo on Istio", () => {
  it("comes up in both clusters, with sidecars and endpoints", async () => {
    expect(Object.keys(demoClusters())).toEqual(["cluster-1", "cluster-2"]);
    const wanted: Readonly<Record<string, readonly string[]>> = {
      "cluster-1": ["details-v1", "productpage-v1", "ratings-v1", "reviews-v1", "reviews-v2"],
      "cluster-2": ["ratings-v1", "reviews-v3"],
    };
    for (const [name, resources] of Object.entries(demoClusters())) {
      const live = await liveCluster(resources, name);
      const deployments = await live.all(Deployment, "bookinfo");
      expect(deployments.map(({ metadata }) => metadata.name)).toEqual(wanted[name]);
      expect(deployments.every((deployment) => at(deployment, "status.readyReplicas") === 1)).toBe(true);
      const pods = await live.all(Pod, "bookinfo");
      expect(pods).toHaveLength(deployments.length);
      for (const pod of pods) expectSidecar(pod);
      for (const slice of await live.all(EndpointSlice)) expect(at(slice, "endpoints.0.conditions.ready")).toBe(true);
      expect(live.warnings).toEqual([]);
    }
  });

  it("can be reached from other clusters through a gateway", async () => {
    for (const [name, resources] of Object.entries(demoClusters())) {
      const live = await liveCluster(resources, name);
      const gateway = await live.one(Service, "istio-ingressgateway", "istio-system");
      const ports = at(gateway, "spec.ports") as readonly { readonly name: string; readonly port: number }[];
      expect(ports.find((port) => port.name === "tls")?.port).toBe(15443);
      expect(at(gateway, "status.loadBalancer.ingress.0.ip")).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
      expect(gateway.metadata.labels).toMatchObject({ istio: "ingressgateway" });
      const [pod] = (await live.all(Pod, "istio-system")).filter(({ metadata }) => metadata.labels?.["istio"] === "ingressgateway");
      expect(images(pod as AnyResource)).toEqual(["docker.io/istio/proxyv2:1.27.1"]);
    }
  });

  it("has a control plane whose configuration says what discovery reads", async () => {
    const resources = demoClusters()["cluster-1"] ?? [];
    const config = resources.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === "istio");
    expect(at(config, "data.mesh")).toContain("trustDomain: cluster-1.example");
    expect(at(config, "data.mesh")).toContain('ISTIO_META_DNS_CAPTURE: "true"');
    const nodes = resources.filter(({ kind }) => kind === "Node");
    expect(nodes.map(({ metadata }) => metadata.labels?.["topology.kubernetes.io/region"])).toEqual(["us-east-1", "us-east-1"]);
  });
});

describe("a sidecar", () => {
  const istiod = {
    ...workload({ name: "istiod", namespace: "istio-system", image: "docker.io/istio/pilot:1.27.1" }),
  };
  const system = namespace("istio-system");

  async function imagesWith(
    labels: Readonly<Record<string, string>>,
    options: Parameters<typeof workload>[0] = {},
  ): Promise<readonly unknown[]> {
    const live = await liveCluster([system, istiod, namespace("shop", labels), workload({ ...options, namespace: "shop" })]);
    return images(await onlyPod(live));
  }

  it("is injected where the namespace or the pod asks for it, and nobody refuses", async () => {
    const with_ = ["example.com/web:1", "docker.io/istio/proxyv2:1.27.1"];
    const without = ["example.com/web:1"];
    expect(await imagesWith({})).toEqual(without);
    expect(await imagesWith({ "istio-injection": "enabled" })).toEqual(with_);
    expect(await imagesWith({ "istio.io/rev": "default" })).toEqual(with_);
    expect(await imagesWith({ "istio.io/rev": "canary" })).toEqual(without);
    expect(await imagesWith({ "istio-injection": "enabled" }, { annotations: { "sidecar.istio.io/inject": "false" } })).toEqual(without);
    expect(await imagesWith({ "istio-injection": "enabled" }, { labels: { "sidecar.istio.io/inject": "false" } })).toEqual(without);
    expect(await imagesWith({}, { labels: { "sidecar.istio.io/inject": "true" } })).toEqual(with_);
    expect(await imagesWith({ "istio-injection": "disabled" }, { labels: { "sidecar.istio.io/inject": "true" } })).toEqual(without);
  });

  it("is not injected where there is no control plane", async () => {
    const live = await liveCluster([namespace("shop", { "istio-injection": "enabled" }), workload({ namespace: "shop" })]);
    expect(images(await onlyPod(live))).toEqual(["example.com/web:1"]);
  });

  it("replaces a gateway's image that is left to the injector", async () => {
    const injected = await imagesWith({ "istio-injection": "enabled" }, { name: "istio-proxy", image: "auto" });
    expect(injected).toEqual(["docker.io/istio/proxyv2:1.27.1", "docker.io/istio/proxyv2:1.27.1"]);
  });

  async function onlyPod(live: LiveCluster): Promise<AnyResource> {
    const [pod, ...others] = await live.all(Pod, "shop");
    expect(others).toEqual([]);
    return pod as AnyResource;
  }
});

function namespace(name: string, labels: Readonly<Record<string, string>> = {}) {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
}

function images(pod: AnyResource): readonly unknown[] {
  return (at(pod, "spec.containers") as readonly { readonly image: string }[]).map(({ image }) => image);
}

function expectSidecar(pod: AnyResource): void {
  const { labels = {}, annotations = {} } = pod.metadata;
  expect(images(pod)[1]).toBe("docker.io/istio/proxyv2:1.27.1");
  expect(labels).toMatchObject({
    "security.istio.io/tlsMode": "istio",
    "service.istio.io/canonical-name": labels["app"],
    "service.istio.io/canonical-revision": labels["version"],
  });
  expect(annotations[REVISION_ANNOTATION]).toBe("default");
  expect(annotations[SIDECAR_STATUS_ANNOTATION]).toContain('"istio-proxy"');
}
