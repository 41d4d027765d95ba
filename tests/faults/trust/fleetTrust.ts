import { createPublicKey, X509Certificate } from "node:crypto";
import { type AnyResource, kindKeyOf, type ResourceRef } from "@isthmus/core";
import type { SimulatedCluster, VirtualClock } from "@isthmus/simulator";
import type { Write } from "../actorPort.ts";
import { MISTAKE_LABEL, NAMESPACE } from "../objects.ts";
import { seededRandom } from "../random.ts";
import { keyWatch } from "./keyWatch.ts";
import { authorityOf, dataOf, type Leaf, type MeshDouble, meshDouble } from "./meshDouble.ts";
import { CACERTS, meshName, OWN_CA, VIRTUAL_MESH } from "./objects.ts";

/** The certificates of meshes in the simulated clusters, and what must hold of them all the time. */
export interface FleetTrust {
  readonly meshes: ReadonlyMap<string, MeshDouble>;
  readonly management: SimulatedCluster;
  /** The date at which the schedule began. */
  readonly began: number;
  /** Where a Secret of a control plane is not as it or its agent left it, or was when all was last at rest: there nothing is promised. */
  readonly tampered: ReadonlySet<string>;
  /** As its agent wrote it last. */
  lastSecret(clusterName: string): AnyResource | undefined;
  /** Says how a write of ours is to be judged; undefined: it is about something else. */
  judge(write: Write): Judgement | undefined;
  /** Somebody may have changed something in a cluster, or in all. */
  observed(clusterName?: string): void;
  /** Whether a text that leaves a process holds a private key. */
  tellsKey(text: Uint8Array | string): boolean;
  watch(watcher: TrustWatcher): void;
  atRest(): void;
}

export interface Judgement {
  readonly rule: "authority overwritten" | "unintended write";
  /** Undefined: it is right. */
  readonly problem: string | undefined;
}

export interface TrustWatcher {
  /** A control plane, a kubelet or a controller has changed a cluster. */
  changed(clusterName: string): void;
  broken(message: string): void;
}

export interface FleetTrustOptions {
  readonly clock: VirtualClock;
  readonly management: SimulatedCluster;
  readonly clusters: ReadonlyMap<string, SimulatedCluster>;
  readonly seed: number;
}

