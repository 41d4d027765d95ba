import type { AnyResource } from "@isthmus/core";
import fc from "fast-check";

// Few names, so that policies meet.
const CLUSTERS = ["east", "west", "north"];
const SERVICES = ["cart", "stock"];
const NAMES = ["a", "b", "c", "d"];
const TIMES = [undefined, "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"];
const NETWORKING = "networking.mesh.gloo.solo.io/v1";
const DISCOVERY = "discovery.mesh.gloo.solo.io/v1";

/** What discovery finds in up to three clusters, and what users say about it: much of it right, some of it wrong. */
export function networkingFleets(): fc.Arbitrary<readonly AnyResource[]> {
  return fc
    .record({
      meshes: fc
        .subarray([...CLUSTERS], { minLength: 1 })
        .chain((clusters) =>
          fc.tuple(
            ...clusters.map((cluster) =>
              fc.constantFrom(
                mesh(cluster),
                meshTrusting(cluster, "cluster.local"),
                meshTrusting(cluster, cluster, ["east", "west"]),
                meshWithCilium(cluster, false),
                meshWithCilium(cluster, true),
              ),
            ),
          ),
        ),
      destinations: fc.array(destination(), { maxLength: 6 }),
      gateways: fc.subarray([...CLUSTERS.map(gateway), external("east")]),
      workloads: fc.array(workload(), { maxLength: 4 }),
      pods: fc.array(pod(), { maxLength: 4 }),
      trafficPolicies: fc.array(trafficPolicy(), { maxLength: 5 }),
      accessPolicies: fc.array(accessPolicy(), { maxLength: 3 }),
      virtualMeshes: fc.array(virtualMesh(), { maxLength: 2 }),
      userObjects: fc.array(fc.oneof(userObject(), userAuthorization(), userRoute()), { maxLength: 3 }),
      virtualDestinations: fc.array(virtualDestination(), { maxLength: 3 }),
      serviceDependencies: fc.array(serviceDependency(), { maxLength: 3 }),
      accessLogRecords: fc.array(accessLogRecord(), { maxLength: 3 }),
      wasmDeployments: fc.array(wasmDeployment(), { maxLength: 3 }),
      userSidecars: fc.array(userSidecar(), { maxLength: 2 }),
    })
    .map((parts) => distinct(Object.values(parts).flat()));
}

function mesh(cluster: string): AnyResource {
  const installation = { namespace: "istio-system", cluster, podLabels: { istio: "pilot" }, region: `region-${cluster}` };
  const spec =
    cluster === "north"
      ? { osm: { installation } }
      : { istio: { installation, trustDomain: cluster, smartDnsProxyingEnabled: cluster === "east" } };
  return object(DISCOVERY, "Mesh", `mesh-${cluster}`, { spec: { ...spec, agentInfo: { agentNamespace: "gloo-mesh" } } });
}

/** The same mesh with another trust domain, or aliases. */
function meshTrusting(cluster: string, trustDomain: string, trustDomainAliases: readonly string[] = []): AnyResource {
  const plain = mesh(cluster);
  const spec = plain["spec"] as { readonly istio?: object };
  if (spec.istio === undefined) return plain;
  return { ...plain, spec: { ...spec, istio: { ...spec.istio, trustDomain, trustDomainAliases } } } as AnyResource;
}

/** The same mesh in a cluster with Cilium, in a Cluster Mesh or not. */
function meshWithCilium(cluster: string, clusterMesh: boolean): AnyResource {
  const plain = mesh(cluster);
  const cilium = { clusterName: `prod-${cluster}`, clusterId: cluster, ...(clusterMesh ? { clusterMesh } : {}) };
  return { ...plain, spec: { ...(plain["spec"] as object), cilium } } as AnyResource;
}

