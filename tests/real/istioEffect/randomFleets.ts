import type { AnyResource } from "@isthmus/core";
import fc from "fast-check";
import { type PeerTls, peerTls, peerTlsOf } from "./peerTls.ts";
import { type AccessNames, accessPolicyOf, USER_FEATURES, type UserPolicy, userPolicy, userPolicyOf } from "./policies.ts";
import type { ProxyPod } from "./proxies.ts";

/** The cluster that istiod reads, and another one whose callers come through its gateway. */
export const CLUSTER = "a";
export const OTHER = "b";

/** Somebody who calls. */
export interface WorldCaller {
  readonly clusterName: string;
  readonly namespace: string;
  readonly serviceAccount: string;
}

/** A Service, and the pods behind it. */
export interface WorldService {
  readonly name: string;
  readonly namespace: string;
  /** On which its pods listen. */
  readonly ports: readonly number[];
  readonly pods: readonly ProxyPod[];
  /** Whether there is one more, without a proxy. */
  readonly hasBarePod: boolean;
}

/** A few Services, callers and rules, in namespaces of their own. */
export interface World {
  readonly name: string;
  /** Of the cluster. */
  readonly objects: readonly AnyResource[];
  /** Of the management plane. */
  readonly policies: readonly AnyResource[];
  readonly services: readonly WorldService[];
  readonly callers: readonly WorldCaller[];
  /** What occurs in it: the names of features, of which each must occur in enough worlds. */
  readonly features: ReadonlySet<string>;
}

/** What a mesh is like in which worlds are. */
export interface Surroundings {
  readonly trustDomain: string;
  readonly aliases: readonly string[];
  readonly rootNamespace: string;
  /** Whether rules of users are in the root namespace, where they are about all worlds. */
  readonly hasRootRules: boolean;
  /** What there is of the whole mesh, and what occurs by it in each of its worlds. */
  readonly objects: readonly AnyResource[];
  readonly features: readonly string[];
}

/** The form of a world, without its name and place. */
export interface WorldForm {
  readonly ports: readonly PortForm[];
  readonly isSplit: boolean;
  readonly hasBarePod: boolean;
  readonly users: readonly UserPolicy[];
  readonly peers: readonly PeerTls[];
  readonly access: readonly object[];
}

interface PortForm {
  readonly number: number;
  readonly name?: string;
  readonly appProtocol?: string;
  readonly feature: string;
}

/** As users name them, and each way in which Istio finds out what a port carries. */
export const PORTS: readonly PortForm[] = [
  { number: 8080, name: "http", feature: "port: HTTP by name" },
  { number: 9000, name: "tcp-data", feature: "port: TCP by name" },
  { number: 7070, name: "data", feature: "port: detected" },
  { number: 8081, name: "web", appProtocol: "kubernetes.io/h2c", feature: "port: appProtocol" },
  { number: 3306, name: "db", feature: "port: server speaks first" },
];

/** All that must occur. */
export const FEATURES: readonly string[] = [
  ...PORTS.map(({ feature }) => feature),
  "pods with different labels",
  "pod without a proxy",
  "AccessPolicy",
  "VirtualMesh: OPEN",
  "VirtualMesh: CLOSED",
  "mesh configuration without a trust domain",
  "trust domain cluster.local",
  "trust domain aliases",
  ...["the mesh", "the namespace", "pods", "a port"].map((scope) => `peer TLS: of ${scope}`),
  ...USER_FEATURES,
];

/** Forms of worlds. */
export function worldForms(): fc.Arbitrary<WorldForm> {
  return fc.record({
    ports: fc.subarray([...PORTS], { minLength: 1, maxLength: 3 }),
    isSplit: fc.boolean(),
    hasBarePod: fc.nat(4).map((n) => n === 0),
    users: fc.array(userPolicy(), { maxLength: 3 }),
    peers: fc.oneof({ weight: 1, arbitrary: fc.constant([]) }, { weight: 2, arbitrary: peerTls() }),
    access: fc.oneof(
      { weight: 1, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(accessPolicy(), { minLength: 1, maxLength: 2 }) },
    ),
  });
}

function accessPolicy(): fc.Arbitrary<object> {
  const account = fc.record({
    name: fc.constantFrom("front", "till"),
    namespace: fc.constantFrom("SHOP", "BANK", ""),
    clusterName: fc.constantFrom("", CLUSTER, OTHER),
  });
  const identity = fc.record({ namespaces: fc.subarray(["SHOP", "BANK"]), clusters: fc.subarray([CLUSTER, OTHER]) });
  const entry = fc.oneof(
    fc.record({ kubeServiceAccountRefs: fc.record({ serviceAccounts: fc.array(account, { minLength: 1, maxLength: 2 }) }) }),
    fc.record({ kubeIdentityMatcher: identity }),
  );
  return fc.record(
    {
      sourceSelector: fc.array(entry, { minLength: 1, maxLength: 2 }),
      allowedPorts: fc.subarray([8080, 9000, 7070]),
      allowedMethods: fc.subarray(["GET"]),
      allowedPaths: fc.subarray(["/admin*"]),
    },
    { requiredKeys: [] },
  );
}

