import { refOf } from "@isthmus/core";
import { ObjectLink } from "../components/ObjectLink.tsx";
import type { Column } from "../components/tableColumns.ts";
import type { Mesh } from "../data/kinds.ts";
import { meshFacts } from "../model/meshFacts.ts";
import { t } from "../strings.ts";
import { clusterColumn, type DiscoveredRow, insightsColumn, textColumn } from "./discoveredColumns.tsx";

export const MESH_COLUMNS: readonly Column<DiscoveredRow<Mesh>>[] = [
  {
    id: "name",
    title: t.columns.name,
    width: [12, 2],
    token: "mesh",
    text: ({ object }) => object.metadata.name,
    cell: ({ object }) => <ObjectLink to={refOf(object)} text={object.metadata.name} />,
  },
  clusterColumn(),
  textColumn({ id: "type", title: t.columns.type, width: [5, 0.6], token: "type" }, (mesh) => meshFacts(mesh).type),
  textColumn(
    { id: "version", title: t.columns.version, width: [5, 0.7], token: "version" },
    (mesh) => meshFacts(mesh).installation?.version ?? "",
  ),
  textColumn({ id: "trust", title: t.columns.trustDomain, width: [7, 1], token: "trust" }, ({ spec }) => spec?.istio?.trustDomain ?? ""),
  textColumn(
    { id: "vmesh", title: t.columns.virtualMesh, width: [7, 1], token: "vmesh" },
    ({ status }) => status?.appliedVirtualMesh?.ref?.name ?? "",
  ),
  textColumn({ id: "gateways", title: t.columns.gateways, width: [9, 1.2] }, (mesh) => meshFacts(mesh).gateways.join(", ")),
  insightsColumn(),
];
