import type { AuthorizationPolicy } from "@isthmus/api";
import { type AnyResource, matchesLabels, type OutputSet, snapshotOf } from "@isthmus/core";
import { runs } from "@isthmus/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { translateNetworking } from "./translateNetworking.ts";

// Who may do anything in one namespace may call pods gateways, give them any labels, and put any Service in front of them.

const TENANT = "team";
const PORT = 15443;
const LABELS: readonly Readonly<Record<string, string>>[] = [
  { istio: "ingressgateway" },
  { istio: "ingressgateway", app: "istio-ingressgateway" },
  { istio: "eastwestgateway" },
  { istio: "public" },
  { app: "mine" },
];
const labels = fc.constantFrom(...LABELS);

const pods = fc.record({ labels, gateway: fc.boolean(), hostNetwork: fc.boolean() });
const service = fc.record({
  labels,
  type: fc.constantFrom("LOAD_BALANCER", "NODE_PORT", undefined),
  port: fc.constantFrom("tls", "http"),
});
const fleet = fc.record({
  tenantPods: fc.array(pods, { minLength: 1, maxLength: 3 }),
  tenantServices: fc.array(service, { maxLength: 3 }),
  rootNamespace: fc.constantFrom(undefined, "istio-config"),
  noted: fc.option(labels, { nil: undefined }),
  /** A gateway of those who run the mesh, and where. */
  gateway: fc.record({ namespace: fc.constantFrom("istio-system", "istio-ingress"), labels }),
  hasOtherMesh: fc.boolean(),
  selectsByLabels: fc.boolean(),
});
type Fleet = typeof fleet extends fc.Arbitrary<infer F> ? F : never;

const MESH = { name: "istiod-a", namespace: "gloo-mesh" };

function workload(name: string, namespace: string, { labels: podLabels, gateway, hostNetwork }: Fleet["tenantPods"][number]): AnyResource {
  const kubernetes = { controller: { name, namespace, clusterName: "a" }, podLabels, gateway, hostNetwork };
  const metadata = { name: `${name}-${namespace}-a-deployment`, namespace: "gloo-mesh" };
  return { apiVersion: "discovery.mesh.gloo.solo.io/v1", kind: "Workload", metadata, spec: { kubernetes, mesh: MESH } };
}

function destination(
  name: string,
  namespace: string,
  { labels: workloadSelectorLabels, type: serviceType, port }: Fleet["tenantServices"][number],
): AnyResource {
  const kubeService = {
    ref: { name, namespace, clusterName: "a" },
    workloadSelectorLabels,
    labels: workloadSelectorLabels,
    ports: [{ port: PORT, name: port, protocol: "TCP", targetPortNumber: PORT, nodePort: 32443 }],
    externalAddresses: [{ ip: "198.51.100.1" }],
    ...(serviceType === undefined ? {} : { serviceType }),
  };
  const metadata = { name: `${name}-${namespace}-a`, namespace: "gloo-mesh" };
  return { apiVersion: "discovery.mesh.gloo.solo.io/v1", kind: "Destination", metadata, spec: { kubeService, mesh: MESH } };
}

function mesh(cluster: string, spec: object): AnyResource {
  const istio = { installation: { namespace: "istio-system", cluster }, trustDomain: cluster, ...spec };
  return {
    apiVersion: "discovery.mesh.gloo.solo.io/v1",
    kind: "Mesh",
    metadata: { name: `istiod-${cluster}`, namespace: "gloo-mesh" },
    spec: { istio },
  };
}

function policiesIn({ tenantPods, tenantServices, rootNamespace, noted, gateway, hasOtherMesh, selectsByLabels }: Fleet) {
  const ingressGateways =
    noted === undefined
      ? {}
      : { ingressGateways: [{ name: "gateway", namespace: "istio-system", workloadLabels: noted, ip: "198.51.100.9" }] };
  const byLabels = {
    eastWestIngressGatewaySelectors: [{ destinationSelectors: [{ kubeServiceMatcher: { labels: { istio: "ingressgateway" } } }] }],
  };
  const meshes = [
    mesh("a", { ...ingressGateways, ...(rootNamespace === undefined ? {} : { rootNamespace }) }),
    ...(hasOtherMesh ? [mesh("b", {})] : []),
  ];
  const virtualMesh = {
    apiVersion: "networking.mesh.gloo.solo.io/v1",
    kind: "VirtualMesh",
    metadata: { name: "all", namespace: "gloo-mesh" },
    spec: {
      meshes: meshes.map(({ metadata: { name, namespace } }) => ({ name, namespace })),
      globalAccessPolicy: "ENABLED",
      ...(selectsByLabels ? { federation: byLabels } : {}),
    },
  };
  const { outputs } = translateNetworking(
    snapshotOf([
      ...meshes,
      virtualMesh,
      workload("own", gateway.namespace, { labels: gateway.labels, gateway: true, hostNetwork: false }),
      destination("own", gateway.namespace, { labels: gateway.labels, type: "LOAD_BALANCER", port: "http" }),
      ...tenantPods.map((one, i) => workload(`pods-${i}`, TENANT, one)),
      ...tenantServices.map((one, i) => destination(`service-${i}`, TENANT, one)),
    ]),
    { namespace: "gloo-mesh" },
  );
  const policies = [...(outputs as OutputSet)].flatMap(({ resource }) =>
    resource.kind === "AuthorizationPolicy" ? [resource as AuthorizationPolicy] : [],
  );
  return policies.filter(({ metadata }) => metadata.clusterName === "a");
}

/** Istio's answer for callers without an identity. Source: istio.io/docs/concepts/security, Implicit enablement. */
function letsIn(
  policies: readonly AuthorizationPolicy[],
  pod: { readonly namespace: string; readonly labels: object; readonly port: number; readonly root: string },
): boolean {
  const about = policies.filter(
    ({ metadata, spec }) =>
      (metadata.namespace === pod.namespace || metadata.namespace === pod.root) &&
      matchesLabels(spec?.selector?.matchLabels ?? {}, pod.labels as Record<string, string>),
  );
  const matches = ({ spec }: AuthorizationPolicy) =>
    (spec?.rules ?? []).some(
      ({ from, to = [] }) =>
        from === undefined &&
        (to.length === 0 ||
          to.some(
            ({ operation: { ports, notPorts } = {} }) =>
              (ports === undefined || ports.includes(String(pod.port))) && notPorts?.includes(String(pod.port)) !== true,
          )),
    );
  const of = (action: string) => about.filter(({ spec }) => (spec?.action ?? "ALLOW") === action);
  if (of("DENY").some(matches)) return false;
  return of("ALLOW").length === 0 || of("ALLOW").some(matches);
}

function check(property: (given: Fleet) => void): void {
  fc.assert(fc.property(fleet, property), { numRuns: runs(400) });
}

test("whatever a tenant of one namespace runs there, closed access lets nobody from outside in", () => {
  check((given) => {
    const policies = policiesIn(given);
    const root = given.rootNamespace ?? "istio-system";
    for (const { labels } of given.tenantPods) {
      expect(letsIn(policies, { namespace: TENANT, labels, port: 8080, root })).toBe(false);
      // Another mesh may come through a Service of the tenant, where the VirtualMesh leaves that open, but only there.
      if (!given.hasOtherMesh) expect(letsIn(policies, { namespace: TENANT, labels, port: PORT, root })).toBe(false);
    }
  });
});

test("the gateway of those who run the mesh stays open meanwhile", () => {
  check((given) => {
    const root = given.rootNamespace ?? "istio-system";
    expect(letsIn(policiesIn(given), { ...given.gateway, port: 8080, root })).toBe(true);
  });
});
