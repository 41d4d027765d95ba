import { type ClusterObjectRef, displayName, type Index, type ResourceRef, refOf, resourceKeyOf } from "@isthmus/core";
import type { EndpointTier, Leg, ReachableHost } from "@isthmus/translators";
import type { Fleet } from "../../data/fleet.ts";
import { Destination, type KubernetesCluster, TrafficPolicy, VirtualDestination } from "../../data/kinds.ts";
import { t } from "../../strings.ts";
import { millisecondsOf } from "../age.ts";
import { certificatesOf } from "./clusterRows.ts";
import { frozenSince, isGone } from "./freshness.ts";

/** An object that sends traffic to a cluster, and how. */
export interface SendingObject {
  readonly key: string;
  readonly because: ResourceRef;
  /** Such as `trafficShift, 75 %`. */
  readonly how: string;
  /** Names of Services of the cluster, as namespace/name. */
  readonly to: readonly string[];
  /** Names of Services whose requests are sent there; of a VirtualDestination its host. */
  readonly from: readonly string[];
}

/** Where the requests of one cluster to a host go now, some of them to the cluster in doubt, and what of it is left without that. */
export interface AffectedHost {
  readonly key: string;
  readonly caller: string;
  readonly host: string;
  /** Percent of the requests that go there now, from 1 to 100: within a rank, by endpoints. */
  readonly share: number;
  /** Names of the clusters to which they fail over, in that order; none: nothing answers. */
  readonly left: readonly string[];
}

/** A certificate that ends soon, or has ended. */
export interface EndingCertificate {
  readonly kind: string;
  readonly name: string;
  readonly notAfter: string;
}

/** Whether a cluster does not answer, so that what leads there matters: its agent is not connected, what is shown of it is old, or it is revoked. */
export function isInDoubt(fleet: Fleet, name: string): boolean {
  return isGone(fleet, name) || frozenSince(fleet, name) !== undefined;
}

// By the cluster to which a policy in force sends; the indexes are carried along as snapshots change.
const BY_TARGET: Index<Destination> = (destination) => [
  ...new Set(targetsIn(destination).flatMap(({ service }) => (service.clusterName ? [service.clusterName] : []))),
];
const BY_MEMBER: Index<VirtualDestination> = (object) => [...new Set(membersOf(object).flatMap(({ clusterName }) => clusterName ?? []))];

