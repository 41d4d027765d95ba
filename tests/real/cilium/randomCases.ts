import type { AuthorizationPolicy } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import fc from "fast-check";
import type { CiliumPod } from "./engine.ts";

/** The services of cluster a, in namespace shop; pods have their names. */
export const CALLED = ["cart", "stock"] as const;
export const PORTS = [8080, 8443, 9090] as const;
const CLUSTERS = ["a", "b", "c"] as const;
type ClusterName = (typeof CLUSTERS)[number];
const NAMESPACES = ["shop", "bank"] as const;
const ACCOUNTS = ["till", "clerk"] as const;
const GATEWAYS = "istio-gateways";

/** Three clusters with Cilium, joined or not, and AccessPolicies on the services of one. */
export interface AccessWorld {
  readonly hasClusterMesh: boolean;
  readonly hasVirtualMesh: boolean;
  /** Whether the gateways have the network of their nodes. */
  readonly isOnHost: boolean;
  readonly trustDomains: Readonly<Record<ClusterName, string>>;
  readonly resources: readonly AnyResource[];
}

/** Somebody who calls: the pod that Cilium sees, and the identity that the mesh sees. */
export interface Caller {
  readonly pod: CiliumPod;
  readonly identity: { readonly principal: string; readonly namespace: string };
  /** Whether Cilium can tell it from all others that the mesh may let in. */
  readonly isExact: boolean;
}

/** Whose calls reach cluster a: its own pods, those of a Cluster Mesh, and through a gateway those of the VirtualMesh. */
export function callersIn({ hasClusterMesh, hasVirtualMesh, isOnHost, trustDomains }: AccessWorld): readonly Caller[] {
  return CLUSTERS.flatMap((cluster) =>
    NAMESPACES.flatMap((namespace) =>
      ACCOUNTS.flatMap((account): readonly Caller[] => {
        const identity = { principal: `${trustDomains[cluster]}/ns/${namespace}/sa/${account}`, namespace };
        const name = `${account}-${namespace}-${cluster}`;
        // Which of two clusters with one trust domain was meant the mesh can't know: all that it lets in get through.
        const isExact = CLUSTERS.every((other) => other === cluster || trustDomains[other] !== trustDomains[cluster]);
        const pod = { namespace, serviceAccount: account, labels: { app: account } };
        if (cluster === "a") return [{ pod: { ...pod, name }, identity, isExact }];
        const direct: Caller = { pod: { ...pod, name, cluster: `prod-${cluster}` }, identity, isExact };
        const byGateway = `${name}-by-gateway`;
        const onNode: CiliumPod = { name: byGateway, reserved: "remote-node" };
        const inPod = { name: byGateway, namespace: GATEWAYS, serviceAccount: "gateway", labels: { istio: "ingressgateway" } };
        return [
          ...(hasClusterMesh ? [direct] : []),
          ...(hasVirtualMesh ? [{ pod: isOnHost ? onNode : inPod, identity, isExact: false }] : []),
        ];
      }),
    ),
  );
}

/** Whether the mesh lets a caller in by its identity and the port, by some path and method. */
export function admitsByIdentity({ spec }: AuthorizationPolicy, { principal, namespace }: Caller["identity"], port: number): boolean {
  return (spec?.rules ?? []).some(({ from, to }) => {
    const isFrom =
      from === undefined || from.some(({ source }) => matches(source?.principals, principal) && matches(source?.namespaces, namespace));
    return isFrom && (to === undefined || to.some(({ operation }) => matches(operation?.ports, String(port))));
  });
}

/** Istio allows one star, at either end. */
function matches(patterns: readonly string[] | undefined, value: string): boolean {
  if (patterns === undefined) return true;
  return patterns.some((pattern) => {
    if (pattern.startsWith("*")) return value.endsWith(pattern.slice(1));
    return pattern.endsWith("*") ? value.startsWith(pattern.slice(0, -1)) : value === pattern;
  });
}

