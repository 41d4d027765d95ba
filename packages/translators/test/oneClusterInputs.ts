import { type AnyResource, FIRST_SEEN, inCluster, refOf, resourceKeyOf } from "@isthmus/core";
import { clusterObjects } from "@isthmus/testing";
import fc from "fast-check";

/** The cluster whose agent says whatever it likes. Its name ends others' names: `x-b` in `n` reads as `x` in `n` of `b-c`. */
export const HOSTILE = "c";
/** The clusters about which nothing may change. */
const OTHERS = ["b-c", "west"] as const;

const NETWORKING = "networking.mesh.gloo.solo.io/v1";
const ISTIO = "networking.istio.io/v1";

/** One fleet twice: as it is while the hostile cluster is honest, and with what its agent says then. */
export interface TwoWorlds {
  readonly honest: readonly AnyResource[];
  readonly hostile: readonly AnyResource[];
}

/** What the worlds vary in. */
export interface WorldOptions {
  /** `spec` of the Settings. */
  readonly settings: object;
  readonly disallowIntersectingConfig: boolean;
}

/** Every setting but those that let resources of workload clusters reach further on purpose. */
export function worldOptions(): fc.Arbitrary<WorldOptions> {
  const spec = fc.record(
    {
      mtls: fc.constantFrom({ istio: { tlsMode: "DISABLE" } }, { istio: { tlsMode: "ISTIO_MUTUAL" } }),
      workloadClusterResources: fc.constantFrom(
        { targets: "OWN_DESTINATIONS" },
        { virtualMeshes: "ALLOWED" },
        { clusters: { west: "ANY_DESTINATION" } },
        { targets: "ANY_DESTINATION", clusters: { c: "OWN_DESTINATIONS" }, virtualMeshes: "ALLOWED" },
      ),
      discovery: fc.constantFrom(
        { publish: "FEDERATED_OR_TARGETED" },
        { publish: "NONE" },
        { publish: "ALL", selectors: [{ matchLabels: { mesh: "on" } }] },
      ),
      policies: fc.constantFrom({ namespaces: "OWN" }, { namespaces: "ANY", headerOperators: "ALLOWED" }),
    },
    { requiredKeys: [] },
  );
  return fc.record({ settings: spec, disallowIntersectingConfig: fc.boolean() });
}

/**
 * The hostile cluster is there before the others or after them. Where it came first, it only adds to what it said, as a name that it holds
 * is its own to give up; where it came last, all that it says may be other things.
 */
export function twoWorlds(): fc.Arbitrary<TwoWorlds> {
  return fc
    .record({
      others: fc.tuple(...OTHERS.map(workingCluster)),
      trespassed: fc.tuple(...OTHERS.map(usersObjects)),
      management: management(),
      honest: fc.tuple(workingCluster(HOSTILE), usersObjects(HOSTILE)),
      lies: lies(),
      isFirst: fc.boolean(),
      kept: fc.integer({ min: 0, max: 100 }),
    })
    .map(({ others, trespassed, management: ofManagement, honest, lies: hostile, isFirst, kept }) => {
      const rest = [...[...others, ...trespassed].flat().map((one, i) => seen(one, 1000 + i)), ...ofManagement];
      const own = honest.flat().map((one, i) => seen(one, isFirst ? i : 5000 + i));
      const said = hostile.map((one, i) => seen(one, 9000 + i));
      const stays = isFirst ? own : own.filter((_, i) => (i * 37) % 100 < kept);
      return {
        honest: distinct([...rest, ...own]),
        hostile: distinct([...rest, ...(isFirst ? [...stays, ...said] : [...said, ...stays])]),
      };
    });
}

/** As the server's filter of reports leaves it: stamped, whatever it said. */
function seen(object: AnyResource, at: number): AnyResource {
  const { metadata } = object;
  const stamp = new Date(Date.UTC(2026, 0, 1) + at).toISOString();
  return { ...object, metadata: { ...metadata, annotations: { ...metadata.annotations, [FIRST_SEEN]: stamp } } };
}

/** A cluster with a mesh, a gateway and a few services in it, and whatever else the generators think of. */
function workingCluster(clusterName: string): fc.Arbitrary<readonly AnyResource[]> {
  return clusterObjects(clusterName).map((objects) => distinct([...meshIn(clusterName), ...gatewayIn(clusterName), ...objects]));
}

