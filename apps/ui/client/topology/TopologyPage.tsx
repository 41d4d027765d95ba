import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { Choices } from "../components/Choices.tsx";
import { Empty } from "../components/Empty.tsx";
import { FilterBar } from "../components/FilterBar.tsx";
import { Page } from "../components/Page.tsx";
import { ResourceTable } from "../components/ResourceTable.tsx";
import { ScopeNote } from "../components/ScopeNote.tsx";
import { matchesRow } from "../components/tableColumns.ts";
import { usePageSearch } from "../components/usePageSearch.ts";
import { useScope } from "../components/useScope.ts";
import { useFleet } from "../data/store.ts";
import { paramsOf } from "../model/objectPath.ts";
import { isInScope, type Scope } from "../model/scope.ts";
import { parseFilter } from "../model/tokens.ts";
import { type Topology, topologyOf } from "../model/topology.ts";
import { t } from "../strings.ts";
import "../styles/topology.css";
import { clustersOf, EDGE_COLUMNS, type EdgeRow, edgeRows } from "./edgeColumns.tsx";
import { Graph } from "./Graph.tsx";

const VIEWS = ["graph", "table"] as const;
const EDGE_TYPES = ["route", "mirror", "access", "federation"] as const;
const keyOf = ({ key }: EdgeRow) => key;

/** Which services policies connect, as a graph and as a table. */
export function TopologyPage() {
  const fleet = useFleet();
  const navigate = useNavigate();
  const [{ view, q = "" }, change] = usePageSearch();
  const scope = useScope();
  const topology = useMemo(() => topologyOf(fleet), [fleet]);
  const rows = useMemo(() => edgeRows(topology), [topology]);
  const shown = useMemo(() => filtered(rows, q, scope), [rows, q, scope]);
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
        <ul className="legend" aria-label={t.topology.show}>
          {EDGE_TYPES.map((type) => (
            <li key={type} className={type}>
              {t.topology.edges[type]}
            </li>
          ))}
        </ul>
        <span className="note">{topology.isGrouped ? t.topology.grouped : t.topology.configured}</span>
      </div>
      {view === "table" ? (
        <ResourceTable
          what={t.topology.what}
          rows={rows}
          keyOf={keyOf}
          clustersOf={clustersOf}
          columns={EDGE_COLUMNS}
          open={({ edge }) => {
            if (edge !== undefined) void navigate({ to: "/object/$group/$kind/$cluster/$namespace/$name", params: paramsOf(edge.because) });
          }}
          empty={null}
        />
      ) : (
        <>
          <FilterBar what={t.topology.what} columns={EDGE_COLUMNS} shown={shown} total={rows.length} />
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

function filtered(rows: readonly EdgeRow[], q: string, scope: Scope): readonly EdgeRow[] {
  const filter = parseFilter(q);
  return rows.filter((row) => isInScope(scope, clustersOf(row)) && matchesRow(EDGE_COLUMNS, filter, row));
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