export function fleetTrust({ clock, management, clusters, seed }: FleetTrustOptions): FleetTrust {
  const began = clock.now();
  const watchers: TrustWatcher[] = [];
  const random = seededRandom(seed ^ 0x7257);
  const keys = keyWatch();
  const lastSecrets = new Map<string, AnyResource>();
  /** Contents that agents wrote, by cluster. */
  const written = new Map([...clusters.keys()].map((name) => [name, new Set<string>()]));
  /** CAs that control planes made for themselves, by cluster, also such as somebody has deleted: a control plane continues with it until it restarts. */
  const own = new Map([...clusters.keys()].map((name) => [name, new Set<string>()]));
  const tampered = new Set<string>();
  /** Left by a VirtualMesh that continues without them. */
  const left = new Set<string>();
  /** Pairs that have trusted each other: they must from then on. */
  const friends = new Set<string>();

  const meshes = new Map(
    [...clusters].map(([name, cluster]) => {
      const changed = () => {
        observed(name);
        for (const watcher of watchers) watcher.changed(name);
      };
      return [name, meshDouble({ cluster, clock, random, changed, renewed: () => checkFriends(name) })];
    }),
  );
  for (const [name, cluster] of clusters) remember(name, cluster.object(CACERTS));
  for (const cluster of [management, ...clusters.values()]) learnKeys(cluster);
  for (const name of clusters.keys()) rememberOwn(name);

  function rememberOwn(name: string): void {
    const certificate = dataOf(clusters.get(name)?.object(OWN_CA))["ca-cert.pem"];
    if (certificate !== undefined) own.get(name)?.add(certificate);
  }

  /** Whether nothing stored says which CA the control plane signs with, though it has made one: it does not store it again before it restarts. */
  function isDeletedOwn(name: string, cluster: SimulatedCluster): boolean {
    return own.get(name)?.size !== 0 && cluster.object(OWN_CA) === undefined && cluster.object(CACERTS) === undefined;
  }

  function learnKeys(cluster: SimulatedCluster): void {
    for (const object of cluster.objects()) if (kindKeyOf(object) === SECRET) keys.learn(dataOf(object));
  }

  function remember(name: string, secret: AnyResource | undefined): void {
    if (secret === undefined) return;
    lastSecrets.set(name, secret);
    written.get(name)?.add(contentOf(secret));
    keys.learn(dataOf(secret));
  }

  function judge({ cluster: name, verb, ref, before, after }: Write): Judgement | undefined {
    const rule = "authority overwritten";
    const isSecret = kindKeyOf(ref) === SECRET;
    if (name === "") {
      if (!isSecret) return undefined;
      keys.learn(dataOf(after));
      return { rule, problem: verb === "create" ? undefined : "a root is made once, and stays" };
    }
    if (kindKeyOf(ref) === POD)
      return { rule: "unintended write", problem: verb === "evict" ? problemOfEviction(name, ref) : `${verb} of a pod` };
    if (!isSecret) return undefined;
    if (ref.namespace === NAMESPACE) {
      keys.learn(dataOf(after));
      const isOurs = ref.name === "mesh-certificate-keys" && (verb === "create" || verb === "update");
      return { rule, problem: isOurs ? undefined : "no Secret of ours" };
    }
    const problem =
      ref.namespace === CACERTS.namespace && ref.name === CACERTS.name
        ? problemOfAuthority(name, { verb, before, after })
        : "no Secret of ours";
    remember(name, after);
    return { rule, problem };
  }

  function problemOfAuthority(name: string, { verb, before, after }: Pick<Write, "verb" | "before" | "after">): string | undefined {
    if (after === undefined || (verb !== "create" && verb !== "update")) return "the CA of a mesh is never removed";
    const isAdopted = before?.metadata.annotations?.["isthmus.mesh/adopt"] === "true";
    if (before !== undefined && !isAdopted && written.get(name)?.has(contentOf(before)) !== true)
      return "somebody else wrote what stood there";
    const authority = meshes.get(name)?.authority;
    if (before === undefined && authority !== undefined && own.get(name)?.has(authority.signer) !== true) {
      return "it was deleted, and the control plane goes on with what stood there";
    }
    const data = dataOf(after);
    if (authorityOf(data) === undefined) return "no control plane starts with it";
    const certificate = new X509Certificate(data["ca-cert.pem"] ?? "");
    if (!certificate.publicKey.equals(createPublicKey(data["ca-key.pem"] ?? ""))) return "its key is another one's";
    if (Date.parse(certificate.validFrom) > clock.now()) return `it is not valid before ${certificate.validFrom}`;
    // One that stood there already may get other roots beside it before it is renewed.
    const isAnother = dataOf(before)["ca-cert.pem"] !== data["ca-cert.pem"];
    if (isAnother && Date.parse(certificate.validTo) <= clock.now()) return "it has expired";
    return undefined;
  }

  /** Nobody evicts what nobody replaces, or another pod of a workload of which one is offline. */
  function problemOfEviction(name: string, { name: pod, namespace }: ResourceRef): string | undefined {
    const isAllowed = virtualMeshSpec(management)?.mtlsConfig?.autoRestartPods === true || restartsWereAllowed;
    return isAllowed ? undefined : `nobody has asked for restarts, and ${namespace}/${pod} of ${name} was evicted`;
  }

  let restartsWereAllowed = false;

  function observed(clusterName?: string): void {
    if (clusterName === undefined || clusterName === "") {
      learnKeys(management);
      const spec = virtualMeshSpec(management);
      if (spec?.mtlsConfig?.autoRestartPods === true) restartsWereAllowed = true;
      if (spec?.mtlsConfig?.shared !== undefined) for (const name of clusters.keys()) if (!isListed(spec, name)) left.add(name);
    }
    for (const [name, cluster] of clusters) {
      if (clusterName !== undefined && clusterName !== name) continue;
      const [secret, last] = [cluster.object(CACERTS), lastSecrets.get(name)];
      if (secret !== last && (secret === undefined || last === undefined || contentOf(secret) !== contentOf(last))) tampered.add(name);
      if (isBrokenOwn(cluster) || isDeletedOwn(name, cluster)) tampered.add(name);
      keys.learn(dataOf(cluster.object(OWN_CA)));
      rememberOwn(name);
      if (tampered.has(name)) keys.learn(dataOf(secret));
    }
  }

  function checkFriends(changed: string): void {
    for (const other of meshes.keys()) {
      checkPair(changed, other);
      if (other !== changed) checkPair(other, changed);
    }
  }

  function checkPair(one: string, other: string): void {
    const [trusting, trusted] = [leavesOf(one), leavesOf(other)];
    if (trusting.length === 0 || trusted.length === 0) return;
    const pair = `${one} ${other}`;
    const refusal = trusting.flatMap(({ roots }) => trusted.filter(({ signer }) => !roots.includes(signer)))[0];
    if (refusal === undefined) friends.add(pair);
    else if ([one, other].some((name) => tampered.has(name) || left.has(name))) friends.delete(pair);
    else if (friends.delete(pair)) {
      for (const watcher of watchers) watcher.broken(`a proxy of ${one} refuses the certificate of one of ${other}`);
    }
  }

  function leavesOf(name: string): readonly Leaf[] {
    return [...(meshes.get(name)?.proxies.values() ?? [])];
  }

  return {
    meshes,
    management,
    began,
    tampered,
    lastSecret: (name) => lastSecrets.get(name),
    judge,
    observed,
    tellsKey: keys.isIn,
    watch: (watcher) => void watchers.push(watcher),
    atRest() {
      for (const [name, cluster] of clusters) remember(name, cluster.object(CACERTS));
      tampered.clear();
      left.clear();
      friends.clear();
      restartsWereAllowed = false;
      for (const name of meshes.keys()) checkFriends(name);
    },
  };
}

