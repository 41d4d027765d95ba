import { expect, test } from "vitest";
import { meshctl } from "../src/meshctl.ts";
import { recordedIo } from "./recordedIo.ts";

const V1 = "networking.mesh.gloo.solo.io/v1";

interface ObjectText {
  readonly kind: string;
  readonly meta: string;
  readonly apiVersion?: string;
  readonly rest?: string;
}

function object({ kind, meta, apiVersion = V1, rest = "" }: ObjectText): string {
  return `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {${meta}}\n${rest}\n`;
}

const cluster = (name: string, namespace = "gloo-mesh") =>
  object({ apiVersion: "multicluster.solo.io/v1alpha1", kind: "KubernetesCluster", meta: `name: ${name}, namespace: ${namespace}` });
const mesh = (cluster: string, version = "1.24.2") =>
  object({
    apiVersion: "discovery.mesh.gloo.solo.io/v1",
    kind: "Mesh",
    meta: `name: istiod-${cluster}, namespace: gloo-mesh`,
    rest: `spec:
  istio:
    installation: {namespace: istio-system, cluster: ${cluster}, version: ${version}}
    trustDomain: ${cluster}`,
  });
const cart = (cluster: string) =>
  object({
    apiVersion: "discovery.mesh.gloo.solo.io/v1",
    kind: "Destination",
    meta: `name: cart-shop-${cluster}, namespace: gloo-mesh`,
    rest: `spec:
  kubeService:
    ref: {name: cart, namespace: shop, clusterName: ${cluster}}
    workloadSelectorLabels: {app: cart}
    ports: [{port: 80, targetPortNumber: 8080, name: http, protocol: TCP}]
  mesh: {name: istiod-${cluster}, namespace: gloo-mesh}`,
  });
const workload = (cluster: string, name: string, labels: string) =>
  object({
    apiVersion: "discovery.mesh.gloo.solo.io/v1",
    kind: "Workload",
    meta: `name: ${name}-shop-${cluster}-deployment, namespace: gloo-mesh`,
    rest: `spec:
  kubernetes:
    controller: {name: ${name}, namespace: shop, clusterName: ${cluster}}
    podLabels: {${labels}}
    serviceAccountName: ${name}
  mesh: {name: istiod-${cluster}, namespace: gloo-mesh}`,
  });
const gateway = (cluster: string) =>
  object({
    apiVersion: "discovery.mesh.gloo.solo.io/v1",
    kind: "Destination",
    meta: `name: gateway-shop-${cluster}, namespace: gloo-mesh`,
    rest: `spec:
  kubeService:
    ref: {name: gateway, namespace: shop, clusterName: ${cluster}}
    workloadSelectorLabels: {istio: ingressgateway}
    ports: [{port: 15443, targetPortNumber: 15443, name: tls, protocol: TCP}]
    externalAddresses: [{ip: 172.18.0.1}]
    serviceType: LOAD_BALANCER
  mesh: {name: istiod-${cluster}, namespace: gloo-mesh}`,
  });
const meshed = (cluster: string, version?: string) => [
  mesh(cluster, version),
  gateway(cluster),
  workload(cluster, "gateway", "istio: ingressgateway"),
];
const WORLD = [cluster("east"), cluster("west"), ...meshed("east"), ...meshed("west"), cart("east"), workload("east", "cart", "app: cart")];

const timeout = (meta: string) =>
  object({ kind: "TrafficPolicy", meta, rest: "spec: {destinationSelector: [{kubeServiceMatcher: {}}], policy: {requestTimeout: 5s}}" });
const ALL = "destinationSelector: [{kubeServiceMatcher: {}}]";
const access = (spec: string) =>
  object({
    kind: "AccessPolicy",
    meta: "name: a, namespace: shop",
    rest: `spec: {${spec.includes("destinationSelector") ? spec : `${ALL}, ${spec}`}}`,
  });
const virtualMesh = (spec: string) => object({ kind: "VirtualMesh", meta: "name: v, namespace: gloo-mesh", rest: `spec: {${spec}}` });
const core = (kind: string, meta: string) => object({ apiVersion: "v1", kind, meta });
const istio = (kind: string, spec: string, meta = "name: mine, namespace: shop, clusterName: east") =>
  object({ apiVersion: "networking.istio.io/v1", kind, meta, rest: `spec: {${spec}}` });

