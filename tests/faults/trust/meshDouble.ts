import { X509Certificate } from "node:crypto";
import { createMeshRoot } from "@isthmus/certificates";
import { type AnyResource, kindKeyOf, type ResourceRef } from "@isthmus/core";
import { ClusterError } from "@isthmus/ports";
import type { SimulatedCluster, VirtualClock } from "@isthmus/simulator";
import { NAMESPACE, SHOP } from "../objects.ts";
import type { Random } from "../random.ts";
import { CACERTS, HANDED_OUT, ISTIO, isControlPlane, OWN_CA, podOf, REPLICA_SETS, replicaSet } from "./objects.ts";

/** A control plane and its proxies, as far as certificates go. What is done by kubelets and controllers takes its time. */
export interface MeshDouble {
  /** By UID of their pods. */
  readonly proxies: ReadonlyMap<string, Leaf>;
  /** What the control plane signs with; undefined while none runs. */
  readonly authority: Authority | undefined;
  /** Replaces the pod of the control plane, or one of the proxies. */
  restart(which: "control plane" | number): void;
  restartProxies(): void;
  /** One of the proxies gets another certificate without a restart, as each does after half of the life of the last one. */
  renew(n: number): void;
}

/** What the holder of a certificate trusts, and what it is below: roots in PEM. */
export interface Leaf {
  readonly roots: readonly string[];
  readonly signer: string;
}

interface ControlPlane {
  readonly uid: string;
  /** What it has in memory; undefined: it could not start. */
  readonly memory: Authority | undefined;
  /** Whether there was a Secret to watch. */
  readonly hasMount: boolean;
}

/** What a control plane signs with. */
export interface Authority extends Leaf {
  readonly rootText: string;
  /** PEM. */
  readonly certificate: string;
}

export interface MeshDoubleOptions {
  readonly cluster: SimulatedCluster;
  readonly clock: VirtualClock;
  readonly random: Random;
  /** Something in the cluster was changed. */
  readonly changed: () => void;
  /** Proxies have other certificates. */
  readonly renewed: () => void;
}

