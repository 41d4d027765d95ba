import { type AnyResource, refOf } from "@isthmus/core";
import fc from "fast-check";
import { type Step, stepsOver } from "./traces.ts";

/** A small fleet of 1 to 4 clusters, as agents report it: control planes, workloads of every kind, Services, endpoints, nodes. */
export function fleets(): fc.Arbitrary<readonly AnyResource[]> {
  return fc
    .uniqueArray(fc.constantFrom("east", "west", "north", "b-c"), { minLength: 1, maxLength: 4 })
    .chain((clusters) => fc.tuple(...clusters.map(clusterObjects)))
    .map((objects) => objects.flat());
}

/** A fleet, then changes of it: objects that come, change and go. */
export function fleetTraces(): fc.Arbitrary<{ readonly start: readonly AnyResource[]; readonly steps: readonly Step[] }> {
  return fc.tuple(fleets(), fleets()).chain(([start, other]) => stepsOver(start, other).map((steps) => ({ start, steps })));
}

// Few names, so that they meet: `a-b` in `c` and `a` in `b-c` are discovered under one name.
const NAMES = ["a", "a-b", "a-b-c"];
const NAMESPACES = ["c", "b-c", "b-c", "istio-system"];
const VERSIONS = ["v1", "v2"];

/** One cluster, as its agent reports it. */
export function clusterObjects(clusterName: string): fc.Arbitrary<readonly AnyResource[]> {
  return fc
    .record({
      plane: controlPlane(clusterName),
      nodes: fc.array(node(clusterName), { maxLength: 2 }),
      workloads: fc.array(workload(clusterName), { maxLength: 5 }),
      services: fc.array(service(clusterName), { maxLength: 6 }),
      appMeshes: fc.array(appMesh(clusterName), { maxLength: 2 }),
    })
    .map(({ plane, nodes, workloads, services, appMeshes }) =>
      distinct([...plane, ...nodes, ...workloads.flat(), ...services.flat(), ...appMeshes]),
    );
}

function controlPlane(clusterName: string): fc.Arbitrary<readonly AnyResource[]> {
  const mesh = often("trustDomain: td\n", "trustDomain: [\n", "discoverySelectors:\n- matchLabels: { mesh: 'on' }\n");
  return fc.record({ name: fc.constantFrom("istiod", "istiod-canary"), tag: often(":1.27.0", ""), mesh }).map(({ name, tag, mesh }) => [
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name, namespace: "istio-system", clusterName },
      spec: {
        selector: { matchLabels: { app: "istiod" } },
        template: { metadata: { labels: { app: "istiod" } }, spec: { containers: [{ name: "discovery", image: `istio/pilot${tag}` }] } },
      },
    },
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "istio", namespace: "istio-system", clusterName }, data: { mesh } },
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "c", clusterName, labels: { mesh: "on" } } },
  ]);
}

/** Of the same few meshes in every cluster; one of them is not registered yet, and one ARN is none. */
function appMesh(clusterName: string): fc.Arbitrary<AnyResource> {
  return fc.record({ name: fc.constantFrom("m", "n"), arn: often("arn:aws:appmesh:r:1:mesh/", "", "mesh/") }).map(({ name, arn }) => ({
    apiVersion: "appmesh.k8s.aws/v1beta2",
    kind: "Mesh",
    metadata: { name, clusterName },
    ...(arn === "" ? {} : { status: { meshARN: `${arn}${name}` } }),
  }));
}

const SIDECARS: Readonly<Record<string, object>> = {
  istio: { name: "istio-proxy", image: "istio/proxyv2:1" },
  appMesh: { name: "envoy", image: "aws-appmesh-envoy:1", env: [{ name: "APPMESH_VIRTUAL_NODE_NAME", value: "mesh/m/virtualNode/x" }] },
};

function node(clusterName: string): fc.Arbitrary<AnyResource> {
  return fc.record({ name: fc.constantFrom("n1", "n2"), zone: fc.constantFrom("", "z1") }).map(({ name, zone }) => ({
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      clusterName,
      labels: zone === "" ? {} : { "topology.kubernetes.io/zone": zone, "topology.kubernetes.io/region": "r" },
    },
    status: { addresses: [{ type: "ExternalIP", address: `34.0.0.${name.slice(1)}` }] },
  }));
}

/** Kinds of controllers of which agents see ReplicaSets, or pods, alone. */
const UNWATCHED: readonly string[] = ["Rollout", "CloneSet", "Job"];