const BOTH = "meshes: [{name: istiod-east, namespace: gloo-mesh}, {name: istiod-west, namespace: gloo-mesh}]";
const GENERATED = "mtlsConfig: {shared: {rootCertificateAuthority: {secret: {name: root, namespace: gloo-mesh}}}}";

/** The findings about objects beside a sound world: code and message of each, with the place of the last document. */
async function findings(documents: readonly string[], world: readonly string[] = WORLD): Promise<readonly string[]> {
  const io = recordedIo(`\ufeff${[...world, ...documents].join("---\n")}`);
  await meshctl(["validate", "-o", "json", "-f", "-"], io);
  const { findings } = JSON.parse(io.written.out) as { findings: readonly { code: string; message: string; severity: string }[] };
  // Of each VirtualMesh with mtlsConfig, and not what is tested here.
  const others = findings.filter(({ code }) => code !== "CertificatesNotIssued");
  return others.map(({ code, message, severity }) => `${severity} ${code}: ${message}`);
}

test("the world itself is sound", async () => {
  expect(await findings([])).toEqual([]);
});

test.each([
  ["an object without a namespace", [timeout("name: t")], "warning NamespaceMissing: TrafficPolicy t: metadata.namespace: is missing"],
  [
    "an unknown field of metadata",
    [timeout("name: t, namespace: shop, labls: {a: b}")],
    "warning FieldUnknown: TrafficPolicy shop/t: metadata.labls: unknown field (did you mean labels?); the field is ignored",
  ],
  [
    "a federation selector that matches no Service",
    [
      virtualMesh(
        `${BOTH}, federation: {selectors: [{destinationSelectors: [{kubeServiceMatcher: {namespaces: [shpo]}}]}, {destinationSelectors: [{kubeServiceMatcher: {namespaces: [shop]}}]}]}`,
      ),
    ],
    "warning NothingFederated: VirtualMesh gloo-mesh/v: spec.federation.selectors[0].destinationSelectors: selects no Service in a mesh of this VirtualMesh, so it federates nothing: no Service is in namespace shpo (did you mean shop?)",
  ],
  [
    "a namespace that is not among those given",
    [core("Namespace", "name: shop"), core("Namespace", "name: gloo-mesh"), timeout("name: t, namespace: shpo")],
    "warning NamespaceUnknown: TrafficPolicy shpo/t: metadata.namespace: the input has Namespaces of the management cluster, and shpo is not one of them: did you mean shop?",
  ],
  [
    "objects of a cluster that is not registered",
    [core("ConfigMap", "name: a, namespace: x, clusterName: eats"), core("ConfigMap", "name: b, namespace: x, clusterName: eats")],
    "warning ClusterUnknown: ConfigMap x/a in eats: metadata.clusterName: no KubernetesCluster registers eats, which 2 objects name: did you mean east?",
  ],
  [
    "Settings of another name",
    [
      object({
        apiVersion: "settings.mesh.gloo.solo.io/v1",
        kind: "Settings",
        meta: "name: other, namespace: gloo-mesh",
        rest: "spec: {}",
      }),
    ],
    "warning SettingsNotUsed: Settings gloo-mesh/other: is not used: the Settings of this management plane are Settings gloo-mesh/settings in the management cluster: write them there",
  ],
  [
    "a KubernetesCluster in another namespace",
    [cluster("north", "elsewhere")],
    "warning NotUsed: KubernetesCluster elsewhere/north: is not used: clusters are registered in the namespace of the management plane: move it",
  ],
  [
    "a root that is not among the Secrets given",
    [virtualMesh(`${BOTH}, ${GENERATED}`), core("Secret", "name: other, namespace: gloo-mesh")],
    "warning RootSecretUnknown: VirtualMesh gloo-mesh/v: spec.mtlsConfig.shared.rootCertificateAuthority.secret: the input has Secrets of the management cluster, and gloo-mesh/root is not",
  ],
  [
    "access control without any AccessPolicy",
    [virtualMesh(`${BOTH}, globalAccessPolicy: ENABLED`)],
    "error AllCallsDenied: VirtualMesh gloo-mesh/v: spec.globalAccessPolicy: is ENABLED and there is no AccessPolicy: all calls are denied",
  ],
  [
    "a port that no Service has",
    [access("sourceSelector: [{}], allowedPorts: [8080, 4711]")],
    "warning PortUnknown: AccessPolicy shop/a: spec.allowedPorts[1]: no Service of the input has port 4711: check the number",
  ],
  [
    "a service account that nothing runs as",
    [access("sourceSelector: [{kubeServiceAccountRefs: {serviceAccounts: [{name: crat, namespace: shop, clusterName: east}]}}]")],
    "warning CallerUnknown: AccessPolicy shop/a: spec.sourceSelector[0].kubeServiceAccountRefs.serviceAccounts[0]: no workload in a mesh runs as service account shop/crat in east: did you mean cart?",
  ],
  [
    "a cluster whose name has a dot",
    [cluster("eu.corp")],
    'warning ClusterNameInvalid: KubernetesCluster gloo-mesh/eu.corp: metadata.name: "eu.corp" is no DNS label of at most 63 lower-case letters, digits and dashes, so no agent can register under it, and host names with it cannot be read: register the cluster under another name',
  ],
  [
    "a host that federation writes, too",
    [
      virtualMesh(`${BOTH}, federation: {selectors: [{}]}`),
      istio("ServiceEntry", "hosts: [cart.shop.svc.east.global]", "name: mine, namespace: shop, clusterName: west"),
    ],
    "warning UserConfigConflict: ServiceEntry shop/mine in west: spec.hosts[0]: ServiceEntry istio-system/cart.shop.svc.east.global in west, which federation writes",
  ],
  [
    "hosts under another name",
    [istio("VirtualService", "hostz: [cart]")],
    "warning FieldUnknown: VirtualService shop/mine in east: spec.hostz: unknown field (did you mean hosts?)",
  ],
  [
    "a service that is misspelt",
    [
      object({
        kind: "TrafficPolicy",
        meta: "name: t, namespace: shop",
        rest: "spec: {destinationSelector: [{kubeServiceRefs: {services: [{name: cartt, namespace: shop, clusterName: east}]}}], policy: {requestTimeout: 5s}}",
      }),
    ],
    "error DestinationUnknown: TrafficPolicy shop/t: spec.destinationSelector[0].kubeServiceRefs.services[0]: Destination for service shop/cartt in east not found: check the name, that its cluster is registered, and that its pods have sidecars of a mesh, as pods in ambient mode have no Destination yet (did you mean shop/cart in east?)",
  ],
  [
    "a mesh that is misspelt",
    [virtualMesh("meshes: [{name: istiod-eats, namespace: gloo-mesh}]")],
    "(did you mean gloo-mesh/istiod-east?)",
  ],
  [
    "a field beside the spec",
    [object({ kind: "AccessPolicy", meta: "name: a, namespace: shop", rest: "specs: {}" })],
    "error Malformed: AccessPolicy shop/a: specs: unknown field (did you mean spec?)",
  ],
  [
    "a name that no API server takes",
    [timeout("name: T_bad, namespace: shop")],
    'error Malformed: TrafficPolicy shop/T_bad: metadata.name: "T_bad" is not a valid name',
  ],
])("tells of %s", async (_, documents, message) => {
  const [first = "", ...others] = await findings(documents);
  expect(first).toContain(message);
  expect(others).toEqual([]);
});

