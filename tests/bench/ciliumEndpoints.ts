import { CiliumEndpoint, CiliumPolicyReport } from "@isthmus/api";
import { compact, emptySnapshot, type Index, inCluster, type Resource, type Snapshot } from "@isthmus/core";
import type { BenchmarkOptions, Figures } from "./benchmarks.ts";
import { rounded, timedWithCpu } from "./measure.ts";
import { liveHeapBytes, machineLoad } from "./plane/load.ts";

const PAGE = 200;

/**
 * Bytes of one CiliumEndpoint: as the API server lists it, as an agent sends it where the Settings ask for endpoints, and as an agent holds it
 * in memory; and of the report on a policy, which is all that is sent otherwise.
 */
export function* ciliumEndpointsBenchmark({ smoke, pods = smoke ? 400 : 20_000 }: BenchmarkOptions): Iterable<Figures> {
  const bytes = { listed: 0, sent: 0 };
  const before = liveHeapBytes();
  const [snapshot, , cpuMs] = timedWithCpu(() => {
    let now: Snapshot = emptySnapshot();
    // In pages, as agents read lists: what is listed is not held.
    for (let from = 0; from < pods; from += PAGE) {
      const put = Array.from({ length: Math.min(PAGE, pods - from) }, (_, i) => {
        const listed = JSON.stringify(endpointAt(from + i));
        const kept = keptOf(listed);
        bytes.listed += listed.length;
        bytes.sent += JSON.stringify(kept).length;
        return kept;
      });
      now = now.apply({ put, remove: [] });
    }
    return now;
  });
  const count = snapshot.of(CiliumEndpoint).size;
  // As it is looked up.
  snapshot.of(CiliumEndpoint).where(byNamespace, "namespace-0");
  const heapBytes = liveHeapBytes() - before;
  yield {
    name: "cilium-endpoints",
    endpoints: count,
    listedBytes: Math.round(bytes.listed / count),
    sentBytes: Math.round(bytes.sent / count),
    heapBytes: Math.round(heapBytes / count),
    reportBytes: JSON.stringify(REPORT).length,
    readCpuUs: rounded((cpuMs * 1_000) / count),
    load: machineLoad(),
  };
}

const byNamespace: Index<Resource> = ({ metadata }) => [metadata.namespace ?? ""];

/** What is kept of an endpoint, as informers do it. */
function keptOf(text: string): Resource {
  const listed = inCluster(CiliumEndpoint.parse(JSON.parse(text)), "cluster-1");
  return compact(CiliumEndpoint.project?.(listed) ?? listed);
}

const REPORT: CiliumPolicyReport = {
  apiVersion: CiliumPolicyReport.apiVersion,
  kind: CiliumPolicyReport.kind,
  metadata: { name: "accesspolicy-service-17", namespace: "namespace-3", clusterName: "cluster-1" },
  status: { valid: true, endpoints: 20, enforcing: 20 },
};

const PODS_PER_SERVICE = 20;
const SERVICES_PER_NAMESPACE = 10;
const PODS_PER_NODE = 50;
// Callers that a policy admits, as Cilium lists them with their labels.
const ALLOWED = 4;

/** The endpoint of a pod, as Cilium 1.20 writes it. Source: github.com/cilium/cilium pkg/k8s/apis/cilium.io/v2, types.go. */
function endpointAt(n: number): object {
  const service = Math.floor(n / PODS_PER_SERVICE);
  const node = Math.floor(n / PODS_PER_NODE);
  const namespace = `namespace-${Math.floor(service / SERVICES_PER_NAMESPACE)}`;
  const name = `service-${service}-7d9c8f5b64-${(n * 7919).toString(36).padStart(5, "x")}`;
  const uid = `${n.toString(16).padStart(8, "0")}-6c1f-4f0e-9a57-0123456789ab`;
  const labelsOf = (of: number) => [
    `k8s:app=service-${of}`,
    `k8s:io.cilium.k8s.namespace.labels.kubernetes.io/metadata.name=${namespace}`,
    "k8s:io.cilium.k8s.policy.cluster=default",
    `k8s:io.cilium.k8s.policy.serviceaccount=service-${of}`,
    `k8s:io.kubernetes.pod.namespace=${namespace}`,
    "k8s:version=v1",
  ];
  const peers = (first: number) =>
    Array.from({ length: ALLOWED }, (_, i) => ({ identity: 20_000 + first + i, "identity-labels": identityText(labelsOf(first + i)) }));
  const metadata = {
    name,
    namespace,
    uid,
    resourceVersion: String(1_000_000 + n),
    generation: 1 + (n % 9),
    creationTimestamp: "2026-01-01T00:00:00Z",
    labels: { app: `service-${service}`, "pod-template-hash": "7d9c8f5b64", version: "v1" },
    ownerReferences: [{ apiVersion: "v1", kind: "Pod", name, uid }],
    managedFields: [
      { manager: "cilium-agent", operation: "Update", apiVersion: "cilium.io/v2", time: "2026-01-01T00:00:00Z", fieldsV1: {} },
    ],
  };
  const status = {
    encryption: {},
    "external-identifiers": { "cni-attachment-id": `${uid}:eth0`, "container-id": uid, "k8s-namespace": namespace, "k8s-pod-name": name },
    id: n % 4096,
    identity: { id: 20_000 + service, labels: labelsOf(service) },
    log: [{ code: "OK", message: "Successfully regenerated endpoint program (Reason: policy rules updated)", state: "ready" }],
    "named-ports": [{ name: "http", port: 8080, protocol: "TCP" }],
    networking: {
      addressing: [{ ipv4: `10.${(node >> 8) & 255}.${node & 255}.${n % PODS_PER_NODE}` }],
      node: `172.18.${node >> 8}.${node & 255}`,
    },
    policy: {
      ingress: { allowed: peers(service + 1), enforcing: true, state: "enforcing" },
      egress: { allowed: [{ identity: 0 }], enforcing: false, state: "disabled" },
    },
    "service-account": `service-${service}`,
    state: "ready",
  };
  return { apiVersion: CiliumEndpoint.apiVersion, kind: CiliumEndpoint.kind, metadata, status };
}

function identityText(labels: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(labels.map((label) => [label.slice(0, label.indexOf("=")), label.slice(label.indexOf("=") + 1)]));
}
