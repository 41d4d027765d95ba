import { ConfigMap, Pod } from "@isthmus/api";
import { type AnyResource, matchesLabels } from "@isthmus/core";
import { istioSidecar } from "@isthmus/translators";
import type { Cluster } from "../ports/clusterPort.ts";
import type { RestartablePod } from "./podRestarts.ts";

/** What runs of a mesh in its cluster, by the API server's word of this moment. */
export interface MeshPods {
  readonly proxies: readonly RestartablePod[];
  readonly controlPlane: readonly RestartablePod[];
}

/**
 * Lists the pods with a proxy, and those of the control plane. Of a cluster with several control planes all proxies count: one too many
 * delays a step, one too few would break its mesh.
 */
export async function meshPods(
  cluster: Cluster,
  { namespace, labels }: { readonly namespace: string; readonly labels: Readonly<Record<string, string>> },
  signal?: AbortSignal,
): Promise<MeshPods> {
  const { items, malformed } = await cluster.list(Pod, { transform: withStatusOnly }, signal);
  const running = items.filter(isRunning);
  const isOfControlPlane = (pod: Pod) =>
    pod.metadata.namespace === namespace && Object.keys(labels).length > 0 && matchesLabels(labels, pod.metadata.labels);
  const proxies = running.filter(istioSidecar.isInjected).map(restartable);
  // What can't be read may have a proxy, as old as may be.
  const unknown = malformed.map(({ ref: { namespace: of, name } }) => ({ ...UNKNOWN, namespace: of, name }));
  const controlPlane = running.filter(isOfControlPlane).map(restartable);
  return { proxies: [...proxies, ...unknown], controlPlane };
}

/** Whether the control plane has handed out these roots in each of the namespaces: the one sign through the API that it has read them. */
export async function haveRootsArrived(
  cluster: Cluster,
  { namespaces, rootCertificates }: { readonly namespaces: Iterable<string>; readonly rootCertificates: string },
  signal?: AbortSignal,
): Promise<boolean> {
  for (const namespace of namespaces) {
    const configMap = await cluster.get(ConfigMap, { name: "istio-ca-root-cert", namespace }, signal);
    if (configMap?.data?.["root-cert.pem"] !== rootCertificates) return false;
  }
  return true;
}

const UNKNOWN = { uid: "", createdAt: 0, isReady: false, isTerminating: false } as const;

function restartable(pod: Pod): RestartablePod {
  const { name, namespace = "", uid = "", creationTimestamp, deletionTimestamp } = pod.metadata;
  const { ownerReferences } = pod.metadata;
  const owner = Array.isArray(ownerReferences) ? ownerReferences.find(({ controller }) => controller === true) : undefined;
  const isTerminating = deletionTimestamp !== undefined;
  const isReady = !isTerminating && conditionsOf(pod).some(({ type, status }) => type === "Ready" && status === "True");
  const known = owner === undefined ? {} : { owner: { kind: owner.kind, name: owner.name } };
  return { namespace, name, uid, createdAt: createdAt(creationTimestamp), isReady, isTerminating, ...known };
}

interface PodStatus {
  readonly phase?: string;
  readonly conditions?: readonly { readonly type?: string; readonly status?: string }[];
}

/** Of a page of pods no more stays in memory. */
function withStatusOnly(pod: Pod): Pod {
  const { apiVersion, kind, metadata, spec } = pod;
  const { name, namespace, labels, uid, creationTimestamp, deletionTimestamp, ownerReferences } = metadata;
  const { containers, initContainers } = spec ?? {};
  const images = (list: typeof containers) =>
    list?.map(({ name: container, image, restartPolicy }) => ({ name: container, image, restartPolicy }));
  const { phase, conditions } = statusOf(pod);
  const given = Object.entries({ namespace, labels, uid, creationTimestamp, deletionTimestamp, ownerReferences });
  return {
    apiVersion,
    kind,
    metadata: { name, ...Object.fromEntries(given.filter(([, value]) => value !== undefined)) },
    spec: { containers: images(containers), initContainers: images(initContainers) },
    status: { phase, conditions },
  } as Pod;
}

function isRunning(pod: Pod): boolean {
  const { phase } = statusOf(pod);
  return phase !== "Succeeded" && phase !== "Failed";
}

function conditionsOf(pod: Pod): NonNullable<PodStatus["conditions"]> {
  const { conditions } = statusOf(pod);
  return Array.isArray(conditions) ? conditions : [];
}

function statusOf(pod: Pod): PodStatus {
  return ((pod as AnyResource)["status"] ?? {}) as PodStatus;
}

/** A pod without a time is as old as may be. */
function createdAt(timestamp: string | undefined): number {
  const ms = Date.parse(timestamp ?? "");
  return Number.isNaN(ms) ? 0 : ms;
}