function destination(): fc.Arbitrary<AnyResource> {
  return fc
    .record({
      name: fc.constantFrom(...SERVICES),
      cluster: fc.constantFrom(...CLUSTERS),
      ports: fc.subarray([80, 9090]),
      annotations: fc.constantFrom({}, { team: "x" }),
      version: fc.constantFrom({}, { version: "v1" }),
    })
    .map(({ name, cluster, ports, annotations, version }) => {
      const labels = { app: name };
      const kubeService = {
        ref: service(name, cluster),
        workloadSelectorLabels: labels,
        labels,
        ports: ports.map((port) => ({ port, name: `http-${port}`, protocol: "TCP", targetPortNumber: port })),
        endpointSubsets: [
          {
            endpoints: [{ ipAddress: "10.0.0.1", labels: { ...labels, ...version } }],
            ports: ports.map((port) => ({ port, name: `http-${port}` })),
          },
        ],
      };
      const spec = { kubeService, mesh: { name: `mesh-${cluster}`, namespace: "gloo-mesh" } };
      return object(DISCOVERY, "Destination", `${name}-shop-${cluster}`, { spec }, { annotations });
    });
}

function gateway(cluster: string): AnyResource {
  const kubeService = {
    ref: { name: "gateway", namespace: "istio-system", clusterName: cluster },
    workloadSelectorLabels: { istio: "ingressgateway" },
    serviceType: "LOAD_BALANCER",
    externalAddresses: [{ ip: "198.51.100.1" }],
    ports: [{ port: 15443, name: "tls", protocol: "TCP", targetPortNumber: 15443 }],
  };
  return object(DISCOVERY, "Destination", `gateway-istio-system-${cluster}`, {
    spec: { kubeService, mesh: { name: `mesh-${cluster}`, namespace: "gloo-mesh" } },
  });
}

/** What is no Kubernetes Service. */
function external(cluster: string): AnyResource {
  const externalService = { name: "bank", hosts: ["bank.example.com"], ports: [{ number: 443, name: "tls", protocol: "TLS" }] };
  const spec = { externalService, mesh: { name: `mesh-${cluster}`, namespace: "gloo-mesh" } };
  return object(DISCOVERY, "Destination", "bank", { spec });
}

function workload(): fc.Arbitrary<AnyResource> {
  const isGateway = fc.constantFrom({}, {}, { gateway: true });
  return fc.tuple(fc.constantFrom(...SERVICES), fc.constantFrom(...CLUSTERS), isGateway).map(([name, cluster, gateway]) =>
    object(DISCOVERY, "Workload", `${name}-shop-${cluster}-deployment`, {
      spec: {
        kubernetes: { controller: service(name, cluster), podLabels: { app: name }, serviceAccountName: name, ...gateway },
        mesh: { name: `mesh-${cluster}`, namespace: "gloo-mesh" },
      },
    }),
  );
}

/** What calls of a service reach, if not only the sidecar. */
function pod(): fc.Arbitrary<AnyResource> {
  return fc
    .record({
      app: fc.constantFrom(...SERVICES),
      cluster: fc.constantFrom(...CLUSTERS),
      annotations: fc.constantFrom({}, { "istio.io/rev": "default" }, { "prometheus.io/scrape": "true", "prometheus.io/port": "9090" }),
      spec: fc.constantFrom({}, { hostNetwork: true }),
      name: fc.constantFrom("0", "1"),
    })
    .map(({ app, cluster, annotations, spec, name }) => {
      const metadata = { name: `${app}-${name}`, namespace: "shop", clusterName: cluster, labels: { app }, annotations };
      return { apiVersion: "v1", kind: "Pod", metadata, spec } as AnyResource;
    });
}

function trafficPolicy(): fc.Arbitrary<AnyResource> {
  return fc
    .record({
      name: fc.constantFrom(...NAMES),
      origin: origin(),
      spec: trafficPolicySpec(),
      lastAccepted: fc.option(trafficPolicySpec(), { nil: undefined }),
    })
    .map(({ name, origin: from, spec, lastAccepted }) =>
      object(NETWORKING, "TrafficPolicy", name, { spec, ...statusWith(lastAccepted) }, from),
    );
}

function trafficPolicySpec(): fc.Arbitrary<object> {
  return fc.record(
    {
      destinationSelector: destinationSelectors(),
      sourceSelector: fc.constantFrom(
        [{}],
        [{ kubeWorkloadMatcher: { clusters: ["east"] } }],
        [{ kubeWorkloadMatcher: { namespaces: ["x"], clusters: ["west"] } }, { kubeWorkloadMatcher: { labels: { app: "cart" } } }],
        [{ kubeServiceMatcher: {} }],
      ),
      httpRequestMatchers: fc.constantFrom([{ method: "GET" }], [{ uri: { suffix: ".png" } }, {}], [{ uri: { suffx: "x" } }]),
      policy: rules(),
    },
    { requiredKeys: ["policy"] },
  );
}

