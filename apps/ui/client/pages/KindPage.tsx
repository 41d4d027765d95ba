import { fullKeyOf, type Resource, refOf } from "@isthmus/core";
import { Link, useParams } from "@tanstack/react-router";
import { useMemo } from "react";
import { Empty } from "../components/Empty.tsx";
import { usePageTitle } from "../components/frame/usePageTitle.ts";
import { Name } from "../components/Name.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import type { Column } from "../components/table/tableColumns.ts";
import { useFleet } from "../data/store.ts";
import { clusterOf as clusterAbout } from "../model/clusters/clusterOf.ts";
import { t } from "../strings.ts";
import { ObjectTable } from "./ObjectTable.tsx";

interface Row {
  readonly object: Resource;
  readonly isGenerated: boolean;
}

const clusterOf = ({ object }: Row) => object.metadata.clusterName || t.common.management;
const originOf = ({ isGenerated }: Row) => (isGenerated ? t.columns.generated : t.columns.reported);

const COLUMNS: readonly Column<Row>[] = [
  {
    id: "name",
    title: t.columns.name,
    width: [14, 3],
    text: ({ object }) => object.metadata.name,
    cell: ({ object }) => <ObjectLink to={refOf(object)} text={object.metadata.name} />,
  },
  {
    id: "ns",
    title: t.columns.namespace,
    width: [8, 1],
    token: "ns",
    text: ({ object }) => object.metadata.namespace ?? "",
    cell: ({ object }) => <Name text={object.metadata.namespace ?? "–"} />,
  },
  {
    id: "cluster",
    title: t.columns.cluster,
    width: [8, 1],
    token: "cluster",
    text: clusterOf,
    cell: (row) => <Name text={clusterOf(row)} />,
  },
  { id: "origin", title: t.columns.type, width: [7, 1], token: "type", text: originOf, cell: originOf },
];

const clustersOf = ({ object }: Row) => [clusterAbout(object)];
const keyOf = ({ object, isGenerated }: Row) => `${isGenerated ? "generated " : ""}${fullKeyOf(object)}`;

/** All objects of one kind, whatever it is. */
export function KindPage() {
  const { group = "", kind = "" } = useParams({ strict: false });
  const { snapshot, generated } = useFleet();
  usePageTitle(kind);
  const key = `${group === "_" ? "" : group}/${kind}`;
  const [reported, made] = [snapshot.collections().get(key), generated.collections().get(key)];
  const rows = useMemo(
    () => [
      ...[...(reported ?? [])].map((object) => ({ object, isGenerated: false })),
      ...[...(made ?? [])].map((object) => ({ object, isGenerated: true })),
    ],
    [reported, made],
  );
  return (
    <div className="page">
      <p className="crumbs">
        <Link to="/debug">{t.nav.debug}</Link>
      </p>
      <h1>
        <Name text={t.debug.kindTitle(kind)} />
      </h1>
      <ObjectTable
        what={t.debug.kindWhat}
        rows={rows}
        keyOf={keyOf}
        clustersOf={clustersOf}
        columns={COLUMNS}
        objectOf={({ object }) => object}
        empty={<Empty title={t.debug.kindEmpty} />}
      />
    </div>
  );
}
