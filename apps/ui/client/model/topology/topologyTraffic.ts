import { keyOfResource, OTHER_EDGES, refOf } from "@isthmus/core";
import type { Fleet } from "../../data/fleet.ts";
import type { Destination, Workload } from "../../data/kinds.ts";
import { t } from "../../strings.ts";
import { destinationsOf } from "../selection.ts";
import type { Topology, TopologyEdge, TopologyNode } from "./topology.ts";
import { type CountedEdge, countedEdges, summedEdges, type TrafficMinutes, trafficEnds } from "./traffic.ts";
import { trafficLabel, trafficRates } from "./trafficText.ts";

/**
 * A graph with what was counted: on the edge that lets one service call another where there is one, else on an edge of its own. What sends or gets requests and is no Destination is
 * a node too. An edge without rates is one of which none are known, or on which no request was seen.
 */
export function withTraffic(topology: Topology, fleet: Fleet, minutes: TrafficMinutes): Topology {
  const nodes = new Map(topology.nodes.map((node) => [node.id, node]));
  const groups = new Map<string, Group>();
  const ends = trafficEnds(fleet);
  for (const counted of countedEdges(fleet, minutes)) {
    const source = ends.source(counted);
    const destination = ends.destination(counted) ?? first(fleet, ends.target(counted));
    const from = first(fleet, source);
    const { sourceWorkload, service, workload } = counted.edge;
    const [one, other] = [
      from === undefined ? outside("from", counted, sourceWorkload || t.traffic.someCaller) : nodeOf(from, topology),
      destination === undefined ? outside("to", counted, service || workload || t.traffic.someCaller) : nodeOf(destination, topology),
    ];
    if (one === undefined || other === undefined) continue;
    for (const node of [one, other]) if (!nodes.has(node.id)) nodes.set(node.id, node);
    if (one.id === other.id) continue;
    const key = `${one.id} ${other.id}`;
    const group = groups.get(key) ?? { from: one.id, to: other.id, counted: [], because: destination ?? source };
    group.counted.push(counted);
    groups.set(key, group);
  }
  const edges = topology.edges.map((edge): TopologyEdge => {
    const key = `${edge.from} ${edge.to}`;
    const group = edge.type === "access" ? groups.get(key) : undefined;
    if (group === undefined) return edge;
    // Several policies may allow the same: what was counted is shown once.
    groups.delete(key);
    return { ...edge, ...countedOf(group) };
  });
  const own = [...groups].map(([key, group]): TopologyEdge => {
    const { from, to, because } = group;
    return { id: `traffic ${key}`, type: "traffic", from, to, because: because && refOf(because), ...countedOf(group) };
  });
  return { ...topology, nodes: [...nodes.values()], edges: [...edges, ...own] };

  function nodeOf(destination: Destination, { isGrouped }: Topology): TopologyNode | undefined {
    const { ref } = destination.spec?.kubeService ?? {};
    const id = keyOfResource(destination);
    if (!isGrouped) return nodes.get(id);
    return nodes.get(`${ref?.clusterName ?? ""}/${ref?.namespace ?? ""}`);
  }
}

interface Group {
  readonly from: string;
  readonly to: string;
  readonly counted: CountedEdge[];
  readonly because: Destination | Workload | undefined;
}

function countedOf({ counted }: Group): Pick<TopologyEdge, "label" | "rates" | "series"> {
  const sum = summedEdges(counted);
  const rates = trafficRates(sum);
  return { rates, series: sum.series, label: trafficLabel(rates) };
}

/** Of a workload behind several Services, the first: it sends its requests once. */
function first(fleet: Fleet, workload: Workload | undefined): Destination | undefined {
  return workload === undefined ? undefined : destinationsOf(fleet, workload)[0];
}

function outside(side: "from" | "to", { cluster, edge }: CountedEdge, name: string): TopologyNode {
  const namespace = side === "from" ? edge.sourceNamespace : edge.namespace;
  const of = side === "to" && edge.cluster !== "" ? edge.cluster : cluster;
  return {
    // What is added up of others is no loop.
    id: `outside ${name === OTHER_EDGES ? side : ""} ${of}/${namespace}/${name}`,
    name,
    namespace,
    cluster: of,
    destination: undefined,
    isFederated: false,
    isOutside: true,
  };
}
