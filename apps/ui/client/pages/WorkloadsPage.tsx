import { refOf } from "@isthmus/core";
import { Empty } from "../components/Empty.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import { Page } from "../components/Page.tsx";
import type { Column } from "../components/tableColumns.ts";
import { Workload } from "../data/kinds.ts";
import { t } from "../strings.ts";
import { clusterColumn, type DiscoveredRow, insightsColumn, rowClusters, rowKey, textColumn } from "./discoveredColumns.tsx";
import { ObjectTable } from "./ObjectTable.tsx";
import { useDiscovered } from "./useDiscovered.ts";

function controllerName({ metadata, spec }: Workload): string {
  return spec?.kubernetes?.controller?.name ?? metadata.name;
}

const COLUMNS: readonly Column<DiscoveredRow<Workload>>[] = [
  {
    id: "name",
    title: t.columns.name,
    width: [10, 2],
    text: ({ object }) => controllerName(object),
    cell: ({ object }) => <ObjectLink to={refOf(object)} text={controllerName(object)} />,
  },
  clusterColumn(),
  textColumn(
    { id: "ns", title: t.columns.namespace, width: [6, 1], token: "ns" },
    ({ spec }) => spec?.kubernetes?.controller?.namespace ?? "",
  ),
  textColumn({ id: "mesh", title: t.columns.mesh, width: [9, 1.5], token: "mesh" }, ({ spec }) => spec?.mesh?.name ?? ""),
  textColumn({ id: "version", title: t.columns.version, width: [5, 0.6], token: "version" }, ({ spec }) => {
    const labels = spec?.kubernetes?.podLabels ?? {};
    return labels["version"] ?? labels["app.kubernetes.io/version"] ?? "";
  }),
  textColumn(
    { id: "sa", title: t.columns.serviceAccount, width: [8, 1.2], token: "sa" },
    ({ spec }) => spec?.kubernetes?.serviceAccountName || "default",
  ),
  insightsColumn(),
];

/** All controllers whose pods are in a mesh. */
export function WorkloadsPage() {
  return (
    <Page title={t.nav.workloads}>
      <ObjectTable
        what={t.workloads.what}
        rows={useDiscovered(Workload)}
        keyOf={rowKey}
        clustersOf={rowClusters}
        columns={COLUMNS}
        objectOf={({ object }) => object}
        empty={<Empty title={t.workloads.empty} how={t.workloads.emptyHow} command={t.workloads.emptyCommand} />}
      />
    </Page>
  );
}
