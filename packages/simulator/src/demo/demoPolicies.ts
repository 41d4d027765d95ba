import { AccessLogRecord, AccessPolicy, Settings, TrafficPolicy, VirtualMesh } from "@isthmus/api";

/** Joins both meshes of the demo: every service of each can be called from the other. */
const virtualMesh: VirtualMesh = {
  apiVersion: VirtualMesh.apiVersion,
  kind: VirtualMesh.kind,
  metadata: { name: "bookinfo", namespace: "gloo-mesh" },
  spec: {
    meshes: [
      { name: "istiod-istio-system-cluster-1", namespace: "gloo-mesh" },
      { name: "istiod-istio-system-cluster-2", namespace: "gloo-mesh" },
    ],
    federation: { permissive: {} },
  },
};

const reviews = (clusterName: string) => ({ name: "reviews", namespace: "bookinfo", clusterName });

/** Sends a quarter of the calls to reviews in cluster-1 over to cluster-2. */
const shiftPolicy: TrafficPolicy = {
  apiVersion: TrafficPolicy.apiVersion,
  kind: TrafficPolicy.kind,
  metadata: { name: "reviews-shift", namespace: "bookinfo" },
  spec: {
    destinationSelector: [{ kubeServiceRefs: { services: [reviews("cluster-1")] } }],
    policy: {
      trafficShift: {
        destinations: [
          { kubeService: { ...reviews("cluster-1"), port: 9080 }, weight: 75 },
          { kubeService: { ...reviews("cluster-2"), port: 9080 }, weight: 25 },
        ],
      },
    },
  },
};

/** Refers to a cluster that does not exist, so that it is rejected with the reason. */
const brokenPolicy: TrafficPolicy = {
  apiVersion: TrafficPolicy.apiVersion,
  kind: TrafficPolicy.kind,
  metadata: { name: "ratings-canary", namespace: "bookinfo" },
  spec: {
    destinationSelector: [{ kubeServiceRefs: { services: [{ name: "ratings", namespace: "bookinfo", clusterName: "cluster-1" }] } }],
    policy: {
      trafficShift: {
        destinations: [{ kubeService: { name: "ratings", namespace: "bookinfo", clusterName: "cluster-9", port: 9080 }, weight: 100 }],
      },
    },
  },
};

/** Gives up on reviews after two seconds, in either cluster, and tries three times. */
const timeoutPolicy: TrafficPolicy = {
  apiVersion: TrafficPolicy.apiVersion,
  kind: TrafficPolicy.kind,
  metadata: { name: "reviews-timeout", namespace: "bookinfo" },
  spec: {
    destinationSelector: [{ kubeServiceMatcher: { namespaces: ["bookinfo"], labels: { app: "reviews" } } }],
    policy: { requestTimeout: "2s", retries: { attempts: 3, perTryTimeout: "0.5s" } },
  },
};

/** Lets only reviews, of either cluster, ask for ratings in cluster-2. */
const accessPolicy: AccessPolicy = {
  apiVersion: AccessPolicy.apiVersion,
  kind: AccessPolicy.kind,
  metadata: { name: "ratings-callers", namespace: "bookinfo" },
  spec: {
    sourceSelector: [
      {
        kubeServiceAccountRefs: {
          serviceAccounts: ["cluster-1", "cluster-2"].map((clusterName) => ({
            name: "bookinfo-reviews",
            namespace: "bookinfo",
            clusterName,
          })),
        },
      },
    ],
    destinationSelector: [{ kubeServiceRefs: { services: [{ name: "ratings", namespace: "bookinfo", clusterName: "cluster-2" }] } }],
  },
};

/** Has agents read the metrics of proxies. */
const settings: Settings = {
  apiVersion: Settings.apiVersion,
  kind: Settings.kind,
  metadata: { name: "settings", namespace: "gloo-mesh" },
  spec: { agentServices: { metrics: "ENABLED" } },
};

/** Has the proxies of Bookinfo log what fails. */
const failedRequests: AccessLogRecord = {
  apiVersion: AccessLogRecord.apiVersion,
  kind: AccessLogRecord.kind,
  metadata: { name: "failed-requests", namespace: "gloo-mesh" },
  spec: {
    workloadSelectors: [{ kubeWorkloadMatcher: { namespaces: ["bookinfo"] } }],
    filters: [{ statusCodeMatcher: { value: 400, comparator: "GE" } }],
  },
};

/** What users of the demo ask of its clusters, in the management cluster. */
export const demoPolicies = { settings, failedRequests, virtualMesh, shiftPolicy, timeoutPolicy, brokenPolicy, accessPolicy } as const;