/** A controller with 0 to 2 pods, some with a sidecar. */
function workload(clusterName: string): fc.Arbitrary<readonly AnyResource[]> {
  return fc
    .record({
      kind: fc.constantFrom("Deployment", "DaemonSet", "StatefulSet", ...UNWATCHED),
      name: fc.constantFrom(...NAMES),
      namespace: fc.constantFrom(...NAMESPACES),
      labels: fc.record({ app: fc.constantFrom(...NAMES), version: fc.constantFrom(...VERSIONS) }),
      created: creationTimes(),
      pods: fc.array(
        fc.record({
          sidecar: often("istio", "appMesh", "none"),
          nodeName: fc.constantFrom("n1", "n2", ""),
          // Of its template, or of one before.
          account: fc.constantFrom("", "before"),
        }),
        { maxLength: 2 },
      ),
    })
    .map(({ kind, name, namespace, labels, created, pods }) => {
      const metadata = { name, namespace, clusterName, creationTimestamp: created };
      const template = { metadata: { labels }, spec: { serviceAccountName: name, containers: [{ name: "app", image: "app:1" }] } };
      const controller = { apiVersion: "apps/v1", kind, metadata, spec: { selector: { matchLabels: labels }, template } };
      const replicaSet = {
        ...controller,
        kind: "ReplicaSet",
        metadata: { ...metadata, name: `${name}-1`, ownerReferences: [owner(kind, name)] },
      };
      const hasReplicaSets = kind === "Deployment" || kind === "Rollout";
      const direct = hasReplicaSets ? owner("ReplicaSet", `${name}-1`) : owner(kind, name);
      return [
        ...(UNWATCHED.includes(kind) ? [] : [controller]),
        ...(hasReplicaSets ? [replicaSet] : []),
        ...pods.map(({ sidecar, nodeName, account }, i) => ({
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name: `${name}-1-${kind.toLowerCase()}-${i}`, namespace, clusterName, labels, ownerReferences: [direct] },
          spec: {
            ...(nodeName === "" ? {} : { nodeName }),
            serviceAccountName: account || name,
            containers: [{ name: "app", image: "app:1" }, ...(SIDECARS[sidecar] === undefined ? [] : [SIDECARS[sidecar]])],
          },
        })),
      ];
    });
}

function owner(kind: string, name: string) {
  return { apiVersion: "apps/v1", kind, name, controller: true };
}

/** A Service, perhaps with slices, Endpoints, or both. */
function service(clusterName: string): fc.Arbitrary<readonly AnyResource[]> {
  const addresses = fc.uniqueArray(fc.integer({ min: 1, max: 6 }), { maxLength: 3 });
  return fc
    .record({
      name: fc.constantFrom(...NAMES),
      namespace: fc.constantFrom(...NAMESPACES),
      app: fc.constantFrom(...NAMES, ""),
      type: fc.constantFrom("ClusterIP", "NodePort", "LoadBalancer"),
      isAnnotated: often(false, true),
      created: creationTimes(),
      slices: fc.array(addresses, { maxLength: 2 }),
      endpoints: fc.option(addresses),
    })
    .map(({ name, namespace, app, type, isAnnotated, created, slices, endpoints }) => {
      const place = { namespace, clusterName };
      const ports = [{ name: "http", port: 8080, protocol: "TCP" }];
      const annotations = isAnnotated ? { "discovery.mesh.gloo.solo.io/enabled": "true" } : {};
      return [
        {
          apiVersion: "v1",
          kind: "Service",
          metadata: { name, ...place, labels: { app: name }, annotations, creationTimestamp: created },
          spec: { type, ...(app === "" ? {} : { selector: { app } }), ports: [{ name: "tls", port: 15443, targetPort: 15443 }] },
        },
        ...slices.map((found, i) => ({
          apiVersion: "discovery.k8s.io/v1",
          kind: "EndpointSlice",
          metadata: { name: `${name}-${i}`, ...place, labels: { "kubernetes.io/service-name": name } },
          addressType: "IPv4",
          ports,
          endpoints: found.map((n) => ({
            addresses: [`10.0.0.${n}`],
            nodeName: "n1",
            targetRef: { kind: "Pod", name: podBehind(app, n), namespace },
          })),
        })),
        ...(endpoints === null
          ? []
          : [
              {
                apiVersion: "v1",
                kind: "Endpoints",
                metadata: { name, ...place },
                subsets: [{ addresses: endpoints.map((n) => ({ ip: `10.0.0.${n}` })), ports }],
              },
            ]),
      ];
    });
}

/** Pods as controllers have them, and of others those that nobody knows. */
function podBehind(app: string, n: number): string {
  return n < 5 ? `${app}-1-${n < 3 ? "deployment" : "statefulset"}-${(n + 1) % 2}` : `${app}-1-${n}`;
}

/** The usual value, and now and then one of the others. */
function often<T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> {
  return fc.oneof({ weight: 6, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });
}

function creationTimes(): fc.Arbitrary<string> {
  return fc.constantFrom("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z");
}

/** The first of several objects with one name. */
function distinct(objects: readonly AnyResource[]): readonly AnyResource[] {
  const byRef = new Map<string, AnyResource>();
  for (const object of objects) {
    const key = JSON.stringify(refOf(object));
    if (!byRef.has(key)) byRef.set(key, object);
  }
  return [...byRef.values()];
}
