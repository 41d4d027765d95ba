import { refOf, type SignalRates } from "@isthmus/core";
import { Name } from "../components/Name.tsx";
import { ClusterChip, ObjectLink } from "../components/ObjectLink.tsx";
import { SeverityTotals } from "../components/Severity.tsx";
import { Sparkline } from "../components/Sparkline.tsx";
import type { Column } from "../components/table/tableColumns.ts";
import { NO_COUNTS } from "../model/insights/insightIndex.ts";
import type { Topology, TopologyEdge, TopologyNode } from "../model/topology/topology.ts";
import { endValues, insightValues, policyValues, type TopologyInsights } from "../model/topology/topologyParts.ts";
import { trafficTexts } from "../model/topology/trafficText.ts";
import { t } from "../strings.ts";

/** A row of the graph as a table: an edge, or a node without one. */
export interface EdgeRow {
  readonly key: string;
  readonly from: TopologyNode | string;
  readonly to: TopologyNode | string | undefined;
  readonly edge: TopologyEdge | undefined;
}

/** All of a graph: its edges, then the nodes that have none. */
export function edgeRows({ nodes, edges }: Topology): readonly EdgeRow[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const end = (id: string) => byId.get(id) ?? id;
  const connected = new Set(edges.flatMap(({ from, to }) => [from, to]));
  return [
    ...edges.map((edge) => ({ key: edge.id, edge, from: end(edge.from), to: end(edge.to) })),
    ...nodes.filter(({ id }) => !connected.has(id)).map((node) => ({ key: node.id, edge: undefined, from: node, to: undefined })),
  ];
}

function textOf(end: EdgeRow["to"]): string {
  if (end === undefined) return "";
  return typeof end === "string" ? end : `${end.namespace}/${end.name}`;
}

/** The clusters of both ends of a row. */
export function clustersOf({ from, to }: EdgeRow): readonly string[] {
  return [from, to].flatMap((end) => (end === undefined ? [] : [typeof end === "string" ? end : end.cluster]));
}

function namespacesOf({ from, to }: EdgeRow): readonly string[] {
  return [from, to].flatMap((end) => (end === undefined || typeof end === "string" ? [] : [end.namespace]));
}

function End({ end }: { readonly end: EdgeRow["to"] }) {
  if (end === undefined) return <span className="muted">–</span>;
  if (typeof end === "string") return <ClusterChip name={end || t.common.management} />;
  return (
    <>
      {end.destination === undefined ? <Name text={textOf(end)} /> : <ObjectLink to={refOf(end.destination)} text={textOf(end)} />}
      <ClusterChip name={end.cluster || t.common.management} />
    </>
  );
}

/** Of what is routed; rates have columns of their own. */
function shareOf(edge: TopologyEdge | undefined): string {
  return edge?.rates === undefined ? (edge?.label ?? "") : "";
}

const EDGE_COLUMNS: readonly Column<EdgeRow>[] = [
  {
    id: "from",
    title: t.topology.from,
    width: [10.4, 3],
    isLong: true,
    token: "from",
    text: ({ from }) => textOf(from),
    values: ({ from }) => endValues(from),
    cell: ({ from }) => <End end={from} />,
  },
  {
    id: "to",
    title: t.topology.to,
    width: [10.4, 3],
    isLong: true,
    token: "to",
    text: ({ to }) => textOf(to),
    values: ({ to }) => (to === undefined ? [] : endValues(to)),
    cell: ({ to }) => <End end={to} />,
  },
  {
    id: "type",
    title: t.columns.type,
    width: [5.4, 0.3],
    token: "type",
    text: ({ edge }) => (edge === undefined ? t.common.none : t.topology.edges[edge.type]),
    cell: ({ edge }) => (edge === undefined ? <span className="muted">–</span> : t.topology.edges[edge.type]),
  },
  {
    id: "label",
    title: t.topology.share,
    width: [4, 0.3],
    text: ({ edge }) => shareOf(edge),
    cell: ({ edge }) => <Name text={shareOf(edge)} />,
  },
  {
    id: "cluster",
    title: t.columns.clusters,
    width: [8, 0.6],
    isLong: true,
    spare: 1,
    token: "cluster",
    text: (row) => [...new Set(clustersOf(row))].join(", "),
    values: clustersOf,
    cell: (row) => <Name text={[...new Set(clustersOf(row))].join(", ")} />,
  },
  {
    id: "ns",
    title: t.columns.namespace,
    width: [6, 0.6],
    isLong: true,
    spare: 2,
    token: "ns",
    text: (row) => [...new Set(namespacesOf(row))].join(", "),
    values: namespacesOf,
    cell: (row) => <Name text={[...new Set(namespacesOf(row))].join(", ")} />,
  },
  {
    id: "because",
    title: t.topology.why,
    width: [10.4, 3],
    isLong: true,
    token: "policy",
    values: ({ edge }) => (edge?.because === undefined ? [] : policyValues(edge.because)),
    text: ({ edge }) => (edge?.because === undefined ? "" : `${edge.because.kind} ${edge.because.namespace}/${edge.because.name}`),
    cell: ({ edge }) => (edge?.because === undefined ? <span className="muted">–</span> : <ObjectLink to={edge.because} hasKind />),
  },
];

