import { Destination, VirtualMesh, Workload } from "@isthmus/api";
import { type AnyResource, formatRef, refOf, snapshotOf } from "@isthmus/core";
import { readInput, soundTranslation } from "@isthmus/testing";
import { describe, expect, it } from "vitest";
import { statusesOf, type Translation } from "../src/index.ts";

// What the property found, by name: each was red before it was put right.

function world(text: string, stage: "all" | "networking" = "all"): Translation {
  return soundTranslation(snapshotOf(readInput(text).resources), { namespace: "gloo-mesh", stage });
}

function stamp(second: number): string {
  return `annotations: {isthmus.mesh/first-seen: '2026-01-01T00:00:0${second}.000Z'}`;
}

function mesh(cluster: string): string {
  return `
apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Mesh
metadata: {name: istiod-${cluster}, namespace: gloo-mesh}
spec: {istio: {installation: {namespace: istio-system, cluster: ${cluster}, podLabels: {app: istiod}}}, agentInfo: {agentNamespace: gloo-mesh}}
`;
}

function virtualMesh(name: string, ...clusters: readonly string[]): string {
  const meshes = clusters.map((cluster) => `{name: istiod-${cluster}, namespace: gloo-mesh}`).join(", ");
  return `
apiVersion: networking.mesh.gloo.solo.io/v1
kind: VirtualMesh
metadata: {name: ${name}, namespace: gloo-mesh}
spec: {globalAccessPolicy: ENABLED, meshes: [${meshes}], federation: {permissive: {}}}
`;
}

function destination(
  service: string,
  namespace: string,
  cluster: string,
  second: number,
  name = `${service}-${namespace}-${cluster}`,
): string {
  return `
apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Destination
metadata: {name: ${name}, namespace: gloo-mesh, ${stamp(second)}}
spec:
  kubeService:
    ref: {name: ${service}, namespace: ${namespace}, clusterName: ${cluster}}
    workloadSelectorLabels: {app: ${service}}
    labels: {app: ${service}}
    serviceType: LOAD_BALANCER
    externalAddresses: [{ip: 198.51.100.1}]
    ports: [{port: 15443, name: tls, protocol: TCP, targetPortNumber: 15443}]
    endpointSubsets: [{endpoints: [{ipAddress: 10.0.0.1, labels: {app: ${service}}}], ports: [{port: 15443, name: tls, protocol: TCP}]}]
  mesh: {name: istiod-${cluster}, namespace: gloo-mesh}
`;
}

const slow = `
apiVersion: networking.mesh.gloo.solo.io/v1
kind: TrafficPolicy
metadata: {name: slow, namespace: gloo-mesh}
spec: {policy: {requestTimeout: 1s}}
`;

function outputs({ networking }: Translation, clusterName: string): readonly string[] {
  return [...networking.inCluster(clusterName)].map(({ resource }) => formatRef(refOf(resource))).sort();
}

function hostOf({ networking }: Translation, name: string): unknown {
  const found = [...networking].find(({ resource }) => formatRef(refOf(resource)) === name);
  return (found?.resource as AnyResource | undefined)?.["spec"];
}