function rules(): fc.Arbitrary<object> {
  const target = { ...service("cart", "west"), subset: { version: "v1" } };
  return fc.record(
    {
      requestTimeout: fc.constantFrom("1s", "1000ms", "2s", "1us", "0s"),
      retries: fc.constantFrom({ attempts: 1 }, { perTryTimeout: "1s" }),
      mirror: fc.constantFrom({ kubeService: service("stock", "east") }, { kubeService: service("nobody", "east") }, {}),
      trafficShift: fc.constantFrom(
        { destinations: [{ kubeService: target }] },
        { destinations: [{ kubeService: { ...target, port: 80 } }] },
        { destinations: [{ virtualDestination: { name: "a", namespace: "gloo-mesh" } }] },
        { destinations: [{ virtualDestination: { name: "a", namespace: "gloo-mesh", subset: { version: "v1" } } }] },
      ),
      outlierDetection: fc.constantFrom({}, { consecutiveErrors: 1 }),
      mtls: fc.constantFrom({ istio: { tlsMode: "DISABLE" } }, { istio: { tlsMode: "ISTIO_MUTUAL" } }),
      csrf: fc.constantFrom({}, { filterEnabled: true }, { shadowEnabled: true, percentage: 5 }),
    },
    { requiredKeys: [] },
  );
}

function accessPolicy(): fc.Arbitrary<AnyResource> {
  const spec = fc.record(
    {
      destinationSelector: destinationSelectors(),
      sourceSelector: fc.constantFrom(
        [{ kubeIdentityMatcher: { clusters: ["east"] } }],
        [{ kubeIdentityMatcher: { clusters: ["nowhere"] } }],
        [{ kubeServiceAccountRefs: { serviceAccounts: [service("cart", "west")] } }],
        [{ requestIdentityMatcher: {} }],
      ),
      allowedMethods: fc.constant(["GET"]),
    },
    { requiredKeys: [] },
  );
  return fc
    .record({ name: fc.constantFrom(...NAMES), origin: origin(), spec })
    .map(({ name, origin: from, spec: wanted }) => object(NETWORKING, "AccessPolicy", name, { spec: wanted }, from));
}

function destinationSelectors(): fc.Arbitrary<readonly object[]> {
  return fc.constantFrom(
    [{ kubeServiceMatcher: { labels: { app: "cart" } } }],
    [{ kubeServiceMatcher: { clusters: ["east", "north"] } }],
    [{ kubeServiceRefs: { services: [service("cart", "east")] } }],
    [{}, { kubeServiceMatcher: {} }],
    [{ kubeServiceMatcher: { labels: { app: "cart" } }, kubeServiceRef: {} }],
    [{ kubeServiceRefs: { services: [service("nobody", "east")] } }],
    [{ virtualDestinationRefs: { virtualDestinations: [{ name: "a", namespace: "gloo-mesh" }] } }],
    [{ virtualDestinationMatcher: {}, kubeServiceRefs: { services: [service("cart", "east")] } }],
  );
}

/** Right, wrong in some part, or right before it was changed. */
function virtualMesh(): fc.Arbitrary<AnyResource> {
  return fc
    .record({
      name: fc.constantFrom(...NAMES),
      origin: origin(),
      spec: virtualMeshSpec(),
      lastAccepted: fc.option(virtualMeshSpec(), { nil: undefined }),
    })
    .map(({ name, origin: from, spec, lastAccepted }) =>
      object(NETWORKING, "VirtualMesh", name, { spec, ...statusWith(lastAccepted) }, from),
    );
}