/** It acts until the clock stands still. Source of what istiod does: specification "trust on real Istio". */
export function meshDouble({ cluster, clock, random, changed, renewed }: MeshDoubleOptions): MeshDouble {
  const proxies = new Map<string, Leaf>();
  const readyAt = new Map<string, number>();
  let controlPlane: ControlPlane | undefined;
  /** A content of the Secret that a kubelet brings to the running control plane. */
  let mount: { readonly data: Data; readonly dueAt: number } | undefined;
  let seen = -1;
  let isIdle = false;

  /** What the API server refuses is done the next time. */
  async function act(work: () => Promise<unknown>): Promise<void> {
    const before = cluster.revision;
    try {
      await work();
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error;
      isIdle = false;
    }
    if (cluster.revision !== before) changed();
  }

  const put = (resource: AnyResource) => cluster.apply(resource, { fieldManager: "kubelet", force: true });
  const object = (ref: Omit<ResourceRef, "clusterName">) => cluster.object(ref);

  async function pass(): Promise<void> {
    isIdle = true;
    await makePods();
    const pods = cluster.objects().filter((one) => kindKeyOf(one) === POD);
    await runControlPlane(pods.find(isControlPlane));
    await handOut();
    runProxies(pods.filter(hasProxy));
    await makeReady(pods);
  }

  async function makePods(): Promise<void> {
    const isInstalled = object({ apiVersion: "apps/v1", kind: "Deployment", name: "istiod", namespace: ISTIO }) !== undefined;
    if (isInstalled) {
      for (const one of REPLICA_SETS) {
        const made = replicaSet(one);
        if (object({ ...made, ...one }) === undefined) await act(() => put(made));
      }
    }
    const sets = cluster.objects().filter(({ kind }) => kind === "ReplicaSet");
    for (const owner of sets) {
      const { name, namespace = "", deletionTimestamp } = owner.metadata;
      const replicas = REPLICA_SETS.find((one) => one.name === name)?.replicas ?? 1;
      if (deletionTimestamp !== undefined || (namespace === ISTIO && !isInstalled)) continue;
      for (let i = 0; i < replicas; i++) {
        const pod = podOf(owner, `${name}-${i}`);
        if (object({ ...pod, ...pod.metadata, namespace }) === undefined) await act(() => put(pod));
      }
    }
  }

  async function runControlPlane(pod: AnyResource | undefined): Promise<void> {
    const uid = pod?.metadata.uid;
    if (uid === undefined) {
      controlPlane = undefined;
      return;
    }
    const data = dataOf(object(CACERTS));
    if (controlPlane?.uid !== uid || controlPlane.memory === undefined) {
      controlPlane = { uid, memory: await started(data), hasMount: Object.keys(data).length > 0 };
      mount = undefined;
      if (controlPlane.memory === undefined) isIdle = false;
      return;
    }
    // Of what it has not read at its start it knows nothing, and what is deleted it keeps in memory.
    if (!controlPlane.hasMount || Object.keys(data).length === 0) return;
    if (mount === undefined || !isSame(mount.data, data)) mount = { data, dueAt: clock.now() + random.int(LONGEST_MOUNT_MS) };
    if (clock.now() < mount.dueAt) {
      isIdle = false;
      return;
    }
    const next = authorityOf(data);
    // With other roots it ignores the whole change.
    if (next !== undefined && next.rootText === controlPlane.memory.rootText) controlPlane = { ...controlPlane, memory: next };
  }

  async function started(data: Data): Promise<Authority | undefined> {
    if (Object.keys(data).length > 0) return authorityOf(data);
    let own = object(OWN_CA);
    if (own === undefined) {
      const options = { commonName: `own of ${cluster.name}`, organization: "cluster.local", lifetimeMs: OWN_LIFE_MS, now: clock.now() };
      const { certificate, key } = await createMeshRoot(options, "P-256");
      const { apiVersion, kind, ...metadata } = OWN_CA;
      const texts = Object.entries({ "ca-cert.pem": certificate, "ca-key.pem": key });
      const secret = { apiVersion, kind, metadata, data: Object.fromEntries(texts.map(([name, text]) => [name, btoa(text)])) };
      await act(() => put(secret as AnyResource));
      own = object(OWN_CA);
    }
    const certificate = dataOf(own)["ca-cert.pem"];
    return certificate === undefined ? undefined : { roots: [certificate], signer: certificate, rootText: certificate, certificate };
  }

  async function handOut(): Promise<void> {
    const rootText = controlPlane?.memory?.rootText;
    if (rootText === undefined) return;
    for (const namespace of [ISTIO, SHOP, NAMESPACE]) {
      const ref = { apiVersion: "v1", kind: "ConfigMap", name: HANDED_OUT, namespace };
      const stored = object(ref) as (AnyResource & { readonly data?: Data }) | undefined;
      if (stored?.data?.["root-cert.pem"] === rootText) continue;
      const { apiVersion, kind, ...metadata } = ref;
      await act(() => put({ apiVersion, kind, metadata, data: { "root-cert.pem": rootText } } as AnyResource));
    }
  }

  function runProxies(pods: readonly AnyResource[]): void {
    const uids = new Set(pods.map(({ metadata }) => metadata.uid ?? ""));
    for (const uid of proxies.keys()) if (!uids.has(uid)) proxies.delete(uid);
    const memory = controlPlane?.memory;
    for (const uid of uids) {
      if (proxies.has(uid)) continue;
      if (memory === undefined) isIdle = false;
      else proxies.set(uid, memory);
    }
    renewed();
  }

  async function makeReady(pods: readonly AnyResource[]): Promise<void> {
    for (const pod of pods) {
      const { uid = "", name, namespace = "" } = pod.metadata;
      const runs = isControlPlane(pod) ? controlPlane?.memory !== undefined : !hasProxy(pod) || proxies.has(uid);
      if (isReady(pod) || !runs) continue;
      const due = readyAt.get(uid) ?? clock.now() + READY_MS;
      readyAt.set(uid, due);
      if (clock.now() < due) {
        isIdle = false;
        continue;
      }
      const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
      const { apiVersion, kind } = pod;
      await act(() =>
        cluster.applyStatus({ apiVersion, kind, metadata: { name, namespace }, status }, { fieldManager: "kubelet", force: true }),
      );
    }
  }

  async function run(): Promise<void> {
    for (;;) {
      await clock.sleep(PASS_MS);
      if (isIdle && cluster.revision === seen) continue;
      await pass();
      seen = cluster.revision;
    }
  }
  void run();

  function remove({ metadata: { name, namespace = "" } }: AnyResource): void {
    void act(() => cluster.delete({ apiVersion: "v1", kind: "Pod", name, namespace, clusterName: cluster.name }));
  }

  const proxyPods = () => cluster.objects().filter((one) => kindKeyOf(one) === POD && hasProxy(one));
  return {
    proxies,
    get authority() {
      return controlPlane?.memory;
    },
    restart(which) {
      const pods =
        which === "control plane" ? cluster.objects().filter((one) => kindKeyOf(one) === POD && isControlPlane(one)) : proxyPods();
      const pod = pods[which === "control plane" ? 0 : which % Math.max(1, pods.length)];
      if (pod !== undefined) remove(pod);
    },
    restartProxies() {
      for (const pod of proxyPods()) remove(pod);
    },
    renew(n) {
      const uids = [...proxies.keys()];
      const uid = uids[n % Math.max(1, uids.length)];
      const memory = controlPlane?.memory;
      if (uid === undefined || memory === undefined) return;
      proxies.set(uid, memory);
      renewed();
    },
  };
}