/** A mesh with its configuration: of its cluster, with a trust domain of its own. */
export function meshIn(
  clusterName: string,
  namespace = "istio-system",
  mesh = `trustDomain: ${clusterName}\ndefaultConfig: { proxyMetadata: { ISTIO_META_DNS_CAPTURE: "true" } }\n`,
): readonly AnyResource[] {
  return [
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "istiod", namespace, clusterName },
      spec: {
        selector: { matchLabels: { app: "istiod" } },
        template: { metadata: { labels: { app: "istiod" } }, spec: { containers: [{ name: "discovery", image: "istio/pilot:1.27.0" }] } },
      },
    },
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "istio", namespace, clusterName }, data: { mesh } },
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "istio-system", clusterName, labels: { mesh: "on" } } },
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "c", clusterName, labels: { mesh: "on" } } },
  ];
}

function gatewayIn(clusterName: string): readonly AnyResource[] {
  const labels = { istio: "ingressgateway" };
  return [
    ...runningService({ name: "istio-ingressgateway", namespace: "istio-system", clusterName }, labels),
    // One that anybody's policies may be about.
    ...runningService({ name: "a", namespace: "c", clusterName }, { app: "a" }),
  ];
}

interface ServicePlace {
  readonly name: string;
  readonly namespace: string;
  readonly clusterName: string;
}

/** A Service with a pod in the mesh behind it. */
function runningService({ name, ...place }: ServicePlace, labels: Readonly<Record<string, string>>): readonly AnyResource[] {
  const template = { metadata: { labels }, spec: { serviceAccountName: name, containers: [{ name: "app", image: "app:1" }] } };
  const sidecar = { name: "istio-proxy", image: "istio/proxyv2:1" };
  const ports = [{ name: "tls", port: 15443, targetPort: 15443 }];
  return [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, ...place, labels },
      spec: { type: "LoadBalancer", selector: labels, ports },
      status: { loadBalancer: { ingress: [{ ip: "198.51.100.7" }] } },
    },
    { apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name, ...place }, spec: { selector: { matchLabels: labels }, template } },
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: `${name}-0`,
        ...place,
        labels,
        ownerReferences: [{ apiVersion: "apps/v1", kind: "StatefulSet", name, controller: true }],
      },
      spec: { containers: [{ name: "app", image: "app:1" }, sidecar] },
    },
    {
      apiVersion: "v1",
      kind: "Endpoints",
      metadata: { name, ...place },
      subsets: [
        {
          addresses: [{ ip: "10.0.0.9", targetRef: { kind: "Pod", name: `${name}-0`, namespace: place.namespace } }],
          ports: [{ name: "tls", port: 15443 }],
        },
      ],
    },
  ];
}

const TIMES = ["1970-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2099-01-01T00:00:00Z"];

/** What users write in a cluster. */
function usersObjects(clusterName: string): fc.Arbitrary<readonly AnyResource[]> {
  const everywhere = ["b-c", "west", "c"];
  const policies = fc.array(fc.oneof(trafficPolicy(everywhere), accessPolicy()), { maxLength: 3 });
  return fc
    .tuple(policies, fc.array(istioObject(), { maxLength: 1 }))
    .map((parts) => parts.flat().map((one) => inCluster(one, clusterName)));
}

/** What the management cluster says: of the others, of all; never of a service of the hostile cluster by name. */
function management(): fc.Arbitrary<readonly AnyResource[]> {
  const clusters = [...OTHERS, HOSTILE].map((name) => ({
    apiVersion: "multicluster.solo.io/v1alpha1",
    kind: "KubernetesCluster",
    metadata: { name, namespace: "gloo-mesh", creationTimestamp: "2026-01-01T00:00:00Z" },
    spec: { clusterDomain: "cluster.local" },
  }));
  return fc
    .tuple(fc.array(fc.oneof(trafficPolicy([...OTHERS]), accessPolicy()), { maxLength: 4 }), fc.array(virtualMesh(), { maxLength: 2 }))
    .map((parts) => [...clusters, ...parts.flat()]);
}

