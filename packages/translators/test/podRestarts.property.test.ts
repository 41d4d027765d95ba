import { AuthorizationPolicy, Destination, DestinationRule, ServiceEntry, VirtualService, Workload } from "@isthmus/api";
import { type AnyResource, kindKeyOf, refOf, resourceKeyOf, snapshotOf } from "@isthmus/core";
import { drawsEachCase, runs, soundTranslation } from "@isthmus/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Translation } from "../src/index.ts";

const OPTIONS = { namespace: "gloo-mesh", stage: "all" } as const;
const CLUSTERS = ["east", "west"];
const SERVICES = ["cart", "stock", "gateway"];

type Labels = Readonly<Record<string, string>>;

/** What Istio's injector does with the pods of a namespace: the revision that it is of, as a name or as a tag. */
const NAMESPACE_LABELS: readonly { readonly labels: Labels; readonly revision?: string }[] = [
  { labels: { "istio-injection": "enabled" }, revision: "default" },
  { labels: { "istio-injection": "disabled" } },
  { labels: { "istio.io/rev": "a" }, revision: "a" },
  { labels: { "istio.io/rev": "b" }, revision: "b" },
  { labels: { "istio.io/rev": "stable" }, revision: "stable" },
  { labels: {} },
];

/** What templates say: `revision` where the namespace says nothing. */
const TEMPLATES: readonly {
  readonly labels?: Labels;
  readonly annotations?: Labels;
  readonly spec?: object;
  readonly isRefused?: boolean;
  readonly revision?: string;
}[] = [
  {},
  {},
  {},
  { labels: { "sidecar.istio.io/inject": "true" }, revision: "default" },
  { labels: { "istio.io/rev": "b" }, revision: "b" },
  { labels: { "sidecar.istio.io/inject": "false" }, isRefused: true },
  { annotations: { "sidecar.istio.io/inject": "false" }, isRefused: true },
  { spec: { hostNetwork: true }, isRefused: true },
];

const KINDS = ["Deployment", "StatefulSet", "DaemonSet"];

interface ClusterPlan {
  /** Whether istiod has two revisions, as during an upgrade. */
  readonly isCanary: boolean;
  /** By the VirtualMesh: both, or only the older one. */
  readonly areAllNamed: boolean;
  readonly tagsTo: string;
  readonly namespace: (typeof NAMESPACE_LABELS)[number];
  readonly controllers: readonly {
    readonly app: string;
    readonly version: string;
    readonly kind: string;
    readonly template: (typeof TEMPLATES)[number];
    readonly pods: number;
  }[];
  readonly gatewayType: string;
}

interface World {
  readonly rest: readonly AnyResource[];
  readonly pods: readonly AnyResource[];
}

