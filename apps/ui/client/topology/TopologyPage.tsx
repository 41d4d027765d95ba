import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { Empty } from "../components/Empty.tsx";
import { Page } from "../components/frame/Page.tsx";
import { usePageSearch } from "../components/frame/usePageSearch.ts";
import { useScope } from "../components/frame/useScope.ts";
import { TrafficNote } from "../components/TrafficNote.tsx";
import { FilterBar } from "../components/table/FilterBar.tsx";
import { NoMatch, ResourceTable } from "../components/table/ResourceTable.tsx";
import { matchesRow, tokenKeys } from "../components/table/tableColumns.ts";
import type { Fleet } from "../data/fleet.ts";
import { useFleet } from "../data/store.ts";
import { millisecondsOf } from "../model/age.ts";
import { isEmptyFilter, parseFilter, unknownKeyOf } from "../model/lines/tokens.ts";
import { paramsOf } from "../model/objectPath.ts";
import { isInScope, type Scope } from "../model/scope.ts";
import { type EdgeType, type Topology, topologyOf } from "../model/topology/topology.ts";
import { boxesOf, foundIn, GRAPH_KEYS, partsOf, topologyInsights, withoutParts, withParts } from "../model/topology/topologyParts.ts";
import { withTraffic } from "../model/topology/topologyTraffic.ts";
import { type TrafficMinutes, trafficState } from "../model/topology/traffic.ts";
import { t } from "../strings.ts";
import "../styles/topology.css";
import { clustersOf, type EdgeRow, edgeColumns, edgeRows } from "./edgeColumns.tsx";
import { Graph } from "./Graph.tsx";
import { offlineClusters } from "./offline.ts";
import { TopologyBar } from "./TopologyBar.tsx";

const keyOf = ({ key }: EdgeRow) => key;

/** Which services policies connect, as a graph and as a table. */
export function TopologyPage() {
  const fleet = useFleet();
  const navigate = useNavigate();
  const [{ view, q = "", minutes: asked, box, show, find = "", without = "" }] = usePageSearch();
  const minutes: TrafficMinutes = asked === "60" ? 60 : 5;
  const scope = useScope();
  const [boxes, parts] = [boxesOf(box), partsOf(show)];
  const configured = useMemo(() => topologyOf(fleet), [fleet]);
  const all = useMemo(() => {
    const edges = withParts(configured, parts);
    return parts.has("traffic") ? withTraffic(edges, fleet, minutes) : edges;
  }, [configured, fleet, minutes, parts]);
  const context = useMemo(() => ({ insights: topologyInsights(fleet, all), typeText }), [fleet, all]);
  const topology = useMemo(() => withoutParts(all, foundIn(all, parseFilter(without), context)), [all, without, context]);
  const found = useMemo(() => {
    const filter = parseFilter(find);
    // Of a key that there is none of, the page says so, and nothing steps back.
    return isEmptyFilter(filter) || unknownKeyOf(filter, GRAPH_KEYS) !== undefined ? undefined : foundIn(topology, filter, context);
  }, [topology, find, context]);
  const insights = parts.has("insights") ? context.insights : undefined;
  const columns = useMemo(
    () => edgeColumns({ noRates: (row) => noRates(row, fleet, minutes), insights, found }),
    [fleet, minutes, insights, found],
  );
  const rows = useMemo(() => edgeRows(topology), [topology]);
  const shown = useMemo(() => filtered(rows, columns, { q, scope }), [rows, columns, q, scope]);
  const clusters = useMemo(() => [...new Set(configured.nodes.map(({ cluster }) => cluster))].sort(), [configured]);
  const offline = useMemo(() => offlineClusters(fleet, clusters, Date.now()), [fleet, clusters]);
  const part = useMemo(() => partOf(topology, shown), [topology, shown]);
  if (all.nodes.length === 0) {
    return (
      <Page title={t.nav.topology}>
        <Empty title={t.topology.empty} how={t.destinations.emptyHow} command={t.destinations.emptyCommand} />
      </Page>
    );
  }
  return (
    <Page title={t.nav.topology}>
      <TopologyBar found={found?.size} />
      <div className="topology-notes">
        <p className="note">
          {[
            topology.isGrouped ? t.topology.grouped : t.topology.configured,
            ...(view !== "table" && parts.has("federation") && !boxes.startsWith("cluster") ? [t.topology.noClusterBoxes] : []),
          ].join(" ")}
        </p>
        {parts.has("traffic") ? <TrafficNote clusters={clusters} minutes={minutes} /> : null}
      </div>
      {view === "table" ? (
        <ResourceTable
          what={t.topology.what}
          rows={rows}
          keyOf={keyOf}
          clustersOf={clustersOf}
          columns={columns}
          open={({ edge }) => {
            if (edge?.because !== undefined)
              void navigate({ to: "/object/$group/$kind/$cluster/$namespace/$name", params: paramsOf(edge.because) });
          }}
          empty={<Empty title={t.topology.allHidden} />}
        />
      ) : (
        <>
          <FilterBar what={t.topology.what} columns={columns} shown={shown} total={rows.length} />
          {part.nodes.length === 0 ? (
            <NoMatch q={q} keys={tokenKeys(columns)} />
          ) : (
            <Graph topology={part} boxes={boxes} insights={insights} found={found} offline={offline} />
          )}
        </>
      )}
    </Page>
  );
}

function typeText(type: EdgeType): string {
  return t.topology.edges[type];
}

/** Whether no request was seen, or it is not known whether there were any. */
function noRates({ from, edge }: EdgeRow, fleet: Fleet, minutes: TrafficMinutes): string {
  if (edge?.type !== "access" || typeof from === "string") return "–";
  const { known } = trafficState(fleet, from.cluster, { minutes, now: millisecondsOf(fleet.clock?.now) ?? 0 });
  return known === "now" ? t.traffic.noneShort : t.traffic.unknown;
}

interface Asked {
  readonly q: string;
  readonly scope: Scope;
}

function filtered(rows: readonly EdgeRow[], columns: ReturnType<typeof edgeColumns>, { q, scope }: Asked): readonly EdgeRow[] {
  const filter = parseFilter(q);
  return rows.filter((row) => isInScope(scope, clustersOf(row)) && matchesRow(columns, filter, row));
}

/** The part of a graph that rows name. */
function partOf({ nodes, isGrouped }: Topology, rows: readonly EdgeRow[]): Topology {
  const ids = new Set(rows.flatMap(({ from, to }) => [from, to].flatMap((end) => (typeof end === "object" ? [end.id] : []))));
  const shown = nodes.filter(({ id }) => ids.has(id));
  const clusters = new Set(shown.map(({ cluster }) => cluster));
  const edges = rows.flatMap(({ edge }) => {
    if (edge === undefined) return [];
    return edge.type !== "federation" || (clusters.has(edge.from) && clusters.has(edge.to)) ? [edge] : [];
  });
  return { nodes: shown, edges, isGrouped };
}