function trafficPolicy(clusters: readonly string[]): fc.Arbitrary<AnyResource> {
  const service = fc.record({
    name: fc.constantFrom("a", "a-b"),
    namespace: fc.constantFrom("c", "b-c"),
    clusterName: fc.constantFrom(...clusters),
  });
  const selectors = fc.oneof(
    fc.constantFrom(undefined, [{ kubeServiceMatcher: { labels: { app: "a" } } }], [{ kubeServiceMatcher: { clusters: ["b-c"] } }]),
    service.map((ref) => [{ kubeServiceRefs: { services: [ref] } }]),
  );
  const rules = fc.record(
    {
      requestTimeout: fc.constantFrom("1s", "2s"),
      retries: fc.constantFrom({ attempts: 1 }, { attempts: 2 }),
      mirror: service.map((kubeService) => ({ kubeService })),
      trafficShift: service.map((kubeService) => ({ destinations: [{ kubeService }] })),
      headerManipulation: fc.constantFrom({ appendRequestHeaders: { "x-a": "%START_TIME%" } }, { removeRequestHeaders: ["x-b"] }),
      outlierDetection: fc.constantFrom({ consecutiveErrors: 1 }, { consecutiveErrors: 2 }),
      mtls: fc.constantFrom({ istio: { tlsMode: "DISABLE" } }),
    },
    { requiredKeys: [] },
  );
  const spec = fc
    .record({ selectors, rules, mistake: fc.constantFrom({}, {}, { destinationSelectr: [] }) })
    .map(({ selectors: destinationSelector, rules: policy, mistake }) => ({
      ...(destinationSelector === undefined ? {} : { destinationSelector }),
      policy,
      ...mistake,
    }));
  return fc.record({ meta: userMetadata(), spec, last: fc.option(spec, { nil: undefined }) }).map(({ meta, spec: asked, last }) => ({
    apiVersion: NETWORKING,
    kind: "TrafficPolicy",
    metadata: meta,
    spec: asked,
    ...statusWith(last),
  }));
}

function accessPolicy(): fc.Arbitrary<AnyResource> {
  return fc
    .record({
      meta: userMetadata(),
      destinationSelector: fc.constantFrom(
        [{ kubeServiceMatcher: { labels: { app: "a" } } }],
        [{ kubeServiceMatcher: { clusters: ["b-c"] } }],
      ),
      // Not of the hostile cluster, or of all: a trust domain is its cluster's word, and the one who lets its callers in believes that.
      sourceSelector: fc.constantFrom(
        [{ kubeIdentityMatcher: { clusters: ["west"] } }],
        [{ kubeIdentityMatcher: { clusters: ["b-c"], namespaces: ["c"] } }],
      ),
    })
    .map(({ meta, ...spec }) => ({
      apiVersion: NETWORKING,
      kind: "AccessPolicy",
      metadata: meta,
      spec: { ...spec, allowedMethods: ["GET"] },
    }));
}

function virtualMesh(): fc.Arbitrary<AnyResource> {
  // One that joins the hostile cluster with a single other would be about those two alone.
  const meshes = fc.constantFrom(["b-c"], ["west"], ["b-c", "west"], ["b-c", "west", "c"], ["c"]);
  const federation = fc.constantFrom({ permissive: {} }, { selectors: [{}] }, { permissive: {}, hostnameSuffix: "corp" }, undefined);
  const spec = fc
    .record({
      meshes,
      federation,
      mtlsConfig: fc.constantFrom(undefined, { shared: {} }),
      access: fc.constantFrom("ENABLED", "DISABLED"),
      mistake: fc.constantFrom<object>({}, {}, { meshes: [{ name: "half" }] }),
    })
    .map(({ meshes: members, federation: wanted, mtlsConfig, access, mistake }) => ({
      meshes: members.map((cluster) => ({ name: `istiod-istio-system-${cluster}`, namespace: "gloo-mesh" })),
      globalAccessPolicy: access,
      ...(wanted === undefined ? {} : { federation: wanted }),
      ...(mtlsConfig === undefined ? {} : { mtlsConfig }),
      ...mistake,
    }));
  return fc.record({ meta: userMetadata(), spec, last: fc.option(spec, { nil: undefined }) }).map(({ meta, spec: asked, last }) => ({
    apiVersion: NETWORKING,
    kind: "VirtualMesh",
    metadata: meta,
    spec: asked,
    // Who puts all into the hands of the hostile cluster bears that the form before is in force while that one reports no mesh.
    ...((asked.meshes as readonly { readonly name: string }[]).every(({ name }) => name === `istiod-istio-system-${HOSTILE}`)
      ? {}
      : statusWith(last)),
  }));
}

/** That a spec was accepted before. */
function statusWith(last: object | undefined): object {
  return last === undefined ? {} : { status: { lastAccepted: { generation: 1, spec: last } } };
}

