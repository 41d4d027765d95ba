import type { Destination, Mesh } from "@isthmus/api";
import { isStatic } from "../../../policy/virtualDestinations/virtualDestinationFindings.ts";
import { isFederatedTo } from "../../../policy/virtualDestinations/virtualDestinationTargets.ts";
import type { MeshWithGateways, VirtualDestinationInputs } from "../../inputs.ts";

/** A mesh of another cluster, which is called through its gateways, with the Destinations behind them. */
export interface RemoteTargets {
  readonly home: MeshWithGateways;
  readonly destinations: readonly Destination[];
}

/** Endpoints of one rank: those of a tier get traffic while all before it fail. */
export interface Tier {
  /** Destinations of the caller's own cluster. */
  readonly local: readonly Destination[];
  readonly remote: readonly RemoteTargets[];
}

type Targets = Pick<VirtualDestinationInputs, "targets" | "homes"> & { readonly spec: NonNullable<VirtualDestinationInputs["spec"]> };

/**
 * The order in which a mesh fails over. A cluster is one place seen from elsewhere, as all of its Destinations are behind the same
 * gateways; it comes where its first Destination does. Empty tiers stay: that a cluster has no pods for now changes nobody's rank.
 */
export function tiersFor(caller: Mesh, targets: Targets): readonly Tier[] {
  const places = placesFor(caller, targets);
  return isStatic(targets.spec) ? places : byDistance(caller, places, targets.spec);
}

/** The cluster of a Destination. */
function clusterOf({ spec }: Destination): string {
  return spec?.kubeService?.ref?.clusterName ?? "";
}

/** Of an Istio mesh. */
export function istioPlaceOf({ spec }: Mesh): { readonly namespace: string; readonly cluster: string; readonly region: string } {
  const { namespace = "", cluster = "", region = "" } = spec?.istio?.installation ?? {};
  return { namespace, cluster, region };
}

/** Where traffic may go, one tier each, in the order of the Destinations. */
function placesFor(caller: Mesh, { targets, homes }: Targets): readonly Tier[] {
  const own = istioPlaceOf(caller).cluster;
  const places: Tier[] = [];
  const seen = new Set<string>();
  for (const target of targets) {
    const cluster = clusterOf(target);
    if (cluster === own) places.push({ local: [target], remote: [] });
    else if (!seen.has(cluster) && isFederatedTo(target, caller)) {
      seen.add(cluster);
      const destinations = targets.filter((one) => clusterOf(one) === cluster && isFederatedTo(one, caller));
      const home = homes.find(({ mesh }) => istioPlaceOf(mesh).cluster === cluster);
      if (home !== undefined) places.push({ local: [], remote: [{ home, destinations }] });
    }
  }
  return places;
}

/** The caller's own cluster, then its region, then the regions that its directive names, then all others alike. */
function byDistance(caller: Mesh, places: readonly Tier[], { localized }: Targets["spec"]): readonly Tier[] {
  const { region } = istioPlaceOf(caller);
  const directive = (localized?.failoverDirectives ?? []).find(({ from }) => from?.region === region && region !== "");
  const order = [region, ...(directive?.to ?? []).map((to) => to.region ?? "")];
  const ranks = new Map<number, Tier>();
  for (const place of places) {
    const rank = place.local.length > 0 ? 0 : 1 + rankOf(place, order);
    const tier = ranks.get(rank) ?? { local: [], remote: [] };
    ranks.set(rank, { local: [...tier.local, ...place.local], remote: [...tier.remote, ...place.remote] });
  }
  return [...ranks.keys()].sort((a, b) => a - b).flatMap((rank) => ranks.get(rank) ?? []);
}

function rankOf({ remote }: Tier, regions: readonly string[]): number {
  const position = regions.indexOf(remote.map(remoteRegionOf)[0] ?? "");
  return position < 0 || regions[position] === "" ? regions.length : position;
}

/** The region of a remote cluster. */
export function remoteRegionOf({ home, destinations }: RemoteTargets): string {
  return destinations.map(({ spec }) => spec?.kubeService?.region ?? "").find((region) => region !== "") ?? istioPlaceOf(home.mesh).region;
}