/** The policies in force that name Services of a cluster as a target, and the VirtualDestinations that have some. Costs what is found. */
export function sendersTo({ snapshot }: Pick<Fleet, "snapshot">, cluster: string): readonly SendingObject[] {
  const found = new Map<string, SendingObject>();
  const add = (because: ResourceRef, how: string, { to, from }: { readonly to: readonly string[]; readonly from: string }): void => {
    const key = `${resourceKeyOf(because)} ${how}`;
    const before = found.get(key);
    found.set(key, {
      key,
      because,
      how,
      to: [...new Set([...(before?.to ?? []), ...to])],
      from: [...new Set([...(before?.from ?? []), from])],
    });
  };
  for (const destination of snapshot.of(Destination).where(BY_TARGET, cluster)) {
    for (const { policy, service, how } of targetsIn(destination))
      if (service.clusterName === cluster) add(policy, how, { to: [nameOf(service)], from: serviceName(destination) });
  }
  for (const object of snapshot.of(VirtualDestination).where(BY_MEMBER, cluster)) {
    const to = membersOf(object).filter(({ clusterName }) => clusterName === cluster);
    add(refOf(object), t.clusters.member, { to: to.map(nameOf), from: object.spec?.hostname ?? object.metadata.name });
  }
  return [...found.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** The hosts of other clusters whose requests go to a cluster, those before the others that have nothing else; by the translation, so with all failover that is configured. */
export function affectedHosts(hosts: Iterable<ReachableHost>, cluster: string): readonly AffectedHost[] {
  const rows: AffectedHost[] = [];
  for (const { caller, host, legs } of hosts) {
    // Callers there reach what is beside them, whether or not the agent does.
    if (caller === cluster) continue;
    const hit = legs.filter(({ tiers: [first], weight }) => first?.has(cluster) === true && weight > 0);
    if (hit.length === 0) continue;
    const percent = hit.reduce(
      (sum, { weight, tiers: [first = NO_TIER] }) => sum + (weight * (first.get(cluster) ?? 0)) / sizeOf(first),
      0,
    );
    const share = Math.min(100, Math.max(1, Math.round(percent)));
    const lefts = hit.map((leg) => leftOf(leg, cluster));
    // The part that has the least counts: its requests fail.
    const left = lefts.find((names) => names.length === 0) ?? lefts[0] ?? [];
    rows.push({ key: `${caller} ${host}`, caller, host, share, left });
  }
  return rows.sort((a, b) => a.left.length - b.left.length || b.share - a.share || (a.key < b.key ? -1 : 1));
}

const NO_TIER: EndpointTier = new Map();

function sizeOf(tier: EndpointTier): number {
  return Math.max(
    1,
    [...tier.values()].reduce((sum, count) => sum + count, 0),
  );
}

function leftOf({ tiers }: Leg, cluster: string): readonly string[] {
  return [...new Set(tiers.flatMap((tier) => [...tier.keys()]))].filter((name) => name !== cluster);
}

const SOON_MS = 30 * 86_400_000;

/** The certificates of a cluster that end within 30 days, the first one first; `now` in milliseconds since 1970. */
export function endingCertificates(fleet: Fleet, cluster: KubernetesCluster, now: number): readonly EndingCertificate[] {
  const { name } = cluster.metadata;
  const known = certificatesOf(fleet, name).flatMap(({ kind, name: of, notAfter }) =>
    notAfter === undefined ? [] : [{ kind, name: of, notAfter }],
  );
  const client = cluster.status?.agent?.certificateNotAfter;
  // Of a store, the status of the registration is all that is known.
  const all = client === undefined || known.length > 0 ? known : [{ kind: t.clusters.clientCertificate, name, notAfter: client }];
  return all.filter(({ notAfter }) => (millisecondsOf(notAfter) ?? Number.POSITIVE_INFINITY) - now < SOON_MS);
}

interface NamedService {
  readonly name?: string;
  readonly namespace?: string;
  readonly clusterName?: string;
}

function targetsIn({ status }: Destination) {
  return (status?.appliedTrafficPolicies ?? []).flatMap(({ ref, spec }) => {
    const { trafficShift, mirror } = spec?.policy ?? {};
    const policy: ResourceRef = { ...TrafficPolicy, ...fullRef(ref) };
    const shifts = trafficShift?.destinations ?? [];
    const total = shifts.reduce((sum, { weight = 0 }) => sum + weight, 0);
    const percentOf = (weight: number) => (total === 0 ? (shifts.length === 1 ? 100 : 0) : Math.round((1_000 * weight) / total) / 10);
    return [
      ...shifts.flatMap(({ kubeService, weight = 0 }) =>
        kubeService === undefined ? [] : [{ policy, service: kubeService as NamedService, how: t.clusters.shift(percentOf(weight)) }],
      ),
      ...(mirror?.kubeService === undefined
        ? []
        : [{ policy, service: mirror.kubeService as NamedService, how: t.clusters.mirror(mirror.percentage ?? 100) }]),
    ];
  });
}

function membersOf({ status }: VirtualDestination): readonly NamedService[] {
  return (status?.selectedDestinations ?? []).flatMap(({ destination }) => destination?.kubeService ?? []);
}

function nameOf({ name = "", namespace = "" }: NamedService): string {
  return displayName({ name, namespace });
}

function serviceName({ spec, metadata }: Destination): string {
  const ref = spec?.kubeService?.ref;
  return ref?.name === undefined ? metadata.name : nameOf(ref);
}

function fullRef(ref: Partial<ClusterObjectRef> | undefined): ClusterObjectRef {
  const { name = "", namespace = "", clusterName = "" } = ref ?? {};
  return { name, namespace, clusterName };
}