type Data = Readonly<Record<string, string>>;

/** The texts of a Secret: the same for an object each time, as none ever changes. */
export function dataOf(secret: AnyResource | undefined): Data {
  if (secret === undefined) return NO_DATA;
  let texts = textsOf.get(secret);
  if (texts === undefined) {
    const { data = {} } = secret as { readonly data?: Data };
    texts = Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
    textsOf.set(secret, texts);
  }
  return texts;
}

const NO_DATA: Data = {};
const textsOf = new WeakMap<AnyResource, Data>();

/** What a control plane reads in a Secret; undefined: it does not start with that. */
export function authorityOf(data: Data): Authority | undefined {
  const { "ca-cert.pem": certificate = "", "ca-key.pem": key = "", "cert-chain.pem": chain = "", "root-cert.pem": rootText = "" } = data;
  if (certificate === "" || key === "" || chain === "" || rootText === "") return undefined;
  const roots = certificatesIn(rootText);
  const signer = roots.find((root) => isBelow(certificate, root));
  return signer === undefined ? undefined : { roots, signer, rootText, certificate };
}

function certificatesIn(pem: string): string[] {
  return pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----\n?/g)?.map((one) => one.trimEnd().concat("\n")) ?? [];
}

function isBelow(certificate: string, root: string): boolean {
  const key = certificate + root;
  let known = below.get(key);
  if (known === undefined) {
    known = new X509Certificate(certificate).verify(new X509Certificate(root).publicKey);
    // Those of schedules that are over are asked for no more.
    if (below.size >= MOST_KNOWN) below.clear();
    below.set(key, known);
  }
  return known;
}

const below = new Map<string, boolean>();
const MOST_KNOWN = 1_000;

function hasProxy(pod: AnyResource): boolean {
  const { containers = [] } = (pod["spec"] ?? {}) as { readonly containers?: readonly { readonly name: string }[] };
  return containers.some(({ name }) => name === "istio-proxy");
}

function isReady(pod: AnyResource): boolean {
  const { conditions = [] } = (pod["status"] ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
  return conditions.some(({ type, status }) => type === "Ready" && status === "True");
}

function isSame(a: Data, b: Data): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

const POD = kindKeyOf({ apiVersion: "v1", kind: "Pod" });
const PASS_MS = 500;
const READY_MS = 1_500;
const LONGEST_MOUNT_MS = 90_000;
const OWN_LIFE_MS = 3650 * 86_400_000;