test("tells of what a malformed policy refers to in the same run", async () => {
  const services = "destinationSelector: [{kubeServiceRefs: {services: [{name: cartt, namespace: shop, clusterName: east}, {name: 5}]}}]";
  const shift =
    "trafficShift: {destinations: [{weight: x, kubeService: {name: cart, namespace: shop, clusterName: eats}}, {weight: 1, kubeService: 7}]}";
  const malformed = (spec: string) => object({ kind: "TrafficPolicy", meta: "name: t, namespace: shop", rest: `spec: {${spec}}` });
  expect(
    await findings([
      malformed(
        "destinationSelector: [{kubeServiceRefs: {services: [{name: cartt, namespace: shop, clusterName: east}]}}], policy: {requestTimeout: 5}",
      ),
    ]),
  ).toEqual([
    expect.stringContaining("error Malformed: TrafficPolicy shop/t: spec.policy.requestTimeout: 5 is not a duration"),
    expect.stringMatching(/^error DestinationUnknown: .* shop\/cartt in east not found: .*\(did you mean shop\/cart in east\?\)$/),
  ]);
  expect(
    await findings([malformed("policy: {requestTimeout: -5s, retries: {attempts: x, perTryTimeout: -1s}, faultInjection: 5}")]),
  ).toEqual([
    expect.stringContaining("error Malformed: TrafficPolicy shop/t: spec.policy.faultInjection"),
    expect.stringContaining("error Malformed: TrafficPolicy shop/t: spec.policy.retries.attempts"),
    expect.stringContaining("error DurationOutOfRange: TrafficPolicy shop/t: spec.policy.requestTimeout"),
    expect.stringContaining("error DurationOutOfRange: TrafficPolicy shop/t: spec.policy.retries.perTryTimeout"),
  ]);
  // What it is wrong in is not looked into; the rest is.
  expect(await findings([malformed(`${services}, policy: {${shift}}`)])).toEqual([
    expect.stringContaining("error Malformed: TrafficPolicy shop/t: spec.destinationSelector[0].kubeServiceRefs.services[1].name"),
    expect.stringContaining("error Malformed: TrafficPolicy shop/t: spec.policy.trafficShift.destinations[0].weight"),
    expect.stringContaining("error Malformed: TrafficPolicy shop/t: spec.policy.trafficShift.destinations[1].kubeService"),
    expect.stringContaining("error DestinationUnknown: TrafficPolicy shop/t: spec.destinationSelector[0].kubeServiceRefs.services[0]"),
    expect.stringContaining(
      "error DestinationRefIncomplete: TrafficPolicy shop/t: spec.destinationSelector[0].kubeServiceRefs.services[1]",
    ),
  ]);
  expect(
    await findings([
      access(
        "sourceSelector: [{kubeServiceAccountRefs: {serviceAccounts: [{name: crat, namespace: shop, clusterName: east}]}}, 5], allowedPorts: [http]",
      ),
    ]),
  ).toContain(
    "warning CallerUnknown: AccessPolicy shop/a: spec.sourceSelector[0].kubeServiceAccountRefs.serviceAccounts[0]: no workload in a mesh runs as service account shop/crat in east: did you mean cart?",
  );
});