// The rate stays longest.
const SPARE: Readonly<Partial<Record<string, number>>> = { p99: 3, p95: 4, errors: 5, rate: 7 };

/** What rows show that depends on the page. */
export interface EdgeColumnsOptions {
  /** What an edge without rates has in their place: `–` where nothing could be counted. */
  noRates(row: EdgeRow): string;
  /** Undefined: there is no such column. */
  readonly insights: TopologyInsights | undefined;
  /** Ids of nodes and edges that are looked for; undefined: there is no such column. */
  readonly found: ReadonlySet<string> | undefined;
}

/** The columns with what was counted, with insights, and with whether a row, or one of its ends, is found. */
export function edgeColumns({ noRates, insights, found }: EdgeColumnsOptions): readonly Column<EdgeRow>[] {
  const column = (id: "rate" | "errors" | "p95" | "p99", sort: (rates: SignalRates) => number | undefined): Column<EdgeRow> => {
    const textOf = (row: EdgeRow) => (row.edge?.rates === undefined ? noRates(row) : trafficTexts(row.edge.rates)[id]);
    return {
      id,
      title: t.traffic[id],
      width: [id === "rate" ? 6 : 5.2, 0.3],
      isMeasured: true,
      ...(SPARE[id] === undefined ? {} : { spare: SPARE[id] }),
      text: textOf,
      sort: ({ edge }) => (edge?.rates === undefined ? -1 : (sort(edge.rates) ?? -1)),
      cell: (row) =>
        row.edge?.rates === undefined ? (
          <span className="muted">{textOf(row)}</span>
        ) : (
          <span className="inline">
            <span className="number">{textOf(row) || "–"}</span>
            {id === "rate" ? <Sparkline series={row.edge.series ?? []} isSmall /> : null}
          </span>
        ),
    };
  };
  const [from, to, type, ...others] = EDGE_COLUMNS as readonly [Column<EdgeRow>, Column<EdgeRow>, Column<EdgeRow>, ...Column<EdgeRow>[]];
  return [
    from,
    to,
    ...(found === undefined ? [] : [foundColumn(found)]),
    type,
    column("rate", ({ requestsPerSecond }) => requestsPerSecond),
    column("errors", ({ errorPercent }) => errorPercent),
    column("p95", ({ p95Ms }) => p95Ms),
    column("p99", ({ p99Ms }) => p99Ms),
    ...others,
    ...(insights === undefined ? [] : [insightColumn(insights)]),
  ];
}

function foundColumn(found: ReadonlySet<string>): Column<EdgeRow> {
  const text = ({ edge, from, to }: EdgeRow): string => {
    if (edge !== undefined && found.has(edge.id)) return t.topology.isFound;
    return [from, to].some((end) => typeof end === "object" && found.has(end.id)) ? t.topology.endIsFound : "";
  };
  return {
    id: "found",
    title: t.topology.foundColumn,
    width: [4.5, 0.5],
    text,
    cell: (row) => (text(row) === "" ? <Nothing /> : text(row)),
  };
}

/** Of an edge those about what is behind it, of a row without one those about its node. */
function insightColumn(insights: TopologyInsights): Column<EdgeRow> {
  const countsOf = ({ edge, from }: EdgeRow) => insights.get(edge?.id ?? (typeof from === "string" ? from : from.id));
  return {
    id: "insights",
    title: t.columns.insights,
    width: [6, 0.3],
    spare: 6,
    token: "insight",
    values: (row) => insightValues(countsOf(row)),
    text: (row) => {
      const { error, warning, info } = countsOf(row) ?? NO_COUNTS;
      return `${error}/${warning}/${info}`;
    },
    cell: (row) => <SeverityTotals counts={countsOf(row) ?? NO_COUNTS} />,
  };
}

function Nothing() {
  return <span className="muted">–</span>;
}
