import { OTHER_EDGES } from "@isthmus/core";
import type { ConsoleActivity } from "../wire.ts";
import type { Place, ViewerRights } from "./rights.ts";

type Seen = Pick<ViewerRights, "sees" | "seesCluster" | "seesAllClusters">;

type Figures = ReadonlyMap<string, ConsoleActivity>;

/**
 * What a user may see of what happened in clusters: of a cluster whose KubernetesCluster the user may get; of its traffic, who sees all of `places`, those of discovered objects, the edges that
 * stay in it or lead to another cluster which is seen; what is added up of others, who sees all clusters. The same ones as before while they are the same: made for one set of rights.
 */
export function visibleActivity(): (rights: Seen, places: readonly Place[], all: Figures) => Figures {
  const known = new WeakMap<ConsoleActivity, ConsoleActivity>();
  let last: { readonly of: Figures; readonly visible: Figures } | undefined;
  return (rights, places, all) => {
    if (last?.of === all) return last.visible;
    const seesTraffic = places.every((place) => rights.sees(place));
    const visible = new Map<string, ConsoleActivity>();
    for (const [cluster, activity] of all) {
      if (!rights.seesCluster(cluster)) continue;
      const shown = known.get(activity) ?? (seesTraffic ? withVisibleEdges(activity, rights) : withoutTraffic(activity));
      known.set(activity, shown);
      visible.set(cluster, shown);
    }
    last = { of: all, visible };
    return visible;
  };
}

function withVisibleEdges(activity: ConsoleActivity, { seesCluster, seesAllClusters }: Seen): ConsoleActivity {
  const { traffic } = activity;
  if (traffic === undefined || seesAllClusters) return activity;
  // How many there are that are not shown is not said either.
  const edges = traffic.edges.filter((row) => row[SERVICE_AT] !== OTHER_EDGES && seesCluster(String(row[CLUSTER_AT] ?? "")));
  return { ...activity, traffic: { ...traffic, edges, left: 0 } };
}

// Of the names of `edgeRow`: the service, and the other cluster.
const [SERVICE_AT, CLUSTER_AT] = [3, 5];

/** Why there is none is what may be seen: not that there is some. */
function withoutTraffic({ traffic: _, ...activity }: ConsoleActivity): ConsoleActivity {
  return activity;
}