test("tells that what a policy refers to is in the input, and rejected", async () => {
  const shop = object({
    apiVersion: "networking.enterprise.mesh.gloo.solo.io/v1beta1",
    kind: "VirtualDestination",
    meta: "name: all, namespace: shop",
    rest: "spec: {hostname: 5}",
  });
  const shift = object({
    kind: "TrafficPolicy",
    meta: "name: t, namespace: shop",
    rest: "spec: {policy: {trafficShift: {destinations: [{virtualDestination: {name: all, namespace: shop}}]}}}",
  });
  expect(await findings([shop, shift])).toContainEqual(
    expect.stringContaining(
      "VirtualDestination shop/all not found: check name and namespace; VirtualDestination shop/all is in the input, and is rejected: correct it first",
    ),
  );
});

test("tells of versions of Istio that are far apart in one VirtualMesh", async () => {
  const world = (west: string) => [cluster("east"), cluster("west"), ...meshed("east"), ...meshed("west", west)];
  expect(await findings([virtualMesh(BOTH)], world("1.12.9"))).toEqual([
    "warning VersionSkew: VirtualMesh gloo-mesh/v: spec.meshes: Istio is 1.12.9 in Mesh gloo-mesh/istiod-west, and 1.24.2 in Mesh gloo-mesh/istiod-east: upgrade Istio of istiod-west",
  ]);
  for (const west of ["1.23.0-distroless", '"1.25"', "latest", "1.24.2"])
    expect(await findings([virtualMesh(BOTH)], world(west))).toEqual([]);
});