function userMetadata() {
  return fc.record({
    name: fc.constantFrom("p", "q", "r"),
    namespace: fc.constantFrom("c", "gloo-mesh"),
    creationTimestamp: fc.constantFrom(...TIMES),
    generation: fc.constantFrom(1, 2),
  });
}

/** Istio objects of users, for anybody's hosts, some with labels and annotations that are ours. */
function istioObject(): fc.Arbitrary<AnyResource> {
  const host = fc.constantFrom("a.c.svc.cluster.local", "a.c.svc.b-c.global", "*.global", "*", "a", "a.c.svc.c.global");
  return fc
    .record({
      kind: fc.constantFrom("VirtualService", "DestinationRule", "ServiceEntry", "Gateway"),
      host,
      namespace: fc.constantFrom("c", "istio-system", "gloo-mesh"),
      name: fc.constantFrom("mine", "a-c-b-c", "a"),
      forged: fc.constantFrom({}, forgedMarks("gloo-mesh"), forgedMarks("other")),
    })
    .map(({ kind, host: name, namespace, name: own, forged }) => ({
      apiVersion: ISTIO,
      kind,
      metadata: { name: own, namespace, ...forged },
      spec:
        kind === "DestinationRule"
          ? { host: name }
          : { hosts: [name], ...(kind === "VirtualService" ? { http: [{ route: [{ destination: { host: name } }] }] } : {}) },
    }));
}

function forgedMarks(owner: string) {
  const parent = { "networking.mesh.gloo.solo.io/v1, Kind=VirtualMesh": [{ name: "p", namespace: "gloo-mesh" }] };
  return {
    labels: { "owner.networking.mesh.gloo.solo.io": owner, "cluster.multicluster.solo.io": "b-c" },
    annotations: { "parents.networking.mesh.gloo.solo.io": JSON.stringify(parent), [FIRST_SEEN]: "1970-01-01T00:00:00.000Z" },
  };
}

/** All that the hostile agent may say: kinds that agents send and users contribute, in its own cluster, which the wire holds it to. */
function lies(): fc.Arbitrary<readonly AnyResource[]> {
  const impersonated = fc
    .constantFrom(...OTHERS)
    .chain((name) => clusterObjects(name))
    .map((objects) => [...objects, ...gatewayIn("b-c")]);
  const objects = fc.oneof(
    clusterObjects(HOSTILE),
    // The same as the others', under names that coincide with theirs by their dashes, or by the letters that virtual IPs are hashed from.
    impersonated.map((others) => others.map((one) => placed(one, (namespace) => `${namespace}-b`))),
    impersonated.map((others) => others.map((one) => placed(one, (namespace) => `${namespace}b-`))),
    impersonated.map((others) => others.map((one) => placed(one, (namespace) => namespace))),
    fc.constantFrom("trustDomain: b-c\nrootNamespace: c\n", "trustDomain: '*'\n", "[").map((mesh) => meshIn(HOSTILE, "istio-system", mesh)),
    fc.constantFrom("istio-system-b", "c").map((namespace) => meshIn(HOSTILE, namespace)),
    fc
      .constantFrom("a-c-b", "a-c-wes", "istio-ingressgateway")
      .map((name) => runningService({ name, namespace: "istio-system", clusterName: HOSTILE }, { app: "a", istio: "ingressgateway" })),
    usersObjects(HOSTILE),
    fc.array(virtualMesh(), { minLength: 1, maxLength: 2 }),
    fc.array(istioObject(), { minLength: 1, maxLength: 3 }),
  );
  const times = fc.constantFrom(...TIMES, "");
  return fc.tuple(fc.array(objects, { minLength: 1, maxLength: 4 }), times).map(([said, created]) =>
    said.flat().map((one) => {
      const { metadata } = one;
      return inCluster(created === "" ? one : { ...one, metadata: { ...metadata, creationTimestamp: created } }, HOSTILE);
    }),
  );
}

function placed(object: AnyResource, rename: (namespace: string) => string): AnyResource {
  const { namespace } = object.metadata;
  return namespace === undefined ? object : { ...object, metadata: { ...object.metadata, namespace: rename(namespace) } };
}

/** The first of several objects with one name. */
export function distinct(objects: readonly AnyResource[]): readonly AnyResource[] {
  const byKey = new Map<string, AnyResource>();
  for (const object of objects) {
    const key = resourceKeyOf(refOf(object));
    if (!byKey.has(key)) byKey.set(key, object);
  }
  return [...byKey.values()];
}
