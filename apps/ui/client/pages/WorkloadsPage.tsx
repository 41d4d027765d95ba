import { refOf } from "@isthmus/core";
import { useMemo } from "react";
import { Empty } from "../components/Empty.tsx";
import { Name } from "../components/Name.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import { Page } from "../components/Page.tsx";
import type { Column } from "../components/tableColumns.ts";
import { Destination, Mesh, Workload } from "../data/kinds.ts";
import { useFleet } from "../data/store.ts";
import { type WorkloadFacts, workloadFacts } from "../model/workloadFacts.ts";
import { t } from "../strings.ts";
import { clusterColumn, type DiscoveredRow, insightsColumn, rowClusters, rowKey, textColumn } from "./discoveredColumns.tsx";
import { ObjectTable } from "./ObjectTable.tsx";
import { useDiscovered } from "./useDiscovered.ts";

function controllerName({ metadata, spec }: Workload): string {
  return spec?.kubernetes?.controller?.name ?? metadata.name;
}

/** A row, with what is looked up when somebody sees it, sorts by it or filters. */
interface WorkloadRow extends DiscoveredRow<Workload> {
  readonly facts: () => WorkloadFacts;
}

const COLUMNS: readonly Column<WorkloadRow>[] = [
  {
    id: "name",
    title: t.columns.name,
    width: [9, 2],
    text: ({ object }) => controllerName(object),
    cell: ({ object }) => <ObjectLink to={refOf(object)} text={controllerName(object)} />,
  },
  clusterColumn(),
  textColumn(
    { id: "ns", title: t.columns.namespace, width: [5.5, 1], token: "ns" },
    ({ spec }) => spec?.kubernetes?.controller?.namespace ?? "",
  ),
  textColumn({ id: "mesh", title: t.columns.mesh, width: [7, 1.5], token: "mesh" }, ({ spec }) => spec?.mesh?.name ?? ""),
  textColumn({ id: "version", title: t.columns.version, width: [4.5, 0.6], token: "version" }, ({ spec }) => {
    const labels = spec?.kubernetes?.podLabels ?? {};
    return labels["version"] ?? labels["app.kubernetes.io/version"] ?? "";
  }),
  textColumn(
    { id: "sa", title: t.columns.serviceAccount, width: [7, 1.2], token: "sa" },
    ({ spec }) => spec?.kubernetes?.serviceAccountName || "default",
  ),
  {
    id: "policies",
    title: t.columns.policies,
    width: [5, 0.7],
    text: ({ facts }) => facts().policies,
    cell: ({ facts }) => <TextOrNone text={facts().policies} />,
  },
  {
    id: "identity",
    title: t.workloads.identity,
    width: [6.5, 1],
    token: "identity",
    text: ({ facts }) => facts().identity,
    // The rest of it has columns of its own, which are narrow.
    cell: ({ facts }) => <TextOrNone text={facts().trustDomain} title={facts().identity} />,
  },
  insightsColumn(),
];

function TextOrNone({ text, title }: { readonly text: string; readonly title?: string }) {
  return text === "" ? <span className="muted">–</span> : <Name text={text} {...(title === undefined ? {} : { title })} />;
}

/** All controllers whose pods are in a mesh. */
export function WorkloadsPage() {
  const fleet = useFleet();
  const discovered = useDiscovered(Workload);
  const [destinations, meshes] = [fleet.snapshot.of(Destination), fleet.snapshot.of(Mesh)];
  // biome-ignore lint/correctness/useExhaustiveDependencies: of the fleet only these are read
  const rows = useMemo(
    () => discovered.map((row): WorkloadRow => ({ ...row, facts: workloadFacts(fleet, row.object) })),
    [discovered, destinations, meshes],
  );
  return (
    <Page title={t.nav.workloads}>
      <ObjectTable
        what={t.workloads.what}
        rows={rows}
        keyOf={rowKey}
        clustersOf={rowClusters}
        columns={COLUMNS}
        objectOf={({ object }) => object}
        empty={<Empty title={t.workloads.empty} how={t.workloads.emptyHow} command={t.workloads.emptyCommand} />}
      />
    </Page>
  );
}