function virtualMeshSpec(): fc.Arbitrary<object> {
  const federation = fc.constantFrom(
    { permissive: {} },
    { selectors: [{}] },
    { selectors: [{}], hostnameSuffix: "corp" },
    { selectors: [{}], failover: {} },
    { permissive: {}, failover: { outlierDetection: { consecutiveErrors: 2 } } },
    { permissive: {}, flatNetwork: true },
    { permissive: {}, destinationSelectors: [{}] },
    undefined,
  );
  return fc
    .record({
      globalAccesPolicy: fc.constantFrom(undefined, undefined, "ENABLED"),
      meshes: fc.subarray([...CLUSTERS, "nowhere"], { minLength: 1 }),
      federation: fc.tuple(federation, gatewaySelectors()).map(([wanted, selectors]) => wanted && { ...wanted, ...selectors }),
      globalAccessPolicy: fc.constantFrom("ENABLED", "DISABLED"),
      mtlsConfig: fc.constantFrom(undefined, { shared: {} }, {}),
    })
    .map(({ meshes, ...spec }) => {
      const refs = meshes.map((cluster) => ({ name: `mesh-${cluster}`, namespace: "gloo-mesh" }));
      return { meshes: refs, ...withoutUndefined(spec) };
    });
}

function statusWith(lastAccepted: object | undefined): object {
  return lastAccepted === undefined ? {} : { status: { lastAccepted: { generation: 1, spec: lastAccepted } } };
}

/** Which services are gateways: what discovery takes for one by itself, one by its place, one that can't be, or nothing said. */
function gatewaySelectors(): fc.Arbitrary<object> {
  const named = { kubeServiceRefs: { services: [{ name: "gateway", namespace: "istio-system", clusterName: "west" }] } };
  return fc
    .constantFrom(
      undefined,
      [{}],
      [{ destinationSelector: [named] }],
      [{ destinationSelectors: [named] }],
      [{ destinationSelectors: [{ kubeServiceMatcher: { labels: { app: "cart" } } }], portName: "http-80" }],
    )
    .map((eastWestIngressGatewaySelectors) => withoutUndefined({ eastWestIngressGatewaySelectors }));
}

/** A name for services of several clusters: right, wrong in some part, or right before it was changed. */
function virtualDestination(): fc.Arbitrary<AnyResource> {
  return fc
    .record({
      name: fc.constantFrom("a", "b", "c"),
      origin: origin(),
      spec: virtualDestinationSpec(),
      lastAccepted: fc.option(virtualDestinationSpec(), { nil: undefined }),
    })
    .map(({ name, origin: from, spec, lastAccepted }) => {
      const status = statusWith(lastAccepted);
      return object("networking.enterprise.mesh.gloo.solo.io/v1beta1", "VirtualDestination", name, { spec, ...status }, from);
    });
}

function virtualDestinationSpec(): fc.Arbitrary<object> {
  const ref = (cluster: string) => ({ name: `mesh-${cluster}`, namespace: "gloo-mesh" });
  const order = fc
    .shuffledSubarray(CLUSTERS)
    .map((clusters) => ({ destinations: clusters.map((one) => ({ kubeService: service("cart", one) })) }));
  const directives = fc
    .tuple(fc.constantFrom(...CLUSTERS), fc.shuffledSubarray(CLUSTERS))
    .map(([from, to]) => [{ from: { region: `region-${from}` }, to: to.map((one) => ({ region: `region-${one}` })) }]);
  return fc
    .record({
      hostname: fc.constantFrom("cart.example.com", "cart.example.com", "cart.shop.svc.east.global", "a", undefined),
      port: fc.constantFrom(
        { number: 80 },
        { number: 80, protocol: "grpc" },
        { number: 81, targetNumber: 9090 },
        { number: 80, targetName: "x" },
        {},
      ),
      virtualMesh: fc.option(
        fc.constantFrom(...NAMES).map((name) => ({ name, namespace: "gloo-mesh" })),
        { nil: undefined },
      ),
      meshList: fc.option(
        fc.subarray([...CLUSTERS, "nowhere"]).map((clusters) => ({ meshes: clusters.map(ref) })),
        { nil: undefined },
      ),
      static: fc.option(order, { nil: undefined }),
      localized: fc.option(
        fc
          .tuple(fc.option(destinationSelectors(), { nil: undefined }), fc.option(directives, { nil: undefined }))
          .map(([destinationSelectors, failoverDirectives]) => withoutUndefined({ destinationSelectors, failoverDirectives })),
        { nil: undefined },
      ),
    })
    .map(withoutUndefined);
}

