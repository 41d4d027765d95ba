import { Mesh, MutatingWebhookConfiguration, ServiceEntry, type VirtualMesh } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import type { SimulatedCluster } from "@isthmus/simulator";
import { afterEach, beforeEach, expect, it } from "vitest";
import { bookinfoMesh, demoFleet, type Fleet, ours, register, statusOf } from "./fleet.ts";
import { eventually, quiet } from "./virtualTime.ts";

let fleet: Fleet;
beforeEach(async () => {
  fleet = demoFleet();
  await register(fleet);
  await first().delete({
    apiVersion: "v1",
    kind: "Service",
    name: "istio-ingressgateway",
    namespace: "istio-system",
    clusterName: "cluster-1",
  });
  for (const object of gatewayIn("edge", "203.0.113.9")) await first().create(object);
  await fleet.management.create(bookinfoMesh);
  fleet.startServer();
  fleet.startAgent("cluster-1");
  fleet.startAgent("cluster-2");
  await eventually(async () => expect(await gateways()).toEqual([GATEWAY]));
});
afterEach(() => fleet.stop());

const GATEWAY = "gateway-edge-cluster-1";
const first = () => fleet.clusters["cluster-1"] as SimulatedCluster;
const meshOf = (cluster: string) => fleet.management.get(Mesh, { name: `istiod-istio-system-${cluster}`, namespace: "gloo-mesh" });

/** The Destinations that `status.appliedEastWestIngressGateways` of the Mesh of cluster-1 names. */
async function gateways() {
  const { status } = (await meshOf("cluster-1")) ?? {};
  return (status?.appliedEastWestIngressGateways ?? []).map(({ destinationRef }) => destinationRef?.name);
}

/** What takes the traffic of other clusters, as anybody can make it who may write a namespace. */
function gatewayIn(namespace: string, address: string): readonly AnyResource[] {
  const labels = { istio: "ingressgateway", team: namespace };
  const containers = [{ name: "istio-proxy", image: "docker.io/istio/proxyv2:1.27.0" }];
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "gateway", namespace },
      spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
    },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "gateway", namespace },
      spec: { type: "LoadBalancer", selector: labels, ports: [{ name: "tls", port: 15443, targetPort: 15443 }], externalIPs: [address] },
    },
  ];
}

const injector: AnyResource = {
  apiVersion: MutatingWebhookConfiguration.apiVersion,
  kind: MutatingWebhookConfiguration.kind,
  metadata: { name: "istio-sidecar-injector" },
  webhooks: [{ name: "namespace.sidecar-injector.istio.io", clientConfig: { service: { namespace: "istio-system", name: "istiod" } } }],
};

it("a gateway in use stays when an agent first reports webhooks, also after a restart, and no later one takes its place", async () => {
  const before = await ours(fleet.clusters["cluster-2"] as SimulatedCluster, ServiceEntry);
  await first().create(injector);
  await eventually(async () => expect((await meshOf("cluster-1"))?.spec?.istio?.systemNamespaces).toEqual(["istio-system"]));
  for (const object of gatewayIn("aaa", "203.0.113.66")) await first().create(object);
  await quiet();
  expect(await gateways()).toEqual([GATEWAY]);
  const said = "not trusted: namespace edge: it stays the east-west gateway because it has been in use";
  await eventually(async () => expect(JSON.stringify(await statusOf(fleet, bookinfoMesh))).toContain(said));
  await fleet.stopServer();
  fleet.startServer();
  await eventually(async () => expect(fleet.server().store.clusters.get("cluster-1")?.phase).toBe("synced"));
  await quiet();
  expect(await gateways()).toEqual([GATEWAY]);
  expect(await ours(fleet.clusters["cluster-2"] as SimulatedCluster, ServiceEntry)).toEqual(expect.arrayContaining(before));
  // Named by its namespace, it is trusted.
  const destinationSelectors = [{ kubeServiceMatcher: { namespaces: ["edge"] } }];
  const named = { ...bookinfoMesh.spec, federation: { permissive: {}, eastWestIngressGatewaySelectors: [{ destinationSelectors }] } };
  await fleet.management.apply({ ...bookinfoMesh, spec: named } as VirtualMesh, { fieldManager: "kubectl", force: true });
  await eventually(async () => expect(JSON.stringify(await statusOf(fleet, bookinfoMesh))).not.toContain("not trusted"));
  expect(await gateways()).toEqual([GATEWAY]);
});