test.each([
  ["CRLF", [timeout("name: t, namespace: shop").replaceAll("\n", "\r\n")]],
  [
    "a merge key and a byte order mark",
    [
      object({
        kind: "TrafficPolicy",
        meta: "name: t, namespace: shop, annotations: &more {a: b}, labels: {<<: *more}",
        rest: `spec: {${ALL}, policy: {requestTimeout: 5s}}`,
      }),
    ],
  ],
  [
    "a service account that a pod of a Job runs as",
    [
      access(
        "sourceSelector: [{kubeServiceAccountRefs: {serviceAccounts: [{name: report, namespace: shop, clusterName: east}]}}], destinationSelector: [{kubeServiceRefs: {services: [{name: cart, namespace: shop, clusterName: east}]}}]",
      ),
      object({
        apiVersion: "v1",
        kind: "Pod",
        meta: "name: report-1-x, namespace: shop, clusterName: east, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: report-1, controller: true}]",
        rest: 'spec: {serviceAccountName: report, containers: [{name: app, image: "a:1"}, {name: istio-proxy, image: "b:1"}]}',
      }),
    ],
  ],
  ["a name of several parts, the first longer than a label", [timeout(`name: ${"a".repeat(80)}.b-2, namespace: shop`)]],
  ["Namespaces of another cluster", [core("Namespace", "name: x, clusterName: east"), timeout("name: t, namespace: shop")]],
  ["Secrets of another cluster", [virtualMesh(`${BOTH}, ${GENERATED}`), core("Secret", "name: other, namespace: x, clusterName: east")]],
  ["a VirtualService that others delegate to", [istio("VirtualService", "http: [{route: [{destination: {host: cart}}]}]")]],
  ["a ServiceEntry for another host", [virtualMesh(`${BOTH}, federation: {selectors: [{}]}`), istio("ServiceEntry", "hosts: [a.example]")]],
  [
    "an AccessPolicy with the account of any namespace",
    [access("sourceSelector: [{kubeServiceAccountRefs: {serviceAccounts: [{name: cart}]}}]")],
  ],
  ["a port of the Service, and of its pods", [access("sourceSelector: [{}], allowedPorts: [80, 8080]")]],
  ["access control with an AccessPolicy", [virtualMesh(`${BOTH}, globalAccessPolicy: ENABLED`), access("sourceSelector: [{}]")]],
])("tells nothing of %s", async (_, documents) => {
  expect(await findings(documents)).toEqual([]);
});

test("an account that is like none is not guessed: those that there are stand beside it", async () => {
  const named = access(
    "sourceSelector: [{kubeServiceAccountRefs: {serviceAccounts: [{name: productpge, namespace: shop, clusterName: east}]}}]",
  );
  const found = await findings([named]);
  expect(found).toContainEqual(
    expect.stringMatching(/runs as service account .*check name, namespace and clusterName; workloads there run as cart, gateway$/),
  );
});

test("says nothing of clusters and callers where none are known", async () => {
  const documents = [
    timeout("name: t, namespace: shop, clusterName: anywhere"),
    access("sourceSelector: [{}], allowedPorts: [4711]").replace("name: a", "name: b"),
  ];
  expect(await findings(documents, [])).toEqual([expect.stringMatching(/^info ClusterNotGiven: /)]);
});

test("says how many services a policy is about that does not say which", async () => {
  const policy = (kind: string, spec: string) => object({ kind, meta: "name: p, namespace: shop", rest: `spec: {${spec}}` });
  expect(await findings([policy("TrafficPolicy", "policy: {faultInjection: {abort: {httpStatus: 500}}}")])).toEqual([
    expect.stringMatching(/^warning AllServicesSelected: .* spec\.destinationSelector: is missing, so it applies to all [2-9] services /),
  ]);
  expect(await findings([policy("AccessPolicy", "sourceSelector: [{}], destinationSelector: []")])).toEqual([
    expect.stringMatching(/^warning AllServicesSelected: .*callers that it does not name lose access to all [2-9] services /),
  ]);
  expect(await findings([policy("TrafficPolicy", "policy: {requestTimeout: 5s}")], [])).toEqual([
    expect.stringMatching(/^info ClusterNotGiven/),
    expect.stringMatching(/^warning AllServicesSelected: .* it applies to every service /),
  ]);
  // Another finding says that this one does nothing.
  expect(await findings([policy("TrafficPolicy", "policy: {}")])).toEqual([expect.stringMatching(/^warning NoEffect/)]);
});
