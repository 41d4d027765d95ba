import { podsToRestart, type TrustGeneration } from "@isthmus/certificates";
import { type Clock, uptimeOf } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import type { RootOrder } from "./certificateOrders.ts";
import { takesOver } from "./controlPlaneReads.ts";
import { leafRenewals, type ReadLeafValidity } from "./leafRenewals.ts";
import { type ControlPlanes, isMultiRootMesh, type MeshPods, meshPods } from "./meshProxies.ts";
import type { NotedGeneration } from "./trustTimes.ts";

/** What becomes of proxies that renew their certificates without a restart. */
export type Renewal = "write" | "wait" | "restart";

/**
 * Control planes with ISTIO_MULTIROOT_MESH, which take over a change of roots while they run, as do proxies with PROXY_CONFIG_XDS_AGENT. What
 * neither does within minutes restarts, as elsewhere. Source: specification "trust on real Istio"; docs/decisions/0134.
 */
export interface MultiRoot {
  /** What runs of a mesh; proxies that have renewed their certificates are as young as what is installed. */
  pods(place: ControlPlanes): Promise<MeshPods>;
  /** Whether a change of roots restarts nothing, for users who want to know it before. Looked at now and then. */
  isMultiRootIn(place: ControlPlanes): Promise<{ readonly isMultiRoot?: boolean }>;
  /** What is to be done of proxies that renew their certificates; undefined: they do not, or need not. */
  renewalOf(generations: readonly TrustGeneration[], place: ControlPlanes, podsOf: () => Promise<MeshPods>): Promise<Renewal | undefined>;
  /** The same roots were written again with other bytes. */
  written(place: ControlPlanes): void;
  /** Whether roots that stay as they are are to be written with other bytes: then it shows that what is written with them is read. */
  isMarked(generations: readonly TrustGeneration[], podsOf: () => Promise<MeshPods>): Promise<boolean>;
  /** To be called before the Secret of a control plane is written. */
  noteReplicas(namespace: string, podsOf: () => Promise<MeshPods>): Promise<void>;
  /** `all`: every replica has what it hands out. `soon`: each has it once its kubelet has brought it. */
  takenOverBy(
    pods: MeshPods,
    change: { readonly last: NotedGeneration; readonly before: TrustGeneration | undefined; readonly namespace: string },
  ): "all" | "soon" | "never";
  /** Whether a control plane has still time to read what was installed last while it runs. */
  isBeingRead(pods: MeshPods, generations: readonly TrustGeneration[], place: ControlPlanes): boolean;
}

export interface MultiRootOptions {
  readonly cluster: Cluster;
  /** Undefined: nobody can ask proxies, so that every change of roots restarts them. */
  readonly leafValidity: ReadLeafValidity | undefined;
  /** For how long the same has been found at a place, in milliseconds. */
  readonly lookedFor: (place: string, what: string) => number;
  readonly clock: Clock;
}

/** Methods reject with ClusterError, or with the reason of `signal` when that is aborted. */
export function multiRootMeshes({ cluster, leafValidity, lookedFor, clock }: MultiRootOptions, signal: AbortSignal): MultiRoot {
  const renewals = leafValidity === undefined ? undefined : leafRenewals({ leafValidity, clock }, signal);
  /** By namespace of the control plane. */
  const known = new Map<string, { readonly isMultiRoot: boolean | undefined; readonly at: number }>();
  /** By namespace of the control plane, its replicas when its Secret was written last. */
  const writtenWith = new Map<string, string>();

  return {
    async pods(place) {
      const { proxies, ...found } = await meshPods(cluster, place, signal);
      const isMultiRoot = renewals !== undefined && found.isMultiRoot;
      if (found.controlPlane.length > 0) known.set(place.namespace, { isMultiRoot, at: uptimeOf(clock) });
      return { ...found, proxies: renewals?.applied(proxies) ?? proxies, isMultiRoot };
    },
    async isMultiRootIn(place) {
      const last = known.get(place.namespace);
      if (renewals !== undefined && (last === undefined || uptimeOf(clock) > last.at + KNOWN_MS)) {
        known.set(place.namespace, { isMultiRoot: await isMultiRootMesh(cluster, place, signal), at: uptimeOf(clock) });
      }
      const { isMultiRoot } = known.get(place.namespace) ?? {};
      return isMultiRoot === undefined ? {} : { isMultiRoot };
    },
    async renewalOf(generations, place, podsOf) {
      const read = lastRead(generations);
      if (renewals === undefined || read?.since === undefined || generations.length === 1) return undefined;
      const { proxies, isMultiRoot } = await podsOf();
      // Those of other control planes renew theirs for other reasons.
      const outdated = podsToRestart(generations, proxies).filter(({ isOfOther }) => isOfOther !== true);
      if (!isMultiRoot || outdated.length === 0) return undefined;
      const next = await renewals.next(place.namespace, outdated, read.since);
      return next === "write" && generations.at(-1) !== read ? "wait" : next;
    },
    written: ({ namespace }) => renewals?.written(namespace),
    async isMarked(generations, podsOf) {
      return renewals !== undefined && lastRead(generations) !== undefined && (await podsOf()).isMultiRoot;
    },
    async noteReplicas(namespace, podsOf) {
      if (renewals !== undefined) writtenWith.set(namespace, uidsOf((await podsOf()).controlPlane));
    },
    takenOverBy({ controlPlane, isMultiRoot }, { last, before, namespace }) {
      if (!isMultiRoot || last.hasOtherBytes !== true || !takesOver({ last, before })) return "never";
      // The one that hands out the new bytes is the only one, and was so when they were written.
      return controlPlane.length === 1 && writtenWith.get(namespace) === uidsOf(controlPlane) ? "all" : "soon";
    },
    isBeingRead({ isMultiRoot }, generations, { namespace }) {
      const [before, last] = [generations.at(-2), generations.at(-1)];
      if (!isMultiRoot || last === undefined || last.since !== undefined || !takesOver({ last, before })) return false;
      return lookedFor(`reading of ${namespace}`, String(last.installedAt)) < READING_MS;
    },
  };
}

/** What the agent says to users while so many proxies renew their certificates. */
export function renewingText(count: number): string {
  return `nothing restarts, as istiod has ISTIO_MULTIROOT_MESH: ${count} proxies have not renewed their certificates yet; those that do not within minutes are to restart`;
}

/** An order for the roots that are there has their text: lines at its end are this agent's own. */
export function withTextOf(installed: string, trust: RootOrder | undefined): RootOrder | undefined {
  return trust === undefined || trust.rootCertificates.trimEnd() !== installed.trimEnd()
    ? trust
    : { ...trust, rootCertificates: installed };
}

/** The same roots with one line more or less. */
export function withOtherBytes(rootCertificates: string): string {
  return rootCertificates.endsWith("\n\n")
    ? rootCertificates.slice(0, -1)
    : `${rootCertificates}${rootCertificates.endsWith("\n") ? "" : "\n"}\n`;
}

/** What the control plane has read last of what this agent wrote: it watches that. */
function lastRead(generations: readonly TrustGeneration[]): TrustGeneration | undefined {
  const read = generations.findLast(({ since }) => since !== undefined);
  return read === undefined || read.installedAt === 0 ? undefined : read;
}

function uidsOf(pods: readonly { readonly uid: string }[]): string {
  return pods
    .map(({ uid }) => uid)
    .sort()
    .join();
}

const KNOWN_MS = 600_000;
// A kubelet brings a Secret into a pod that runs after 60 to 90 s.
const READING_MS = 300_000;
