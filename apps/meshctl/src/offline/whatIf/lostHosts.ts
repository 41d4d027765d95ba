import { Destination, Mesh, VirtualDestination } from "@isthmus/api";
import { keyOf, kindKeyOf } from "@isthmus/core";
import {
  type EndpointTier,
  type HostKind,
  type Leg,
  type ReachableHost,
  reachableHosts,
  type Translation,
  type UserObjectStatusUpdate,
} from "@isthmus/translators";

/**
 * What becomes of a host that used a cluster. ELSEWHERE: a Service of that cluster, whose callers there are gone with it, has pods in other
 * clusters. BACKUP_LOST: traffic stays where it was, and has one place less to go to when that fails. MOVED: it goes elsewhere. PARTIAL: some
 * of the requests have no target. NO_TARGET: none has.
 */
export const OUTCOMES = ["ELSEWHERE", "BACKUP_LOST", "MOVED", "PARTIAL", "NO_TARGET"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** A host that used a cluster which is gone. */
export interface LostHost {
  readonly outcome: Outcome;
  readonly kind: HostKind;
  readonly host: string;
  /** The clusters of its callers. */
  readonly callers: readonly string[];
  readonly before: readonly Leg[];
  readonly now: readonly Leg[];
  /** Of ELSEWHERE: clusters with pods of the same Service, and hosts of VirtualDestinations that lead to such. */
  readonly elsewhere: readonly string[];
}

interface Worlds {
  readonly before: Translation;
  readonly now: Translation;
  readonly lost: ReadonlySet<string>;
  /** Of `before`. */
  readonly statuses: readonly UserObjectStatusUpdate[];
}

/** Each host that used one of the clusters, the worst outcome first. Equal outcomes for callers of several clusters are one. */
export function lostHosts(worlds: Worlds): readonly LostHost[] {
  const { before, now, lost } = worlds;
  const hostsNow = reachableHosts(now);
  const merged = new Map<string, LostHost>();
  for (const [key, host] of reachableHosts(before)) {
    // Callers of a lost cluster are lost with it.
    if (lost.has(host.caller)) continue;
    const found = comparison(host, hostsNow.get(key), lost);
    if (found === undefined) continue;
    const same = JSON.stringify([found.outcome, found.host, legsJson(found.before), legsJson(found.now)]);
    const known = merged.get(same);
    merged.set(same, known === undefined ? found : { ...known, callers: [...known.callers, ...found.callers] });
  }
  const all = [...merged.values(), ...lostServices(worlds, hostsNow)];
  return all.sort(
    (a, b) =>
      OUTCOMES.indexOf(b.outcome) - OUTCOMES.indexOf(a.outcome) ||
      compare(a.host, b.host) ||
      compare(a.callers[0] ?? "", b.callers[0] ?? ""),
  );
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function comparison(host: ReachableHost, hostNow: ReachableHost | undefined, lost: ReadonlySet<string>): LostHost | undefined {
  const isUsed = (tier: EndpointTier) => [...tier.keys()].some((cluster) => lost.has(cluster));
  const used = host.legs.filter(({ tiers }) => tiers.some(isUsed));
  if (used.length === 0) return undefined;
  // A route that is not written any more leaves the requests to the host itself.
  const legs = hostNow?.legs ?? [];
  const failing = host.legs.filter((leg) => leg.tiers.length > 0 && (legs.find((one) => isSameLeg(one, leg))?.tiers.length ?? 0) === 0);
  const isFirst = used.some(({ tiers: [first] }) => first !== undefined && isUsed(first));
  const hasTarget = legs.some(({ tiers }) => tiers.length > 0);
  const outcome = !hasTarget ? "NO_TARGET" : failing.length > 0 ? "PARTIAL" : isFirst ? "MOVED" : "BACKUP_LOST";
  return { outcome, kind: host.kind, host: host.host, callers: [host.caller], before: host.legs, now: legs, elsewhere: [] };
}

function isSameLeg(left: Leg, right: Leg): boolean {
  return left.host === right.host && left.subset === right.subset;
}

/** Services of the lost clusters that had pods: is there another one, or nothing? */
function lostServices({ before, now, lost, statuses }: Worlds, hostsNow: ReadonlyMap<string, ReachableHost>): readonly LostHost[] {
  const gateways = new Set(
    [...before.attached.of(Mesh)].flatMap(({ status }) =>
      (status?.appliedEastWestIngressGateways ?? []).map(({ destinationRef }) => `${destinationRef?.namespace} ${destinationRef?.name}`),
    ),
  );
  const running = new Map<string, Map<string, number>>();
  for (const destination of now.attached.of(Destination)) {
    const { name, namespace, cluster } = serviceOf(destination);
    const count = endpointsOf(destination);
    if (count === 0) continue;
    const clusters = running.get(`${namespace} ${name}`) ?? new Map<string, number>();
    running.set(`${namespace} ${name}`, clusters.set(cluster, count));
  }
  const hosts = virtualHosts(statuses, before, hostsNow);
  return [...before.attached.of(Destination)].flatMap((destination): readonly LostHost[] => {
    const { name, namespace, cluster } = serviceOf(destination);
    const { metadata, spec, status } = destination;
    const count = endpointsOf(destination);
    if (!lost.has(cluster) || count === 0 || spec?.mesh === undefined) return [];
    if (gateways.has(`${metadata.namespace} ${metadata.name}`)) return [];
    const host = status?.localFqdn ?? "";
    const elsewhere = [
      ...(running.get(`${namespace} ${name}`)?.keys() ?? []),
      ...(hosts.get(keyOf({ name, namespace, clusterName: cluster })) ?? []),
    ];
    const outcome = elsewhere.length === 0 ? "NO_TARGET" : "ELSEWHERE";
    const leg = { host, subset: "", weight: 100 };
    const before = [{ ...leg, tiers: [new Map([[cluster, count]])] }];
    return [{ outcome, kind: "Service", host, callers: [cluster], before, now: [{ ...leg, tiers: [] }], elsewhere: elsewhere.sort() }];
  });
}

/** Hosts of VirtualDestinations that still have a target, by the Services behind them. */
function virtualHosts(
  statuses: readonly UserObjectStatusUpdate[],
  { inputs }: Translation,
  hostsNow: ReadonlyMap<string, ReachableHost>,
): ReadonlyMap<string, readonly string[]> {
  const alive = new Set([...hostsNow.values()].flatMap(({ host, legs }) => (legs.some(({ tiers }) => tiers.length > 0) ? [host] : [])));
  const hosts = new Map<string, readonly string[]>();
  for (const { ref, status } of statuses) {
    if (kindKeyOf(ref) !== kindKeyOf(VirtualDestination)) continue;
    const host = inputs.of(VirtualDestination).get(ref)?.spec?.hostname ?? "";
    if (!alive.has(host)) continue;
    for (const { destination } of (status as NonNullable<VirtualDestination["status"]>).selectedDestinations ?? []) {
      const { name = "", namespace = "", clusterName = "" } = destination?.kubeService ?? {};
      const key = keyOf({ name, namespace, clusterName });
      hosts.set(key, [...(hosts.get(key) ?? []), host]);
    }
  }
  return hosts;
}

function serviceOf({ spec }: Destination): { readonly name: string; readonly namespace: string; readonly cluster: string } {
  const { name = "", namespace = "", clusterName: cluster = "" } = spec?.kubeService?.ref ?? {};
  return { name, namespace, cluster };
}

function endpointsOf({ spec }: Destination): number {
  const subsets = spec?.kubeService?.endpointSubsets ?? [];
  return subsets.flatMap(({ endpoints = [] }) => endpoints.filter(({ ipAddress = "" }) => ipAddress !== "")).length;
}

/** Legs for programs. */
export function legsJson(legs: readonly Leg[]): readonly object[] {
  return legs.map(({ host, subset, weight, tiers }) => ({
    host,
    ...(subset === "" ? {} : { subset }),
    weight,
    tiers: tiers.map((tier) => Object.fromEntries([...tier].sort(([a], [b]) => compare(a, b)))),
  }));
}
