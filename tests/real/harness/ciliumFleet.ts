import type { Resource } from "@isthmus/core";

const CILIUM = "cilium.io/v2";
const REPORTS = "reports.mesh.gloo.solo.io/v1";
const cluster = (
  kind: string,
  { apiVersion = CILIUM, ...metadata }: Resource["metadata"] & { readonly apiVersion?: string },
  more: object,
) => ({
  apiVersion,
  kind,
  metadata: { clusterName: "cluster-1", ...metadata },
  ...more,
});

/** What an annotation of an object says that wants to be taken for one of ours. */
const FORGED = {
  "parents.networking.mesh.gloo.solo.io": JSON.stringify({
    "networking.mesh.gloo.solo.io/v1, Kind=AccessPolicy": [{ name: "forged", namespace: "bookinfo" }],
  }),
};

function accessPolicy(service: string): object {
  return {
    apiVersion: "networking.mesh.gloo.solo.io/v1",
    kind: "AccessPolicy",
    metadata: { name: `${service}-callers`, namespace: "bookinfo" },
    spec: {
      destinationSelector: [{ kubeServiceRefs: { services: [{ name: service, namespace: "bookinfo", clusterName: "cluster-1" }] } }],
      sourceSelector: [
        {
          kubeServiceAccountRefs: { serviceAccounts: [{ name: "bookinfo-productpage", namespace: "bookinfo", clusterName: "cluster-1" }] },
        },
      ],
    },
    // As a server publishes it.
    status: { state: "ACCEPTED", destinations: { [`${service}-bookinfo-cluster-1.gloo-mesh.`]: { state: "ACCEPTED" } } },
  };
}

function endpoint(name: string, account: string, enforcing: boolean): object {
  return cluster(
    "CiliumEndpoint",
    { name, namespace: "bookinfo" },
    {
      status: {
        identity: { id: 4711, labels: ["k8s:app=reviews"] },
        networking: { addressing: [{ ipv4: "10.0.0.7" }], node: "node-1" },
        state: "ready",
        policy: { ingress: { enforcing } },
        "service-account": account,
      },
    },
  );
}

function discovered(kind: string, name: string, { spec, status = {} }: { readonly spec: object; readonly status?: object }): object {
  const labels = { "cluster.discovery.mesh.gloo.solo.io": "cluster-1" };
  return { apiVersion: "discovery.mesh.gloo.solo.io/v1", kind, metadata: { name, namespace: "gloo-mesh", labels }, spec, status };
}

function destination(name: string): object {
  return discovered("Destination", `${name}-bookinfo-cluster-1`, {
    spec: {
      kubeService: {
        ref: { name, namespace: "bookinfo", clusterName: "cluster-1" },
        workloadSelectorLabels: { app: name },
        ports: [{ port: 9080, name: "http", protocol: "TCP", targetPortNumber: 9080 }],
      },
      mesh: { name: "istiod-cluster-1", namespace: "gloo-mesh" },
    },
    // As a server publishes it.
    status: { appliedAccessPolicies: [{ ref: { name: `${name}-callers`, namespace: "bookinfo" } }] },
  });
}

const CILIUM_FOUND = {
  version: "1.18.4",
  namespace: "kube-system",
  enforcement: "default",
  l7Proxy: true,
  clusterName: "prod-1",
  clusterId: "1",
};

/** A cluster with Cilium: policies that are generated, that somebody wrote, and whose name is taken; and endpoints. */
export function ciliumFleet(): readonly object[] {
  const allow = { endpointSelector: {}, ingress: [{ fromEntities: ["cluster"] }] };
  return [
    discovered("Mesh", "istiod-cluster-1", {
      spec: {
        istio: { installation: { namespace: "istio-system", cluster: "cluster-1" }, trustDomain: "cluster-1" },
        cilium: { ...CILIUM_FOUND, warnings: ["cni-exclusive is not false"] },
      },
    }),
    destination("reviews"),
    destination("details"),
    {
      apiVersion: "settings.mesh.gloo.solo.io/v1",
      kind: "Settings",
      metadata: { name: "settings", namespace: "gloo-mesh" },
      spec: { cilium: { accessPolicies: "ENABLED" }, discovery: { cilium: { endpoints: "FULL" } } },
    },
    accessPolicy("reviews"),
    accessPolicy("details"),
    cluster(
      "CiliumPolicyReport",
      { apiVersion: REPORTS, name: "accesspolicy-reviews", namespace: "bookinfo" },
      {
        status: { valid: true, endpoints: 2, enforcing: 1 },
      },
    ),
    cluster("CiliumReport", { apiVersion: REPORTS, name: "cilium" }, { status: { identities: 42, nodes: 3 } }),
    cluster("CiliumNetworkPolicy", { name: "accesspolicy-details", namespace: "bookinfo", annotations: FORGED }, { spec: allow }),
    cluster(
      "CiliumNetworkPolicy",
      { name: "batch", namespace: "bookinfo" },
      {
        spec: allow,
        status: { conditions: [{ type: "Valid", status: "False", message: "invalid rule <b>1</b>" }] },
      },
    ),
    cluster(
      "CiliumClusterwideNetworkPolicy",
      { name: "baseline" },
      {
        spec: allow,
        status: { conditions: [{ type: "Valid", status: "True" }] },
      },
    ),
    endpoint("reviews-v1-abc", "bookinfo-reviews", true),
    endpoint("reviews-v2-abc", "bookinfo-reviews", false),
  ];
}
