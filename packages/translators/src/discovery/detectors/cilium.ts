import { CILIUM_CONFIG_NAME, type CiliumInstallation, type ConfigMap, type DaemonSet, type Deployment } from "@isthmus/api";
import { keyOf } from "@isthmus/core";
import { namespaceLocationOf } from "../../policy/podIndexes.ts";
import { imageVersion } from "../image.ts";
import { withoutZeroValues } from "../zeroValues.ts";

// Source: docs.cilium.io; the chart cilium, templates/cilium-agent/daemonset.yaml and templates/clustermesh-apiserver/deployment.yaml.
const AGENT_LABELS = { key: "k8s-app", value: "cilium" };
const AGENT_IMAGE = /(^|\/)cilium(-[a-z]+)?(:|@|$)/;
const CLUSTER_MESH = "clustermesh-apiserver";

/** DaemonSets of Cilium by their cluster; others by nothing. */
export function ciliumByCluster(daemonSet: DaemonSet): readonly string[] {
  const labels = daemonSet.spec?.template?.metadata?.labels;
  return labels?.[AGENT_LABELS.key] === AGENT_LABELS.value ? [namespaceLocationOf(daemonSet).clusterName] : [];
}

/** DaemonSets by `keyOf` the ConfigMap that Cilium in their namespace reads. */
export function byCiliumConfig(daemonSet: DaemonSet): readonly string[] {
  return [keyOf({ name: CILIUM_CONFIG_NAME, ...namespaceLocationOf(daemonSet) })];
}

/** DaemonSets by `keyOf` the Deployment that Cilium's Cluster Mesh has in their namespace. */
export function byClusterMesh(daemonSet: DaemonSet): readonly string[] {
  return [keyOf({ name: CLUSTER_MESH, ...namespaceLocationOf(daemonSet) })];
}

/** All that the detection of Cilium in one cluster reads. */
export interface CiliumInputs {
  /** That of its agent. */
  readonly daemonSet: DaemonSet;
  readonly configs: readonly ConfigMap[];
  readonly clusterMeshes: readonly Deployment[];
}

/** Cilium in the cluster of a mesh. */
export function detectCilium({ daemonSet, configs, clusterMeshes }: CiliumInputs): CiliumInstallation {
  const { namespace } = namespaceLocationOf(daemonSet);
  const isBeside = ({ metadata }: { readonly metadata: { readonly namespace?: string } }) => metadata.namespace === namespace;
  const data = configs.find(isBeside)?.data ?? {};
  const images = daemonSet.spec?.template?.spec?.containers?.flatMap(({ image = "" }) => (AGENT_IMAGE.test(image) ? [image] : [])) ?? [];
  const { tag = "", digest = "" } = imageVersion(images[0] ?? "") ?? {};
  return withoutZeroValues({
    version: tag === "" ? digest : tag.replace(/^v(?=\d)/, ""),
    namespace,
    clusterName: data["cluster-name"] ?? "default",
    clusterId: data["cluster-id"] ?? "",
    enforcement: data["enable-policy"] ?? "default",
    l7Proxy: data["enable-l7-proxy"] !== "false",
    clusterMesh: clusterMeshes.some(isBeside),
    identityLabels: data["labels"] ?? "",
    warnings: warningsOf(data),
  });
}

function warningsOf(data: Readonly<Record<string, string>>): readonly string[] {
  return [
    ...(data["enable-policy"] === "never" ? ["enable-policy is never, so no policy is enforced: set it to default"] : []),
    ...(data["allow-localhost"] === "policy"
      ? ["allow-localhost is policy, so probes of the kubelet are refused where policies select pods: set it to auto"]
      : []),
    ...(data["bpf-lb-sock-hostns-only"] === "true" || !isReplacingKubeProxy(data)
      ? []
      : ["bpf-lb-sock-hostns-only is not true, so calls to Services bypass the sidecars of the mesh: set it to true"]),
  ];
}

/** Without it Cilium translates no addresses of Services at sockets. */
function isReplacingKubeProxy(data: Readonly<Record<string, string>>): boolean {
  return ["true", "strict", "partial", "probe"].includes(data["kube-proxy-replacement"] ?? "");
}