/** What workloads call: right, wrong in some part, or right before it was changed. */
function serviceDependency(): fc.Arbitrary<AnyResource> {
  const spec = fc.record(
    {
      sourceSelectors: fc.constantFrom(
        [{}],
        [{ kubeWorkloadMatcher: { clusters: ["east"] } }],
        [{ kubeWorkloadMatcher: { labels: { app: "cart" } } }, { kubeWorkloadMatcher: { namespaces: ["shop"], clusters: ["west"] } }],
        [{ kubeWorkloadMatcher: { labels: { app: "nobody" } } }],
        [{ kubeServiceMatcher: {} }],
      ),
      destinationSelectors: destinationSelectors(),
    },
    { requiredKeys: [] },
  );
  return fc
    .record({ name: fc.constantFrom(...NAMES), origin: origin(), spec, lastAccepted: fc.option(spec, { nil: undefined }) })
    .map(({ name, origin: from, spec: wanted, lastAccepted }) => {
      const status = statusWith(lastAccepted);
      return object("networking.enterprise.mesh.gloo.solo.io/v1beta1", "ServiceDependency", name, { spec: wanted, ...status }, from);
    });
}

/** What workloads log: right, wrong in some part, or right before it was changed. */
function accessLogRecord(): fc.Arbitrary<AnyResource> {
  const filter = fc.constantFrom(
    { statusCodeMatcher: { value: 400, comparator: "GE" } },
    { headerMatcher: { name: "X-Debug", value: "a+", regex: true } },
    { headerMatcher: { name: "x user" } },
    {},
  );
  const spec = fc.record(
    {
      workloadSelectors: fc.constantFrom(
        [{}],
        [{ kubeWorkloadMatcher: { clusters: ["east"] } }],
        [{ kubeWorkloadMatcher: { labels: { app: "cart" } } }, { kubeWorkloadMatcher: { namespaces: ["shop"], clusters: ["west"] } }],
        [{ kubeWorkloadMatcher: { labels: { app: "nobody" } } }],
        [{ kubeServiceMatcher: {} }],
      ),
      filters: fc.array(filter, { maxLength: 2 }),
      includedRequestHeaders: fc.constantFrom(["X-User"], ["cookie"]),
    },
    { requiredKeys: [] },
  );
  return fc
    .record({ name: fc.constantFrom(...NAMES), origin: origin(), spec, lastAccepted: fc.option(spec, { nil: undefined }) })
    .map(({ name, origin: from, spec: wanted, lastAccepted }) => {
      const status = statusWith(lastAccepted);
      return object("observability.enterprise.mesh.gloo.solo.io/v1", "AccessLogRecord", name, { spec: wanted, ...status }, from);
    });
}

/** What workloads run: right, wrong in some part, or right before it was changed. */
function wasmDeployment(): fc.Arbitrary<AnyResource> {
  const wasmImageSource = { wasmImageTag: "registry.example.com/header:v1" };
  const filter = fc.constantFrom<object>(
    { wasmImageSource },
    { localPathSource: "/header.wasm", rootId: "header", filterContext: "GATEWAY", failClosed: true },
    { wasmImageSource, localPathSource: "/header.wasm" },
  );
  const spec = fc.record(
    {
      workloadSelector: fc.constantFrom(
        [{}],
        [{ kubeWorkloadMatcher: { labels: { app: "cart" }, clusters: ["west"] } }],
        [{ kubeWorkloadMatcher: { labels: { app: "nobody" } } }],
      ),
      filters: fc.array(filter, { minLength: 1, maxLength: 2 }),
      weight: fc.constantFrom(1, 2),
    },
    { requiredKeys: ["filters"] },
  );
  return fc
    .record({ name: fc.constantFrom(...NAMES), origin: origin(), spec, lastAccepted: fc.option(spec, { nil: undefined }) })
    .map(({ name, origin: from, spec: wanted, lastAccepted }) => {
      const status = statusWith(lastAccepted);
      return object("networking.enterprise.mesh.gloo.solo.io/v1beta1", "WasmDeployment", name, { spec: wanted, ...status }, from);
    });
}

