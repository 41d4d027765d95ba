import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { Name } from "../components/Name.tsx";
import { SeverityTotals } from "../components/Severity.tsx";
import { When } from "../components/Times.tsx";
import { ResourceTable } from "../components/table/ResourceTable.tsx";
import type { Column } from "../components/table/tableColumns.ts";
import { useFleet } from "../data/store.ts";
import { type InsightGroup, type InsightGrouping, insightGroups } from "../model/insights/insightGroups.ts";
import type { CodeInsights } from "../model/insights/insightIndex.ts";
import { t } from "../strings.ts";

const keyOf = ({ name }: InsightGroup) => name;
const clustersOf = ({ cluster }: InsightGroup) => (cluster === undefined ? [] : [cluster]);

const COLUMNS: readonly Column<InsightGroup>[] = [
  {
    id: "group",
    title: t.insights.group,
    width: [10, 2],
    text: ({ name }) => name,
    cell: ({ name, query }) => (
      <Link className="object-link" to="/insights" search={{ q: query }}>
        <Name text={name} />
      </Link>
    ),
  },
  {
    id: "insights",
    title: t.columns.insights,
    width: [9, 1.2],
    text: ({ counts }) => `${counts.error}/${counts.warning}/${counts.info}`,
    sort: ({ counts }) => counts.error * 1e10 + counts.warning * 1e5 + counts.info,
    cell: ({ counts }) => <SeverityTotals counts={counts} />,
  },
  {
    id: "objects",
    title: t.columns.affected,
    width: [5, 0.5],
    spare: 2,
    text: ({ objects }) => String(objects),
    sort: ({ objects }) => objects,
    cell: ({ objects }) => <span className="number">{objects}</span>,
  },
  {
    id: "codes",
    title: t.insights.codes,
    width: [14, 4],
    isLong: true,
    token: "code",
    text: ({ codes }) => codes.join(", "),
    values: ({ codes }) => codes,
    cell: ({ codes }) => <Name text={codes.join(", ")} />,
  },
  {
    id: "since",
    title: t.columns.since,
    width: [6, 0.8],
    spare: 1,
    text: ({ since }) => since,
    cell: ({ since }) => <When time={since} />,
  },
];

export interface InsightGroupsProps {
  readonly byCode: readonly CodeInsights[];
  readonly by: InsightGrouping;
  readonly empty: ReactNode;
}

/** Insights by severity, cluster or namespace; each leads to the codes of it. */
export function InsightGroups({ byCode, by, empty }: InsightGroupsProps) {
  const fleet = useFleet();
  const navigate = useNavigate();
  const rows = useMemo(() => insightGroups(byCode, by, fleet), [byCode, by, fleet]);
  return (
    <ResourceTable
      what={t.insights.groups}
      rows={rows}
      keyOf={keyOf}
      clustersOf={clustersOf}
      columns={COLUMNS}
      open={({ query }) => void navigate({ to: "/insights", search: { q: query } })}
      empty={empty}
    />
  );
}
