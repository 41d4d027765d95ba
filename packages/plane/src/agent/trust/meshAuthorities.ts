import {
  authorityFacts,
  fingerprints,
  generationsInUse,
  type InstalledAuthority,
  isHandedOut,
  type TrustGeneration,
} from "@isthmus/certificates";
import type { Clock } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import {
  AuthorityProblem,
  type FoundAuthority,
  findAuthority,
  installAuthority,
  noteGenerations,
  type SecretRef,
  unconfirmed,
} from "./authoritySecrets.ts";
import { CLOCK_SKEW_MS, outdatedPods, reloads } from "./controlPlaneReads.ts";
import { haveRootsArrived, type MeshPods, rootsHandedOut } from "./meshProxies.ts";
import type { MultiRoot } from "./multiRoot.ts";
import type { NotedGeneration } from "./trustTimes.ts";

/** The CAs of the meshes of a cluster, as their control planes have read them. Methods reject with ClusterError. */
export interface MeshAuthorities {
  /**
   * What is installed, with what has become certain since. Throws AuthorityProblem where the Secret is not what the control plane has read: what is
   * in force is unknown then, and nothing is changed.
   */
  read(ref: SecretRef, podsOf: () => Promise<MeshPods>): Promise<FoundAuthority>;
  /** What is installed, as it was written. */
  find(ref: SecretRef): Promise<FoundAuthority>;
  /** Throws AuthorityProblem where the control plane has not read what was installed for many times. */
  install(ref: SecretRef, found: FoundAuthority, authority: InstalledAuthority, issuedWith: string | undefined): Promise<void>;
}

export interface MeshAuthoritiesOptions {
  readonly cluster: Cluster;
  readonly multiRoot: MultiRoot;
  /** For how long the same has been found at a place, in milliseconds. */
  readonly lookedFor: (place: string, what: string) => number;
  readonly clock: Clock;
}

/** Reads and writes the Secrets of `cluster`. */
export function meshAuthorities({ cluster, multiRoot, lookedFor, clock }: MeshAuthoritiesOptions, signal: AbortSignal): MeshAuthorities {
  /** Throws AuthorityProblem where the Secret is not what the control plane has read: what is in force is unknown then, and nothing is changed. */
  async function confirmed(found: FoundAuthority, ref: SecretRef): Promise<FoundAuthority> {
    const { generations } = found.record;
    const handedOut = await rootsHandedOut(cluster, ref.namespace, signal);
    // A control plane that has not read what was installed last may be about to start for the first time.
    if (handedOut === undefined && generations.at(-1)?.since === undefined) return found;
    const roots = handedOut === undefined ? undefined : await fingerprints(handedOut).catch(() => []);
    if (roots === undefined || !isHandedOut(generations, roots)) throw unconfirmed(found, ref, roots !== undefined);
    return found;
  }

  /** With what has become certain since: that the control plane has read what was installed. */
  async function observed(
    found: FoundAuthority,
    ref: { readonly namespace: string },
    podsOf: () => Promise<MeshPods>,
  ): Promise<FoundAuthority> {
    const { secret, record, facts } = found;
    const last = record.generations.at(-1);
    if (secret === undefined || last === undefined) return found;
    const before = record.generations.at(-2);
    if (last.since !== undefined && before === undefined) return found;
    const note = async (generations: readonly NotedGeneration[]) => {
      await noteGenerations(cluster, secret, { ...record, generations }, signal);
      return findAuthority(cluster, { name: secret.metadata.name, namespace: ref.namespace }, signal);
    };
    const pods = await podsOf();
    if (last.since === undefined) {
      if (!(await hasRead(pods, { last, before, facts, ref }))) return found;
      const settled: NotedGeneration = { ...last, since: clock.now() + CLOCK_SKEW_MS, dated: "since" };
      // Which pods are younger can be said once the write has a time.
      return observed(await note([...record.generations.slice(0, -1), settled]), ref, podsOf);
    }
    const generations = generationsInUse(record.generations, pods.proxies, pods.left);
    return generations.length === record.generations.length ? found : note(generations);
  }

  /** Whether every replica of the control plane has read the last content of the Secret. Source: specification "trust on real Istio". */
  async function hasRead(
    pods: MeshPods,
    {
      last,
      before,
      facts,
      ref,
    }: { last: NotedGeneration; before: TrustGeneration | undefined; facts: FoundAuthority["facts"]; ref: { readonly namespace: string } },
  ): Promise<boolean> {
    const { controlPlane, proxies } = pods;
    if (controlPlane.length === 0 || !controlPlane.every(({ isReady }) => isReady)) return false;
    const namespaces = new Set([ref.namespace, ...proxies.map(({ namespace: one }) => one)]);
    if (!(await haveRootsArrived(cluster, { namespaces, rootCertificates: facts.rootCertificates }, signal))) return false;
    if (outdatedPods(controlPlane, last).length === 0) return true;
    const takenOver = multiRoot.takenOverBy(pods, { last, before, namespace: ref.namespace });
    if (takenOver === "all") return true;
    if (takenOver === "never" && !reloads(controlPlane, { last, before })) return false;
    // An agent that was offline for days need not wait again: by so much no clock is wrong.
    const isOld = clock.now() > last.installedAt + GREATEST_SKEW_MS;
    return lookedFor(`Secret ${ref.namespace}`, String(last.installedAt)) > MOUNT_DELAY_MS || isOld;
  }

  async function install(
    ref: { readonly name: string; readonly namespace: string },
    found: FoundAuthority,
    authority: InstalledAuthority,
    issuedWith: string | undefined,
  ): Promise<void> {
    const { roots, signer } = await authorityFacts(authority);
    if (found.record.generations.length >= MOST_GENERATIONS) {
      throw new AuthorityProblem(
        `Secret ${ref.namespace}/${ref.name} was changed ${MOST_GENERATIONS} times and istiod has not read it: restart istiod and the workloads of the mesh`,
      );
    }
    const hasOtherBytes = found.secret !== undefined && authority.rootCertificates !== found.facts.rootCertificates;
    const installed: NotedGeneration = {
      ...{ roots, signer, installedAt: clock.now(), dated: "installedAt" },
      ...(hasOtherBytes ? { hasOtherBytes } : {}),
    };
    const generations = [...found.record.generations, installed];
    const record = { generations, ...(issuedWith === undefined ? {} : { issuedWith }) };
    await installAuthority(cluster, ref, { before: found.secret, authority, record }, signal);
  }

  return {
    async read(ref, podsOf) {
      return observed(await confirmed(await findAuthority(cluster, ref, signal), ref), ref, podsOf);
    },
    find: (ref) => findAuthority(cluster, ref, signal),
    install,
  };
}

// A kubelet brings a Secret into a pod that runs after 60 to 90 s.
const MOUNT_DELAY_MS = 180_000;
const GREATEST_SKEW_MS = 86_400_000;
const MOST_GENERATIONS = 8;
