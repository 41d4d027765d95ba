import { refOf } from "@isthmus/core";
import { ObjectLink } from "../components/ObjectLink.tsx";
import type { Column } from "../components/table/tableColumns.ts";
import type { Mesh } from "../data/kinds.ts";
import { meshFacts } from "../model/meshFacts.ts";
import { t } from "../strings.ts";
import { clusterColumn, type DiscoveredRow, insightsColumn, textColumn } from "./discoveredColumns.tsx";

export const MESH_COLUMNS: readonly Column<DiscoveredRow<Mesh>>[] = [
  {
    id: "name",
    title: t.columns.name,
    width: [12, 3],
    isLong: true,
    token: "mesh",
    text: ({ object }) => object.metadata.name,
    cell: ({ object }) => <ObjectLink to={refOf(object)} text={object.metadata.name} />,
  },
  clusterColumn(),
  textColumn({ id: "type", title: t.columns.type, width: [5, 0.4], token: "type", spare: 1 }, (mesh) => meshFacts(mesh).type),
  textColumn(
    { id: "version", title: t.columns.version, width: [5, 0.5], token: "version", spare: 2 },
    (mesh) => meshFacts(mesh).installation?.version ?? "",
  ),
  textColumn(
    { id: "trust", title: t.columns.trustDomain, width: [7, 1], token: "trust", spare: 4 },
    ({ spec }) => spec?.istio?.trustDomain ?? "",
  ),
  textColumn(
    { id: "vmesh", title: t.columns.virtualMesh, width: [7, 1], token: "vmesh", spare: 3 },
    ({ status }) => status?.appliedVirtualMesh?.ref?.name ?? "",
  ),
  textColumn({ id: "gateways", title: t.columns.gateways, width: [9, 1.5], isLong: true }, (mesh) => meshFacts(mesh).gateways.join(", ")),
  insightsColumn(),
];
