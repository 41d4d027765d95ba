import { refOf } from "@isthmus/core";
import { useMemo } from "react";
import { Empty } from "../components/Empty.tsx";
import { Page } from "../components/frame/Page.tsx";
import { Name } from "../components/Name.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import type { Column } from "../components/table/tableColumns.ts";
import { useFleet } from "../data/store.ts";
import { canTellOutside, type OutsideReason } from "../model/outsideMesh.ts";
import { receivedTraffic } from "../model/topology/receivedTraffic.ts";
import { t } from "../strings.ts";
import { clusterColumn, insightsColumn, receivedColumn, rowClusters } from "./discoveredColumns.tsx";
import { ObjectTable } from "./ObjectTable.tsx";
import { useWorkloadRows, type WorkloadRow } from "./workloadRows.ts";

function plainColumn(
  column: Pick<Column<WorkloadRow>, "id" | "title" | "width" | "token" | "isLong" | "spare">,
  text: (row: WorkloadRow) => string,
): Column<WorkloadRow> {
  return { ...column, text, cell: (row) => <TextOrNone text={text(row)} /> };
}

const COLUMNS: readonly Column<WorkloadRow>[] = [
  {
    id: "name",
    title: t.columns.name,
    width: [9, 2],
    isLong: true,
    text: ({ name }) => name,
    cell: ({ object, name }) => <ObjectLink to={refOf(object)} text={name} />,
  },
  clusterColumn(),
  plainColumn({ id: "ns", title: t.columns.namespace, width: [5.5, 1], token: "ns" }, ({ namespace }) => namespace),
  {
    id: "mesh",
    title: t.columns.mesh,
    width: [6, 1.5],
    isLong: true,
    token: "mesh",
    text: ({ mesh, reason }) => (reason === undefined ? mesh : outsideText(mesh, reason)),
    values: ({ mesh }) => [mesh],
    cell: ({ mesh, reason }) => (reason === undefined ? <TextOrNone text={mesh} /> : <Outside mesh={mesh} reason={reason} />),
  },
  plainColumn(
    { id: "version", title: t.columns.version, width: [4.3, 0.4], token: "version", spare: 3 },
    ({ labels }) => labels["version"] ?? labels["app.kubernetes.io/version"] ?? "",
  ),
  plainColumn(
    { id: "sa", title: t.columns.serviceAccount, width: [6.4, 1.6], token: "sa", isLong: true, spare: 4 },
    ({ serviceAccount }) => serviceAccount,
  ),
  plainColumn({ id: "policies", title: t.columns.policies, width: [5, 0.4], spare: 2 }, ({ facts }) => facts().policies),
  {
    id: "identity",
    title: t.workloads.identity,
    width: [6.5, 0.8],
    spare: 1,
    token: "identity",
    text: ({ facts }) => facts().identity,
    // The rest of it has columns of its own, which are narrow.
    cell: ({ facts }) => <TextOrNone text={facts().trustDomain} title={facts().identity} />,
  },
];

function outsideText(mesh: string, reason: OutsideReason): string {
  return `${mesh} · ${t.workloads.outsideReasons[reason]}`;
}

function Outside({ mesh, reason }: { readonly mesh: string; readonly reason: OutsideReason }) {
  return (
    <span className="muted clipped">
      <Name text={outsideText(mesh, reason)} />
    </span>
  );
}

function TextOrNone({ text, title }: { readonly text: string; readonly title?: string }) {
  return text === "" ? <span className="muted">–</span> : <Name text={text} {...(title === undefined ? {} : { title })} />;
}

const keyOf = ({ key }: WorkloadRow) => key;

/** All controllers whose pods are in a mesh, and whatever else runs, with why it is in none. */
export function WorkloadsPage() {
  const fleet = useFleet();
  const received = receivedTraffic(fleet);
  const columns = useMemo((): readonly Column<WorkloadRow>[] => [...COLUMNS, receivedColumn(received), insightsColumn()], [received]);
  return (
    <Page title={t.nav.workloads}>
      {canTellOutside(fleet) ? null : <p className="note">{t.workloads.outsideNotShown}</p>}
      <ObjectTable
        what={t.workloads.what}
        rows={useWorkloadRows()}
        keyOf={keyOf}
        clustersOf={rowClusters}
        columns={columns}
        objectOf={({ object }) => object}
        empty={<Empty title={t.workloads.empty} how={t.workloads.emptyHow} command={t.workloads.emptyCommand} />}
      />
    </Page>
  );
}
