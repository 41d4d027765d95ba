import { ConfigMap, Mesh, Pod, REVISION_ANNOTATION, SIDECAR_STATUS_ANNOTATION } from "@isthmus/api";
import { type AnyResource, matchesLabels } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { INFRASTRUCTURE_NAMESPACES, isNodeProxy, istioSidecar } from "@isthmus/translators";
import { type RestartablePod, workloadOf } from "./podRestarts.ts";

/** What runs of a mesh in its cluster, by the API server's word of this moment. */
export interface MeshPods {
  readonly proxies: readonly RestartablePod[];
  /** Pods with a proxy that are left out of a change of root: nobody waits for them. Default: none. */
  readonly left?: readonly RestartablePod[];
  readonly controlPlane: readonly RestartablePod[];
  /** Names of the pods of ztunnel, the proxy of each node in ambient mode. */
  readonly nodeProxies: readonly string[];
  /** Whether all replicas of the control plane take over several roots while they run. */
  readonly isMultiRoot: boolean;
}

/** The control planes of a cluster, of which those in one namespace read one Secret. */
export interface ControlPlanes {
  readonly namespace: string;
  readonly all: readonly ControlPlane[];
}

interface ControlPlane {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * Lists the pods with a proxy, and those of the control planes in a namespace. Of a cluster with several control planes all proxies
 * count: one too many delays a step, one too few would break its mesh.
 */
export async function meshPods(cluster: Cluster, { namespace, all }: ControlPlanes, signal?: AbortSignal): Promise<MeshPods> {
  const { items, malformed } = await cluster.list(Pod, { transform: withStatusOnly }, signal);
  const running = items.filter(isRunning);
  const own = all.filter((one) => one.namespace === namespace && Object.keys(one.labels).length > 0);
  const isOfControlPlane = ({ metadata }: Pod) =>
    metadata.namespace === namespace && own.some(({ labels }) => matchesLabels(labels, metadata.labels));
  const meshes = all.map(meshOf);
  const isOfOther = (pod: Pod) => (istioSidecar.meshOf(pod, meshes)?.spec?.istio?.installation?.namespace ?? namespace) !== namespace;
  const proxies = running
    .filter(istioSidecar.isInjected)
    .map((pod): RestartablePod => (isOfOther(pod) ? { ...restartable(pod), isOfOther: true } : restartable(pod)));
  // What can't be read may have a proxy, as old as may be.
  const unknown = malformed.map(({ ref: { namespace: of, name } }) => ({ ...UNKNOWN, namespace: of, name }));
  const controlPlane = running.filter(isOfControlPlane);
  return {
    proxies: [...proxies, ...unknown],
    controlPlane: controlPlane.map(restartable),
    nodeProxies: running.filter((pod) => isNodeProxy(pod) && mayBeNodeProxy(pod, all)).map(({ metadata }) => metadata.name),
    isMultiRoot: controlPlane.length > 0 && controlPlane.every(hasMultiRoot),
  };
}

/** Where no tenant runs pods: one who labels pods like a ztunnel would otherwise stop changes of the root. */
function mayBeNodeProxy({ metadata: { namespace = "" } }: Pod, planes: readonly ControlPlane[]): boolean {
  return INFRASTRUCTURE_NAMESPACES.has(namespace) || planes.some((plane) => plane.namespace === namespace);
}

/** Whether all replicas of a control plane take over several roots while they run; undefined while there is none. */
export async function isMultiRootMesh(
  cluster: Cluster,
  { namespace, all }: ControlPlanes,
  signal?: AbortSignal,
): Promise<boolean | undefined> {
  const { items } = await cluster.list(Pod, { namespace, transform: withStatusOnly }, signal);
  const own = all.filter((one) => one.namespace === namespace && Object.keys(one.labels).length > 0);
  const pods = items.filter((pod) => isRunning(pod) && own.some(({ labels }) => matchesLabels(labels, pod.metadata.labels)));
  return pods.length === 0 ? undefined : pods.every(hasMultiRoot);
}

/** Source: Istio, pilot/pkg/features/security.go. A value that is not written in the pod itself is unknown, which is not on. */
function hasMultiRoot(pod: Pod): boolean {
  const containers = (pod.spec?.containers ?? []) as readonly { readonly env?: readonly EnvVar[] }[];
  return containers.some(({ env = [] }) => env.some(({ name, value }) => name === MULTI_ROOT && TRUE.has(String(value))));
}

interface EnvVar {
  readonly name?: string;
  readonly value?: unknown;
}

const MULTI_ROOT = "ISTIO_MULTIROOT_MESH";
// As Go reads a boolean.
const TRUE = new Set(["1", "t", "T", "true", "TRUE", "True"]);

/** Whether the control plane has handed out these roots in each of the namespaces: the one sign through the API that it has read them. */
export async function haveRootsArrived(
  cluster: Cluster,
  { namespaces, rootCertificates }: { readonly namespaces: Iterable<string>; readonly rootCertificates: string },
  signal?: AbortSignal,
): Promise<boolean> {
  for (const namespace of namespaces) {
    if ((await rootsHandedOut(cluster, namespace, signal)) !== rootCertificates) return false;
  }
  return true;
}

/** The roots that the control plane hands out in a namespace, PEM; undefined where it hands out none. */
export async function rootsHandedOut(cluster: Cluster, namespace: string, signal?: AbortSignal): Promise<string | undefined> {
  const configMap = await cluster.get(ConfigMap, { name: "istio-ca-root-cert", namespace }, signal);
  return configMap?.data?.["root-cert.pem"];
}

const UNKNOWN = { uid: "", createdAt: 0, isReady: false, isTerminating: false } as const;

/** As discovery sees it: by its revision it knows which proxies are its own. */
function meshOf({ name, namespace, labels }: ControlPlane): Mesh {
  const spec = { istio: { installation: { namespace, podLabels: labels } } };
  return { apiVersion: Mesh.apiVersion, kind: Mesh.kind, metadata: { name }, spec };
}

function restartable(pod: Pod): RestartablePod {
  const { name, namespace = "", uid = "", creationTimestamp, deletionTimestamp } = pod.metadata;
  const { ownerReferences, labels } = pod.metadata;
  const owner = Array.isArray(ownerReferences) ? ownerReferences.find(({ controller }) => controller === true) : undefined;
  const isTerminating = deletionTimestamp !== undefined;
  const isReady = !isTerminating && conditionsOf(pod).some(({ type, status }) => type === "Ready" && status === "True");
  const { podIP } = statusOf(pod);
  const known = {
    ...(owner === undefined ? {} : { owner: workloadOwner(owner, labels) }),
    ...(typeof podIP === "string" && podIP !== "" ? { address: podIP } : {}),
  };
  return { namespace, name, uid, createdAt: createdAt(creationTimestamp), isReady, isTerminating, ...known };
}

/** The Deployment behind a ReplicaSet, whose name is that of the Deployment and the hash of its pod template. */
function workloadOwner({ kind, name }: { readonly kind: string; readonly name: string }, labels: Pod["metadata"]["labels"]) {
  const suffix = `-${labels?.["pod-template-hash"] ?? ""}`;
  const isOfDeployment = kind === "ReplicaSet" && suffix.length > 1 && name.length > suffix.length && name.endsWith(suffix);
  return isOfDeployment ? { kind: "Deployment", name: name.slice(0, -suffix.length) } : { kind, name };
}

/** Sorts out the proxies of workloads, `namespace/name`, that are left out of a change of root. */
export function withoutLeft(pods: MeshPods, workloads: readonly string[]): MeshPods {
  if (workloads.length === 0) return pods;
  const isLeft = (pod: RestartablePod) => workloads.includes(workloadOf(pod));
  return { ...pods, proxies: pods.proxies.filter((pod) => !isLeft(pod)), left: pods.proxies.filter(isLeft) };
}

interface PodStatus {
  readonly phase?: string;
  readonly podIP?: string;
  readonly conditions?: readonly { readonly type?: string; readonly status?: string }[];
}

/** Of a page of pods no more stays in memory. */
function withStatusOnly(pod: Pod): Pod {
  const { apiVersion, kind, metadata, spec } = pod;
  const { name, namespace, labels, annotations: noted, uid, creationTimestamp, deletionTimestamp, ownerReferences } = metadata;
  const { containers, initContainers } = spec ?? {};
  const images = (list: typeof containers) =>
    list?.map((one) => ({ name: one.name, image: one.image, restartPolicy: one.restartPolicy, ...multiRootOf(one) }));
  const { phase, conditions, podIP } = statusOf(pod);
  const revision = [REVISION_ANNOTATION, SIDECAR_STATUS_ANNOTATION].flatMap((key) => {
    const value = noted?.[key];
    return value === undefined ? [] : [[key, value] as const];
  });
  const annotations = revision.length === 0 ? undefined : Object.fromEntries(revision);
  const given = Object.entries({ namespace, labels, annotations, uid, creationTimestamp, deletionTimestamp, ownerReferences });
  return {
    apiVersion,
    kind,
    metadata: { name, ...Object.fromEntries(given.filter(([, value]) => value !== undefined)) },
    spec: { containers: images(containers), initContainers: images(initContainers) },
    status: { phase, conditions, podIP },
  } as Pod;
}

function multiRootOf(container: object): { readonly env?: readonly EnvVar[] } {
  const { env } = container as { readonly env?: unknown };
  const found = Array.isArray(env) ? (env as readonly EnvVar[]).filter((one) => one?.name === MULTI_ROOT) : [];
  return found.length === 0 ? {} : { env: found };
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