describe("what one cluster says", () => {
  it("puts no workload of another into an App Mesh", () => {
    const appMesh = (cluster: string) =>
      `apiVersion: appmesh.k8s.aws/v1beta2\nkind: Mesh\nmetadata: {name: m, clusterName: ${cluster}}\nstatus: {meshARN: 'arn:aws:appmesh:r:1:mesh/m'}\n`;
    const pod = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: s, namespace: shop, clusterName: b}
spec: {selector: {matchLabels: {app: s}}, template: {metadata: {labels: {app: s}}, spec: {containers: [{name: app, image: 'app:1'}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: s-0, namespace: shop, clusterName: b, labels: {app: s}, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: s, controller: true}]}
spec:
  containers:
  - {name: app, image: 'app:1'}
  - {name: envoy, image: 'aws-appmesh-envoy:1', env: [{name: APPMESH_VIRTUAL_NODE_NAME, value: mesh/m/virtualNode/s}]}
`;
    expect([...world([appMesh("a"), pod].join("---\n")).inputs.of(Workload)]).toEqual([]);
    expect([...world([appMesh("a"), appMesh("b"), pod].join("---\n")).inputs.of(Workload)]).toHaveLength(1);
  });

  it("takes no VirtualMesh apart: without its mesh, the others stay as they are", () => {
    const rest = [mesh("b"), mesh("d"), virtualMesh("all", "a", "b", "d")];
    const [there, gone] = [world([mesh("a"), ...rest].join("---"), "networking"), world(rest.join("---"), "networking")];
    expect(outputs(there, "b")).toContain("AuthorizationPolicy istio-system/global-access-control in b");
    for (const cluster of ["b", "d"]) expect(outputs(gone, cluster)).toEqual(outputs(there, cluster));
    const status = statusesOf(gone).find(({ ref }) => ref.kind === VirtualMesh.kind)?.status;
    expect(status).toMatchObject({
      state: "INVALID",
      meshCount: 2,
      errors: [expect.stringContaining("Mesh gloo-mesh/istiod-a not found")],
    });
  });

  it("keeps nothing from being federated to others, whose proxies resolve the names", () => {
    const proxying = (cluster: string) => mesh(cluster).replace("{istio: {", "{istio: {smartDnsProxyingEnabled: true, ");
    const vm = virtualMesh("vm", "a", "b", "d").replace("permissive: {}", "permissive: {}, hostnameSuffix: corp");
    const gateway = destination("gw", "istio-system", "b", 1).replace("{app: gw}\n    labels", "{istio: ingressgateway}\n    labels");
    const rest = [proxying("b"), proxying("d"), vm, gateway, destination("s", "n", "b", 1)];
    const [able, unable] = [proxying("a"), mesh("a")].map((first) => world([first, ...rest].join("---"), "networking"));
    if (able === undefined || unable === undefined) throw new Error("two worlds");
    expect(outputs(able, "d")).toContain("ServiceEntry istio-system/s.n.svc.b.corp in d");
    expect(outputs(unable, "d")).toEqual(outputs(able, "d"));
    expect(outputs(unable, "a")).not.toContain("ServiceEntry istio-system/s.n.svc.b.corp in a");
    const found = unable.reports.filter(({ code }) => code === "DnsProxyingMissing");
    expect(found.map(({ state, target }) => [state, target?.name])).toContainEqual(["WARNING", "s-n-b"]);
  });

  it("puts no VirtualMesh in force by taking away a mesh that two of them name", () => {
    const rest = [mesh("b"), virtualMesh("first", "a"), virtualMesh("second", "a", "b")];
    const [there, gone] = [world([mesh("a"), ...rest].join("---"), "networking"), world(rest.join("---"), "networking")];
    expect(outputs(there, "b")).toEqual([]);
    expect(outputs(gone, "b")).toEqual([]);
  });

  it("takes no name from what another cluster's services are written under", () => {
    const settings =
      "apiVersion: settings.mesh.gloo.solo.io/v1\nkind: Settings\nmetadata: {name: settings, namespace: gloo-mesh}\nspec: {}\n";
    // In b, the federated a.x-c reads as the service a-x-c of the control plane's own namespace.
    // Requests have routes, unlike what is TLS.
    const ofRequests = (text: string) => text.replaceAll("name: tls", "name: http");
    const local = ofRequests(destination("a-x-c", "istio-system", "b", 2));
    const federated = [mesh("c"), ofRequests(destination("a", "x", "c", 1)), destination("istio-ingressgateway", "istio-system", "c", 1)];
    const gateway =
      "apiVersion: networking.mesh.gloo.solo.io/v1\nkind: VirtualMesh\nmetadata: {name: vm, namespace: gloo-mesh}\nspec:\n  meshes: [{name: istiod-b, namespace: gloo-mesh}, {name: istiod-c, namespace: gloo-mesh}]\n  federation: {permissive: {}, eastWestIngressGatewaySelectors: [{destinationSelectors: [{kubeServiceMatcher: {namespaces: [istio-system]}}]}]}\n";
    const before = world([settings, mesh("b"), local, slow, gateway].join("---\n"), "networking");
    const after = world([settings, mesh("b"), local, slow, gateway, ...federated].join("---\n"), "networking");
    const name = "VirtualService istio-system/a-x-c in b";
    expect(hostOf(before, name)).toBeDefined();
    expect(hostOf(after, name)).toEqual(hostOf(before, name));
    const { reports } = after;
    expect(reports.filter(({ code }) => code === "OutputCollision").map(({ target }) => target?.name)).toContain("a-x-c");
    expect(reports.filter(({ code, target }) => code === "OutputCollision" && target?.name === "a-x-c-b")).toEqual([]);
    expect(after.attached.of(Destination).size).toBe(3);
  });

  it("of what two other clusters federate under one name, leaves it to whom the plane received first", () => {
    const meshes = ["b", "c", "x-c"].map(mesh);
    const vm = virtualMesh("vm", "b", "c", "x-c").replace("permissive: {}", "permissive: {}, eastWestIngressGatewaySelectors: [{}]");
    const gateways = ["c", "x-c"].map((cluster) =>
      destination("gw", "istio-system", cluster, 1).replace("{app: gw}\n    labels", "{istio: ingressgateway}\n    labels"),
    );
    const holder = destination("a", "n", "x-c", 1);
    const other = (second: number) => destination("a", "n-x", "c", second, "of-another-name");
    const name = "DestinationRule istio-system/a-n-x-c in b";
    const alone = world([...meshes, vm, ...gateways, holder].join("---"), "networking");
    expect(hostOf(alone, name)).toMatchObject({ host: "a.n.svc.x-c.global" });
    expect(hostOf(world([...meshes, vm, ...gateways, holder, other(2)].join("---"), "networking"), name)).toEqual(hostOf(alone, name));
    expect(hostOf(world([...meshes, vm, ...gateways, holder, other(0)].join("---"), "networking"), name)).toMatchObject({
      host: "a.n-x.svc.c.global",
    });
  });
});
