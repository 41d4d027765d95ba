import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { Choices } from "../components/Choices.tsx";
import { Empty } from "../components/Empty.tsx";
import { FilterBar } from "../components/FilterBar.tsx";
import { Page } from "../components/Page.tsx";
import { ResourceTable } from "../components/ResourceTable.tsx";
import { ScopeNote } from "../components/ScopeNote.tsx";
import { TrafficNote } from "../components/TrafficNote.tsx";
import { matchesRow } from "../components/tableColumns.ts";
import { usePageSearch } from "../components/usePageSearch.ts";
import { useScope } from "../components/useScope.ts";
import type { Fleet } from "../data/fleet.ts";
import { useFleet } from "../data/store.ts";
import { millisecondsOf } from "../model/age.ts";
import { paramsOf } from "../model/objectPath.ts";
import { isInScope, type Scope } from "../model/scope.ts";
import { parseFilter } from "../model/tokens.ts";
import { type Topology, topologyOf } from "../model/topology.ts";
import { withTraffic } from "../model/topologyTraffic.ts";
import { type TrafficMinutes, trafficState } from "../model/traffic.ts";
import { t } from "../strings.ts";
import "../styles/topology.css";
import { clustersOf, type EdgeRow, edgeColumns, edgeRows } from "./edgeColumns.tsx";
import { Graph } from "./Graph.tsx";

const VIEWS = ["graph", "table"] as const;
const MINUTES = ["5", "60"] as const;
const EDGE_TYPES = ["route", "mirror", "access", "federation", "traffic"] as const;
const keyOf = ({ key }: EdgeRow) => key;

/** Which services policies connect, as a graph and as a table. */
export function TopologyPage() {
  const fleet = useFleet();
  const navigate = useNavigate();
  const [{ view, q = "", minutes: asked }, change] = usePageSearch();
  const minutes: TrafficMinutes = asked === "60" ? 60 : 5;
  const scope = useScope();
  const configured = useMemo(() => topologyOf(fleet), [fleet]);
  const topology = useMemo(() => withTraffic(configured, fleet, minutes), [configured, fleet, minutes]);
  const columns = useMemo(() => edgeColumns((row) => noRates(row, fleet, minutes)), [fleet, minutes]);
  const rows = useMemo(() => edgeRows(topology), [topology]);
  const shown = useMemo(() => filtered(rows, columns, { q, scope }), [rows, columns, q, scope]);
  const clusters = useMemo(() => [...new Set(configured.nodes.map(({ cluster }) => cluster))].sort(), [configured]);
  const part = useMemo(() => partOf(topology, shown), [topology, shown]);
  if (topology.nodes.length === 0) {
    return (
      <Page title={t.nav.topology}>
        <Empty title={t.topology.empty} how={t.destinations.emptyHow} command={t.destinations.emptyCommand} />
      </Page>
    );
  }
  return (
    <Page title={t.nav.topology}>
      <div className="topology-bar">
        <Choices
          label={t.topology.view}
          choices={VIEWS}
          chosen={view === "table" ? "table" : "graph"}
          textOf={(each) => t.topology[each]}
          choose={(each) => change({ view: each === "table" ? each : undefined })}
        />
        <Choices
          label={t.traffic.window}
          choices={MINUTES}
          chosen={minutes === 60 ? "60" : "5"}
          textOf={(each) => t.traffic.minutes(Number(each))}
          choose={(each) => change({ minutes: each === "60" ? each : undefined })}
        />
        <ul className="legend" aria-label={t.topology.show}>
          {EDGE_TYPES.map((type) => (
            <li key={type} className={type}>
              {t.topology.edges[type]}
            </li>
          ))}
        </ul>
        <span className="note">{topology.isGrouped ? t.topology.grouped : t.topology.configured}</span>
      </div>
      <TrafficNote clusters={clusters} minutes={minutes} />
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
          empty={null}
        />
      ) : (
        <>
          <FilterBar what={t.topology.what} columns={columns} shown={shown} total={rows.length} />
          {part.nodes.length === 0 ? (
            <Empty title={t.table.noMatch}>{scope.size === 0 ? null : <ScopeNote scope={scope} />}</Empty>
          ) : (
            <Graph topology={part} />
          )}
        </>
      )}
    </Page>
  );
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
