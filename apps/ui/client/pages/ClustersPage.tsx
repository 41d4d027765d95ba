import { useMemo } from "react";
import { Command } from "../components/Command.tsx";
import { Empty } from "../components/Empty.tsx";
import { Page } from "../components/frame/Page.tsx";
import { ServersNote } from "../components/frame/ServersNote.tsx";
import { useFleet } from "../data/store.ts";
import { type ClusterRow, clusterRows, freeName } from "../model/clusters/clusterRows.ts";
import { t } from "../strings.ts";
import { CLUSTER_COLUMNS } from "./clusterColumns.tsx";
import { ObjectTable } from "./ObjectTable.tsx";

const clustersOf = ({ name }: ClusterRow) => [name];
const keyOf = ({ name }: ClusterRow) => name;

/** All clusters: their state, their agents, how old what is shown of them is. */
export function ClustersPage() {
  const fleet = useFleet();
  const rows = useMemo(() => clusterRows(fleet), [fleet]);
  const example = freeName(rows.map(({ name }) => name));
  return (
    <Page title={t.nav.clusters}>
      {rows.length === 0 ? null : (
        <details className="how-to">
          <summary>{t.clusters.register}</summary>
          <p className="note">{t.clusters.registerWhy}</p>
          <Command text={t.clusters.registerCommand(example)} />
          <Command text={t.clusters.registerElsewhere(example)} />
        </details>
      )}
      <ServersNote />
      <ObjectTable
        what={t.clusters.what}
        rows={rows}
        keyOf={keyOf}
        clustersOf={clustersOf}
        columns={CLUSTER_COLUMNS}
        objectOf={({ cluster }) => cluster}
        empty={<Empty title={t.clusters.empty} how={t.clusters.emptyHow} command={t.clusters.registerCommand(example)} />}
      />
    </Page>
  );
}
