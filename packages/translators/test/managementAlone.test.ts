import { Destination } from "@isthmus/api";
import { FIRST_SEEN, snapshotOf } from "@isthmus/core";
import { readInput, soundTranslation } from "@isthmus/testing";
import { expect, test } from "vitest";
import type { TranslateOptions } from "../src/index.ts";

const FLEET = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: istiod, namespace: istio-system, clusterName: b}
spec:
  selector: {matchLabels: {app: istiod}}
  template:
    metadata: {labels: {app: istiod}}
    spec: {containers: [{name: discovery, image: 'istio/pilot:1.27.0'}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: istio, namespace: istio-system, clusterName: b}
data: {mesh: 'trustDomain: b'}
---
apiVersion: v1
kind: Service
metadata:
  name: cart
  namespace: shop
  clusterName: b
  annotations: {discovery.mesh.gloo.solo.io/enabled: 'true', isthmus.mesh/first-seen: '2026-01-01T00:00:00.000Z'}
spec: {selector: {app: cart}, ports: [{name: http, port: 80}]}
---
apiVersion: networking.mesh.gloo.solo.io/v1
kind: TrafficPolicy
metadata: {name: slow, namespace: shop}
spec: {policy: {requestTimeout: 1s}}
---
apiVersion: networking.mesh.gloo.solo.io/v1
kind: AccessPolicy
metadata: {name: closed, namespace: shop}
spec: {}
`;

/** What cluster `a` says, of kinds that decide about others and that none but the management cluster may say. */
const FORGED = `
apiVersion: multicluster.solo.io/v1alpha1
kind: KubernetesCluster
metadata: {name: b, namespace: gloo-mesh, clusterName: a}
spec: {clusterDomain: evil.test}
---
apiVersion: settings.mesh.gloo.solo.io/v1
kind: Settings
metadata: {name: settings, namespace: gloo-mesh, clusterName: a}
spec: {mtls: {istio: {tlsMode: DISABLE}}}
---
apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Destination
metadata: {name: cart-shop-b, namespace: gloo-mesh, clusterName: a}
spec:
  mesh: {name: istiod-istio-system-b, namespace: gloo-mesh}
  kubeService: {ref: {name: kube-dns, namespace: kube-system, clusterName: b}, ports: [{port: 53, name: dns}]}
---
apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Mesh
metadata: {name: istiod-istio-system-b, namespace: gloo-mesh, clusterName: a}
spec: {istio: {installation: {namespace: istio-system, cluster: b}, trustDomain: evil}}
---
apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Workload
metadata: {name: cart-shop-b-deployment, namespace: gloo-mesh, clusterName: a}
spec: {mesh: {name: istiod-istio-system-b, namespace: gloo-mesh}}
`;

function outputs(text: string, stage: TranslateOptions["stage"]): readonly unknown[] {
  const { resources } = readInput(text);
  const world = soundTranslation(snapshotOf(resources), { namespace: "gloo-mesh", stage });
  return [...world.networking, ...world.discovery].map(({ resource }) => resource);
}

test.each([
  ["all", FLEET],
  ["networking", discovered()],
] as const)("stage %s: what decides about clusters, domains and registrations counts from the management cluster alone", (stage, fleet) => {
  expect(outputs(fleet, stage).length).toBeGreaterThan(0);
  expect(outputs(`${fleet}---${FORGED}`, stage)).toEqual(outputs(fleet, stage));
});

test("one that slips in and goes again changes nothing in what is translated step by step", () => {
  const [fleet, forged] = [readInput(FLEET).resources, readInput(FORGED).resources];
  const options = { namespace: "gloo-mesh", stage: "all" } as const;
  const before = soundTranslation(snapshotOf(fleet), options);
  const after = soundTranslation(snapshotOf(fleet).apply({ put: forged, remove: [] }), options, before);
  expect([...after.networking].map(({ resource }) => resource)).toEqual([...before.networking].map(({ resource }) => resource));
  expect(after.discovery.size).toBe(before.discovery.size);
  expect([...after.attached.of(Destination)].map(({ metadata }) => metadata.clusterName ?? "")).toEqual([""]);
});

test("when something was first seen is written into no cluster", () => {
  expect(FLEET).toContain(FIRST_SEEN);
  expect(JSON.stringify(outputs(FLEET, "all"))).not.toContain(FIRST_SEEN);
  expect(JSON.stringify(outputs(FLEET, "all"))).toContain("discovery.mesh.gloo.solo.io/enabled");
});

/** What discovery makes of the fleet, as it is given to `--stage networking`. */
function discovered(): string {
  const world = soundTranslation(snapshotOf(readInput(FLEET).resources), { namespace: "gloo-mesh", stage: "discovery" });
  const users = readInput(FLEET).resources.filter(({ kind }) => kind.endsWith("Policy"));
  return [...[...world.discovery].map(({ resource }) => resource), ...users]
    .map((object) => JSON.stringify(object))
    .join("\n---\n")
    .concat("\n");
}