function clusterPlans(): fc.Arbitrary<ClusterPlan> {
  return fc.record({
    isCanary: fc.boolean(),
    areAllNamed: fc.boolean(),
    tagsTo: fc.constantFrom("a", "b"),
    namespace: fc.constantFrom(...NAMESPACE_LABELS),
    controllers: fc.array(
      fc.record({
        app: fc.constantFrom("cart", "stock"),
        version: fc.constantFrom("v1", "v2"),
        kind: fc.constantFrom(...KINDS),
        template: fc.constantFrom(...TEMPLATES),
        pods: fc.integer({ min: 1, max: 2 }),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    gatewayType: fc.constantFrom("LoadBalancer", "NodePort"),
  });
}

/** A fleet whose pods are as the injector of their cluster made them of their templates, and what users ask of it. */
function worlds(): fc.Arbitrary<World> {
  return fc.record({ east: clusterPlans(), west: clusterPlans(), users: users() }).map(({ east, west, users: asked }) => {
    const parts = [clusterObjects("east", east), clusterObjects("west", west)];
    const planes = [east, west].flatMap(({ isCanary, areAllNamed }, i) => {
      const names = !isCanary ? ["istiod"] : areAllNamed ? ["istiod-a", "istiod-b"] : ["istiod-a"];
      return names.map((name) => `${name}-istio-system-${CLUSTERS[i]}`);
    });
    return { rest: [...parts.flatMap(({ rest }) => rest), ...asked(planes)], pods: parts.flatMap(({ pods }) => pods) };
  });
}

function clusterObjects(clusterName: string, { isCanary, tagsTo, namespace, controllers, gatewayType }: ClusterPlan): World {
  const object = (apiVersion: string, kind: string, name: string, rest: object, place: object = { namespace: "shop" }): AnyResource => {
    const { metadata = {}, ...body } = rest as { readonly metadata?: object };
    return { apiVersion, kind, metadata: { name, ...place, clusterName, ...metadata }, ...body };
  };
  const home = { namespace: "istio-system" };
  const revisions = isCanary ? ["a", "b"] : ["default"];
  const plane = (revision: string) => {
    const labels = { app: "istiod", ...(isCanary ? { "istio.io/rev": revision } : {}) };
    const template = { metadata: { labels }, spec: { containers: [{ name: "discovery", image: "istio/pilot:1.27.0" }] } };
    const name = isCanary ? `istiod-${revision}` : "istiod";
    return object("apps/v1", "Deployment", name, { spec: { selector: { matchLabels: labels }, template } }, home);
  };
  const tag = (name: string) =>
    object(
      "v1",
      "Service",
      `istiod-revision-tag-${name}`,
      { metadata: { labels: { "istio.io/tag": name, "istio.io/rev": tagsTo } } },
      home,
    );
  // With one revision, every other name is a tag of it that nothing tells of, as `istioctl tag set` makes them.
  const resolved = (name: string | undefined) => {
    if (name === undefined) return undefined;
    if (!isCanary) return "default";
    return name === "default" || name === "stable" ? tagsTo : name;
  };

  const rest: AnyResource[] = [
    ...revisions.map(plane),
    ...(isCanary ? [tag("default"), tag("stable")] : []),
    object("v1", "ConfigMap", "istio", { data: { mesh: `trustDomain: ${clusterName}.example\n` } }, home),
    object("v1", "Namespace", "shop", { metadata: { labels: namespace.labels } }, {}),
    object("v1", "Namespace", "istio-system", {}, {}),
    object("v1", "Node", "n1", { status: { addresses: [{ type: "ExternalIP", address: "34.0.0.1" }] } }, {}),
    ...["cart", "stock"].map((app) => service(object, app)),
    object(
      "v1",
      "Service",
      "gateway",
      {
        spec: {
          type: gatewayType,
          selector: { istio: "ingressgateway" },
          ports: [{ name: "tls", port: 15443, targetPort: 15443, nodePort: 31000 }],
        },
        status: { loadBalancer: { ingress: [{ ip: "198.51.100.1" }] } },
      },
      home,
    ),
  ];
  const pods: AnyResource[] = [];
  const add = (
    name: string,
    kind: string,
    { labels, template, count, revision, place }: ReturnType<typeof plannedPods> & { readonly place: { readonly namespace: string } },
  ) => {
    const owner = (ofKind: string, ofName: string) => ({
      ownerReferences: [{ apiVersion: "apps/v1", kind: ofKind, name: ofName, controller: true }],
    });
    rest.push(object("apps/v1", kind, name, { spec: { selector: { matchLabels: labels }, template } }, place));
    if (kind === "Deployment") rest.push(object("apps/v1", "ReplicaSet", `${name}-1`, { metadata: owner(kind, name) }, place));
    const direct = kind === "Deployment" ? owner("ReplicaSet", `${name}-1`) : owner(kind, name);
    for (let i = 0; i < count; i++) {
      const sidecar = revision === undefined ? [] : [{ name: "istio-proxy", image: "istio/proxyv2:1.27.0" }];
      const annotations = revision === undefined ? {} : { "istio.io/rev": revision };
      const spec = { ...template.spec, nodeName: "n1", containers: [{ name: "app", image: "app:1" }, ...sidecar] };
      pods.push(
        object("v1", "Pod", `${name}-1-${i}`, { metadata: { labels: template.metadata.labels, annotations, ...direct }, spec }, place),
      );
    }
  };
  add("gateway", "Deployment", {
    ...plannedPods({ labels: { istio: "ingressgateway" }, template: { labels: { "sidecar.istio.io/inject": "true" } }, count: 1 }),
    revision: resolved("default"),
    place: home,
  });
  const seen = new Set<string>();
  for (const { app, version, kind, template, pods: count } of controllers) {
    const name = `${app}-${version}-${kind.toLowerCase()}`;
    if (seen.has(name)) continue;
    seen.add(name);
    const isSilent = Object.keys(namespace.labels).length === 0;
    const revision = template.isRefused === true ? undefined : resolved(isSilent ? template.revision : namespace.revision);
    add(name, kind, { ...plannedPods({ labels: { app, version }, template, count }), revision, place: { namespace: "shop" } });
  }
  return { rest, pods };
}

function service(object: (apiVersion: string, kind: string, name: string, rest: object) => AnyResource, app: string): AnyResource {
  return object("v1", "Service", app, { spec: { selector: { app }, ports: [{ name: "http", port: 8080, targetPort: 8080 }] } });
}

function plannedPods(plan: { readonly labels: Labels; readonly template: (typeof TEMPLATES)[number]; readonly count: number }) {
  const { labels, template, count } = plan;
  return {
    labels,
    count,
    revision: undefined as string | undefined,
    template: {
      metadata: { labels: { ...labels, ...template.labels }, ...(template.annotations && { annotations: template.annotations }) },
      spec: { containers: [{ name: "app", image: "app:1" }], ...template.spec },
    },
  };
}

/** What users ask for, of the meshes that the VirtualMesh is to name. */
function users(): fc.Arbitrary<(meshes: readonly string[]) => readonly AnyResource[]> {
  const ref = (name: string, clusterName: string) => ({ name, namespace: "shop", clusterName });
  const policy = (kind: string, name: string, spec: object): AnyResource => ({
    apiVersion: "networking.mesh.gloo.solo.io/v1",
    kind,
    metadata: { name, namespace: "gloo-mesh" },
    spec,
  });
  const virtualDestination: AnyResource = {
    apiVersion: "networking.enterprise.mesh.gloo.solo.io/v1beta1",
    kind: "VirtualDestination",
    metadata: { name: "cart", namespace: "gloo-mesh" },
    spec: {
      hostname: "cart.example.com",
      port: { number: 8080, protocol: "http" },
      virtualMesh: { name: "all", namespace: "gloo-mesh" },
      static: { destinations: CLUSTERS.map((cluster) => ({ kubeService: ref("cart", cluster) })) },
    },
  };
  const destinationSelector = [{ kubeServiceRefs: { services: [ref("cart", "east")] } }];
  const shift = { destinations: [{ kubeService: { ...ref("stock", "west"), subset: { version: "v2" } }, weight: 50 }] };
  return fc
    .record({
      federation: fc.constantFrom({ permissive: {} }, { permissive: {}, failover: {} }, { selectors: [{}], flatNetwork: true }),
      globalAccessPolicy: fc.constantFrom("ENABLED", "DISABLED"),
      tlsMode: fc.constantFrom(undefined, "DISABLE", "ISTIO_MUTUAL"),
      hasVirtualDestination: fc.boolean(),
    })
    .map(({ federation, globalAccessPolicy, tlsMode, hasVirtualDestination }) => (meshes) => [
      policy("VirtualMesh", "all", {
        meshes: meshes.map((name) => ({ name, namespace: "gloo-mesh" })),
        federation,
        globalAccessPolicy,
        mtlsConfig: { shared: { rootCertificateAuthority: { generated: {} } } },
      }),
      policy("TrafficPolicy", "shift", { destinationSelector, policy: { trafficShift: shift, requestTimeout: "2s" } }),
      policy("AccessPolicy", "callers", { destinationSelector, sourceSelector: [{ kubeIdentityMatcher: { clusters: ["west"] } }] }),
      ...(hasVirtualDestination ? [virtualDestination] : []),
      ...(tlsMode === undefined
        ? []
        : [
            {
              apiVersion: "settings.mesh.gloo.solo.io/v1",
              kind: "Settings",
              metadata: { name: "settings", namespace: "gloo-mesh" },
              spec: { mtls: { istio: { tlsMode } } },
            } as AnyResource,
          ]),
    ]);
}

/** The endpoints of a Service as Kubernetes keeps them: of its pods that are there. */
function slicesOf(pods: readonly AnyResource[]): readonly AnyResource[] {
  return CLUSTERS.flatMap((clusterName) =>
    SERVICES.map((app): AnyResource => {
      const namespace = app === "gateway" ? "istio-system" : "shop";
      const port = app === "gateway" ? { name: "tls", port: 15443 } : { name: "http", port: 8080 };
      const found = pods.filter(({ metadata }) => {
        const { labels = {} } = metadata;
        return metadata.clusterName === clusterName && (app === "gateway" ? labels["istio"] !== undefined : labels["app"] === app);
      });
      return {
        apiVersion: "discovery.k8s.io/v1",
        kind: "EndpointSlice",
        metadata: { name: `${app}-1`, namespace, clusterName, labels: { "kubernetes.io/service-name": app } },
        addressType: "IPv4",
        ports: [port],
        endpoints: found.map(({ metadata }, i) => ({
          addresses: [`10.0.0.${i + 1}`],
          nodeName: "n1",
          targetRef: { kind: "Pod", name: metadata.name, namespace },
        })),
      };
    }),
  );
}

const WRITTEN = new Set([ServiceEntry, DestinationRule, VirtualService, AuthorizationPolicy].map(kindKeyOf));
const FOUND = new Set([Workload, Destination].map(kindKeyOf));

/** All that must outlive pods. */
function existing({ discovery, networking }: Translation): readonly string[] {
  const found = [...discovery].filter(({ resource }) => FOUND.has(kindKeyOf(resource)));
  const written = [...networking].filter(({ resource }) => WRITTEN.has(kindKeyOf(resource)));
  return [...found, ...written].map(({ resource }) => resourceKeyOf(refOf(resource))).sort();
}

test("pods that come and go take nothing away and add nothing", () => {
  let [federated, virtual, withoutPods] = [0, 0, 0];
  fc.assert(
    fc.property(
      worlds(),
      fc.array(fc.infiniteStream(fc.boolean()), { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      (world, choices, isFollowed) => {
        const { rest, pods } = world;
        let now = snapshotOf([...rest, ...pods, ...slicesOf(pods)]);
        let translation = soundTranslation(now, OPTIONS);
        const before = existing(translation);
        virtual += before.filter((key) => key.includes("ServiceEntry|cart.gloo-mesh")).length;
        federated += before.filter((key) => key.includes("ServiceEntry")).length;
        for (const choice of [...choices.map((stream) => pods.map(() => stream.next().value === true)), pods.map(() => false)]) {
          const left = pods.filter((_, i) => choice[i]);
          if (left.length === 0) withoutPods++;
          const gone = pods.filter((pod) => !left.includes(pod)).map(refOf);
          // Kubernetes takes endpoints away at another moment than pods.
          now = now.apply({ put: [...left, ...slicesOf(isFollowed ? left : pods)], remove: gone });
          translation = soundTranslation(now, OPTIONS, translation);
          expect(existing(translation)).toEqual(before);
          expect(existing(soundTranslation(now, OPTIONS))).toEqual(before);
        }
      },
    ),
    { numRuns: runs(150) },
  );
  expect(federated).toBeGreaterThan(0);
  if (drawsEachCase()) expect(virtual).toBeGreaterThan(0);
  expect(withoutPods).toBeGreaterThan(0);
});