function userSidecar(): fc.Arbitrary<AnyResource> {
  const selector = fc.constantFrom({}, { workloadSelector: { labels: { app: "cart" } } }, { workloadSelector: { labels: { app: "x" } } });
  return fc.tuple(selector, fc.constantFrom(...CLUSTERS), fc.constantFrom("p", "q")).map(([spec, clusterName, name]) => ({
    apiVersion: "networking.istio.io/v1",
    kind: "Sidecar",
    metadata: { name, namespace: "shop", clusterName },
    spec: { ...spec, egress: [{ hosts: ["./*"] }] },
  }));
}

/** What leads gateways to services. */
function userRoute(): fc.Arbitrary<AnyResource> {
  const host = fc.constantFrom("cart.shop.svc.cluster.local", "stock");
  const gateways = fc.constantFrom({ gateways: ["istio-system/public"] }, { gateways: ["mesh"] }, {});
  const virtualService = fc.tuple(host, gateways).map(([to, read]) => ({
    kind: "VirtualService",
    spec: { hosts: ["shop.example"], ...read, http: [{ route: [{ destination: { host: to } }] }] },
  }));
  const gateway = fc.constantFrom("AUTO_PASSTHROUGH", "SIMPLE").map((mode) => ({
    kind: "Gateway",
    spec: { servers: [{ port: { number: 15443, name: "tls", protocol: "TLS" }, hosts: ["*.local"], tls: { mode } }] },
  }));
  return fc.tuple(fc.oneof(virtualService, gateway), fc.constantFrom(...CLUSTERS)).map(([{ kind, spec }, clusterName]) => ({
    apiVersion: "networking.istio.io/v1",
    kind,
    metadata: { name: "route", namespace: "shop", clusterName },
    spec,
  }));
}

/** What says who may call: gateways, where access is closed, and where AccessPolicies say it, too. */
function userAuthorization(): fc.Arbitrary<AnyResource> {
  const some = { rules: [{ from: [{ source: { namespaces: ["shop"] } }] }] };
  const spec = fc.constantFrom({}, { selector: { matchLabels: { app: "cart" } } }, { action: "DENY" }, { action: "DENY", ...some }, some);
  const rules = spec.map((ofUser) => ({ kind: "AuthorizationPolicy", spec: ofUser }));
  const peers = fc.constantFrom("DISABLE", "STRICT").map((mode) => ({ kind: "PeerAuthentication", spec: { mtls: { mode } } }));
  return fc
    .tuple(fc.constantFrom("shop", "istio-system"), fc.oneof(rules, peers), fc.constantFrom(...CLUSTERS))
    .map(([namespace, said, clusterName]) => ({
      apiVersion: "security.istio.io/v1",
      ...said,
      metadata: { name: "mine", namespace, clusterName },
    }));
}

function userObject(): fc.Arbitrary<AnyResource> {
  const host = fc.constantFrom("cart.shop.svc.cluster.local", "*.global", "stock", "cart.example.com");
  return fc
    .tuple(fc.constantFrom("VirtualService", "DestinationRule", "ServiceEntry"), host, fc.constantFrom(...CLUSTERS))
    .map(([kind, name, clusterName]) => ({
      apiVersion: "networking.istio.io/v1",
      kind,
      metadata: { name: "mine", namespace: "shop", clusterName },
      spec: kind === "DestinationRule" ? { host: name } : { hosts: [name] },
    }));
}

function service(name: string, clusterName: string) {
  return { name, namespace: "shop", clusterName };
}

/** When and where a user wrote something: mostly in the management cluster. */
function origin(): fc.Arbitrary<object> {
  return fc
    .tuple(fc.constantFrom(...TIMES), fc.constantFrom(undefined, undefined, "east", "west"))
    .map(([creationTimestamp, clusterName]) => withoutUndefined({ creationTimestamp, clusterName }));
}

function object(apiVersion: string, kind: string, name: string, content: object, metadata: object = {}): AnyResource {
  return { apiVersion, kind, metadata: { name, namespace: "gloo-mesh", ...metadata }, ...content };
}

function withoutUndefined(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}

function distinct(objects: readonly AnyResource[]): readonly AnyResource[] {
  return [...new Map(objects.map((one) => [`${one.kind}/${one.metadata.name}.${one.metadata.clusterName ?? ""}`, one])).values()];
}