export function accessWorlds(): fc.Arbitrary<AccessWorld> {
  return fc
    .record({
      hasClusterMesh: fc.boolean(),
      hasVirtualMesh: fc.boolean(),
      isOnHost: fc.boolean(),
      trustDomains: fc.constantFrom(
        { a: "a", b: "b", c: "c" },
        { a: "cluster.local", b: "cluster.local", c: "cluster.local" },
        { a: "cluster.local", b: "b", c: "cluster.local" },
        { a: "a", b: "cluster.local", c: "cluster.local" },
      ),
      policies: fc.array(accessPolicy(), { minLength: 1, maxLength: 3 }),
    })
    .map(({ hasClusterMesh, hasVirtualMesh, isOnHost, trustDomains, policies }) => {
      const resources = [
        object("settings.mesh.gloo.solo.io/v1", "Settings", "settings", { cilium: { accessPolicies: "ENABLED" } }),
        ...CLUSTERS.map((cluster, i) => mesh(cluster, trustDomains[cluster], { clusterMesh: hasClusterMesh, clusterId: String(i + 1) })),
        ...CALLED.map((name) => destination(name, "shop", { app: name }, "a")),
        ...CLUSTERS.flatMap((cluster) => gateway(cluster, isOnHost)),
        ...(hasVirtualMesh ? [virtualMesh()] : []),
        ...policies.map((spec, i) => object("networking.mesh.gloo.solo.io/v1", "AccessPolicy", `policy-${i}`, spec)),
      ];
      return { hasClusterMesh, hasVirtualMesh, isOnHost, trustDomains, resources };
    });
}

function accessPolicy(): fc.Arbitrary<object> {
  const reference = fc.record({
    name: fc.constantFrom("", ...ACCOUNTS),
    namespace: fc.constantFrom("", ...NAMESPACES),
    clusterName: fc.constantFrom("", ...CLUSTERS),
  });
  const refs = fc.record({ serviceAccounts: fc.array(reference, { minLength: 1, maxLength: 3 }) });
  const matcher = fc.record({ namespaces: fc.subarray([...NAMESPACES]), clusters: fc.subarray([...CLUSTERS]) });
  const entry = fc.record({ kubeIdentityMatcher: matcher, kubeServiceAccountRefs: refs }, { requiredKeys: [] });
  return fc.record(
    {
      destinationSelector: fc
        .subarray([...CALLED], { minLength: 1 })
        .map((names) => [{ kubeServiceRefs: { services: names.map((name) => ({ name, namespace: "shop", clusterName: "a" })) } }]),
      sourceSelector: fc.array(entry, { minLength: 1, maxLength: 2 }),
      allowedPorts: fc.subarray([...PORTS]),
      allowedMethods: fc.subarray(["GET"]),
      allowedPaths: fc.subarray(["/cart*"]),
    },
    { requiredKeys: ["destinationSelector"] },
  );
}

function mesh(cluster: string, trustDomain: string, cilium: object): AnyResource {
  return object("discovery.mesh.gloo.solo.io/v1", "Mesh", `istiod-${cluster}`, {
    istio: { installation: { namespace: "istio-system", cluster }, trustDomain },
    cilium: { version: "1.20.2", namespace: "kube-system", clusterName: `prod-${cluster}`, ...cilium },
  });
}

function destination(name: string, namespace: string, labels: object, cluster: string, more: object = {}): AnyResource {
  const ref = { name, namespace, clusterName: cluster };
  const kubeService = { ref, workloadSelectorLabels: labels, labels, ports: [{ port: 8080, name: "http", protocol: "TCP" }], ...more };
  return object("discovery.mesh.gloo.solo.io/v1", "Destination", `${name}-${namespace}-${cluster}`, {
    kubeService,
    mesh: { name: `istiod-${cluster}`, namespace: "gloo-mesh" },
  });
}

function gateway(cluster: string, hostNetwork: boolean): readonly AnyResource[] {
  const labels = { istio: "ingressgateway" };
  const ports = [{ port: 15443, name: "tls", protocol: "TCP", targetPortNumber: 15443, nodePort: 32443 }];
  const more = { ports, serviceType: "LOAD_BALANCER", externalAddresses: [{ ip: "198.51.100.1" }] };
  const controller = { name: "istio-ingressgateway", namespace: GATEWAYS, clusterName: cluster };
  return [
    destination("istio-ingressgateway", GATEWAYS, labels, cluster, more),
    object("discovery.mesh.gloo.solo.io/v1", "Workload", `gateway-${cluster}`, {
      kubernetes: { controller, podLabels: labels, serviceAccountName: "gateway", ...(hostNetwork ? { hostNetwork } : {}) },
      mesh: { name: `istiod-${cluster}`, namespace: "gloo-mesh" },
    }),
  ];
}

function virtualMesh(): AnyResource {
  return object("networking.mesh.gloo.solo.io/v1", "VirtualMesh", "shop", {
    meshes: CLUSTERS.map((cluster) => ({ name: `istiod-${cluster}`, namespace: "gloo-mesh" })),
    federation: { selectors: [{}] },
    mtlsConfig: { limited: {} },
  });
}

function object(apiVersion: string, kind: string, name: string, spec: object): AnyResource {
  return { apiVersion, kind, metadata: { name, namespace: "gloo-mesh" }, spec } as AnyResource;
}