/** A world of a form, in surroundings. */
export function worldOf(form: WorldForm, index: number, surroundings: Surroundings): World {
  const name = `w${index}`;
  const names: AccessNames = { shop: `${name}-shop`, bank: `${name}-bank`, ...surroundings };
  const pods = podsOf(index, names.shop, form.isSplit);
  const { hasBarePod } = form;
  const service: WorldService = { name: "cart", namespace: names.shop, ports: form.ports.map(({ number }) => number), pods, hasBarePod };
  const users = form.users.map((user, i) => userPolicyOf(user, `user-${name}-${i}`, names));
  const peers = form.peers.map((peer, i) => peerTlsOf(peer, `peer-${name}-${i}`, names));
  const ports = form.ports.map(({ number, name: portName, appProtocol }) => ({
    port: number + 10_000,
    targetPort: number,
    name: portName,
    ...(appProtocol === undefined ? {} : { appProtocol }),
  }));
  const features = new Set([
    ...form.ports.map(({ feature }) => feature),
    ...(form.isSplit ? ["pods with different labels"] : []),
    ...(form.access.length > 0 ? ["AccessPolicy"] : []),
    ...(hasBarePod ? ["pod without a proxy"] : []),
    ...[...users, ...peers].flatMap((one) => one.features),
    ...surroundings.features,
  ]);
  return {
    name,
    objects: [
      { apiVersion: "v1", kind: "Namespace", metadata: { name: names.shop, labels: { "istio-injection": "enabled" } } },
      { apiVersion: "v1", kind: "Namespace", metadata: { name: names.bank, labels: { "istio-injection": "enabled" } } },
      {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "cart", namespace: names.shop },
        spec: { selector: { app: "cart" }, ports },
      } as AnyResource,
      ...pods.flatMap((pod) => objectsOfPod(pod, true)),
      ...(hasBarePod ? objectsOfPod(podOf(index, names.shop, "bare"), false) : []),
      ...[...users, ...peers].map(({ object }) => object),
    ],
    policies: form.access.map((spec, i) => accessPolicyOf(spec, `access-${name}-${i}`, { service, names })),
    services: [service],
    callers: [
      { clusterName: CLUSTER, namespace: names.shop, serviceAccount: "front" },
      { clusterName: CLUSTER, namespace: names.bank, serviceAccount: "till" },
      { clusterName: OTHER, namespace: names.shop, serviceAccount: "front" },
    ],
    features,
  };
}

function podsOf(index: number, namespace: string, isSplit: boolean): readonly ProxyPod[] {
  return (isSplit ? ["v1", "v2"] : ["v1"]).map((version) => podOf(index, namespace, version));
}

const VERSIONS = ["v1", "v2", "bare"];

function podOf(index: number, namespace: string, version: string): ProxyPod {
  return {
    name: `cart-${version}-0`,
    namespace,
    ip: `10.${20 + VERSIONS.indexOf(version)}.${Math.floor(index / 250)}.${(index % 250) + 1}`,
    serviceAccount: "cart",
    labels: { app: "cart", version, "security.istio.io/tlsMode": "istio" },
  };
}

function objectsOfPod({ name, namespace, ip, serviceAccount, labels }: ProxyPod, hasProxy: boolean): readonly AnyResource[] {
  const owner = name.replace(/-0$/, "");
  const { "security.istio.io/tlsMode": _, ...own } = labels;
  const proxy = { name: "istio-proxy", image: "docker.io/istio/proxyv2:1.31.0" };
  const containers = [{ name: "app", image: "example.org/app:1" }, ...(hasProxy ? [proxy] : [])];
  const spec = { serviceAccountName: serviceAccount, containers };
  const ofPod = hasProxy ? labels : { ...own, "sidecar.istio.io/inject": "false" };
  const template = { metadata: { labels: hasProxy ? own : ofPod }, spec: { ...spec, containers: containers.slice(0, 1) } };
  const set = { serviceName: "cart", replicas: 1, selector: { matchLabels: own }, template };
  const ownerReferences = [{ apiVersion: "apps/v1", kind: "StatefulSet", name: owner, uid: `uid-${owner}`, controller: true }];
  const status = { phase: "Running", podIP: ip, podIPs: [{ ip }], conditions: [{ type: "Ready", status: "True" }] };
  return [
    { apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name: owner, namespace, labels: own }, spec: set },
    { apiVersion: "v1", kind: "Pod", metadata: { name, namespace, labels: ofPod, ownerReferences }, spec, status },
  ] as unknown as readonly AnyResource[];
}
