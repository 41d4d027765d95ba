import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { Empty } from "../components/Empty.tsx";
import { Page } from "../components/Page.tsx";
import { ResourceTable } from "../components/ResourceTable.tsx";
import { useFleet } from "../data/store.ts";
import { type ClusterRow, clusterRows } from "../model/clusterRows.ts";
import { paramsOf } from "../model/objectPath.ts";
import { t } from "../strings.ts";
import { CLUSTER_COLUMNS, clusterRef } from "./clusterColumns.tsx";

const keyOf = ({ name }: ClusterRow) => name;

/** All clusters: their state, their agents, how old what is shown of them is. */
export function ClustersPage() {
  const fleet = useFleet();
  const navigate = useNavigate();
  const rows = useMemo(() => clusterRows(fleet), [fleet]);
  return (
    <Page title={t.nav.clusters}>
      <ResourceTable
        what={t.clusters.what}
        rows={rows}
        keyOf={keyOf}
        columns={CLUSTER_COLUMNS}
        open={(row) =>
          row.cluster !== undefined &&
          void navigate({ to: "/object/$group/$kind/$cluster/$namespace/$name", params: paramsOf(clusterRef(row)) })
        }
        empty={<Empty title={t.clusters.empty} how={t.clusters.emptyHow} command={t.clusters.emptyCommand} />}
      />
    </Page>
  );
}