/** Whether there is another Secret in the place of the one in which a control plane keeps the CA that it has made: with that it does not start. */
export function isBrokenOwn(cluster: SimulatedCluster): boolean {
  const own = cluster.object(OWN_CA);
  return own !== undefined && dataOf(own)["ca-cert.pem"] === undefined;
}

/** What counts of a VirtualMesh. */
export interface TrustSpec {
  readonly meshes?: readonly { readonly name: string }[];
  readonly mtlsConfig?: {
    readonly autoRestartPods?: boolean;
    readonly shared?: { readonly rootCertificateAuthority?: { readonly secret?: { readonly name: string } } };
  };
}

export function virtualMeshSpec(management: SimulatedCluster): TrustSpec | undefined {
  const found = management.object(VIRTUAL_MESH);
  const { lastAccepted } = (found?.["status"] ?? {}) as { readonly lastAccepted?: { readonly spec?: TrustSpec } };
  // With a mistake in it, it stays as it was last accepted, also where the mistake came before what was put last was accepted (docs/decisions/0150).
  const isMistaken = found?.metadata.labels?.[MISTAKE_LABEL] !== undefined;
  return (isMistaken ? lastAccepted?.spec : undefined) ?? (found?.["spec"] as TrustSpec | undefined);
}

export function isListed({ meshes = [] }: TrustSpec, clusterName: string): boolean {
  return meshes.some(({ name }) => name === meshName(clusterName));
}

function contentOf({ metadata, data }: AnyResource & { readonly data?: unknown }): string {
  return JSON.stringify([data, metadata.annotations?.["isthmus.mesh/trust"]]);
}

const SECRET = kindKeyOf({ apiVersion: "v1", kind: "Secret" });
const POD = kindKeyOf({ apiVersion: "v1", kind: "Pod" });
