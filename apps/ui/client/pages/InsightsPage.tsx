import { explainedCode } from "@isthmus/insights/catalogue";
import { Link, useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { Choices } from "../components/Choices.tsx";
import { Empty } from "../components/Empty.tsx";
import { Name } from "../components/Name.tsx";
import { Page } from "../components/Page.tsx";
import { ResourceTable } from "../components/ResourceTable.tsx";
import { Severity } from "../components/Severity.tsx";
import { useServerNow, When } from "../components/Times.tsx";
import type { Column } from "../components/tableColumns.ts";
import { usePageSearch } from "../components/usePageSearch.ts";
import { useScope } from "../components/useScope.ts";
import { useFleet } from "../data/store.ts";
import { millisecondsOf, timeText } from "../model/age.ts";
import { type CodeInsights, findingText, insightIndexOf } from "../model/insightIndex.ts";
import { t } from "../strings.ts";

const SEVERITY_ORDER = { error: 0, warning: 1, info: 2 } as const;

function findingOf({ insights }: CodeInsights): string {
  const [first] = insights;
  return first === undefined ? "" : `${first.object.name}: ${findingText(first)}`;
}

/** A few words; none for a code of another version. */
function titleOf({ code }: CodeInsights): string {
  return explainedCode(code)?.title ?? "";
}

const VIEWS = ["active", "suppressed"] as const;
const COLUMNS: readonly Column<CodeInsights>[] = [
  {
    id: "code",
    title: t.columns.code,
    width: [6, 0.7],
    token: "code",
    text: ({ code }) => code,
    cell: ({ code }) => (
      <Link className="object-link" to="/insights/$code" params={{ code }}>
        {code}
      </Link>
    ),
  },
  {
    id: "severity",
    title: t.columns.severity,
    width: [6.5, 0.8],
    token: "severity",
    text: ({ severity }) => severity,
    sort: ({ severity }) => SEVERITY_ORDER[severity],
    cell: ({ severity }) => <Severity severity={severity} />,
  },
  {
    id: "title",
    title: t.columns.title,
    width: [11, 2.4],
    text: titleOf,
    cell: (row) => <Name text={titleOf(row)} />,
  },
  {
    id: "finding",
    title: t.columns.finding,
    width: [11, 3.4],
    text: findingOf,
    cell: (row) => <Name text={findingOf(row)} />,
  },
  {
    id: "objects",
    title: t.columns.affected,
    width: [5, 0.5],
    text: ({ objects }) => String(objects),
    sort: ({ objects }) => objects,
    cell: ({ objects }) => <span className="number">{objects}</span>,
  },
  {
    id: "clusters",
    title: t.columns.clusters,
    width: [8, 1.2],
    token: "cluster",
    text: ({ clusters }) => clusters.join(", "),
    values: ({ clusters }) => clusters,
    cell: ({ clusters }) => <Name text={clusters.join(", ") || t.common.management} />,
  },
  {
    id: "since",
    title: t.columns.since,
    width: [6, 0.8],
    text: ({ since }) => since,
    cell: ({ since }) => <When time={since} />,
  },
];

const clustersOf = ({ clusters }: CodeInsights) => clusters;
const keyOf = ({ code }: CodeInsights) => code;

/** What is wrong in the fleet, by code; those that are suppressed in a list of their own. */
export function InsightsPage() {
  const fleet = useFleet();
  const navigate = useNavigate();
  const now = useServerNow();
  const [{ view }, change] = usePageSearch();
  const isSuppressed = view === "suppressed";
  const all = insightIndexOf(fleet);
  const shown = insightIndexOf(fleet, useScope());
  const [rows, shownRows] = isSuppressed ? [all.suppressed, shown.suppressed] : [all.byCode, shown.byCode];
  const at = millisecondsOf(fleet.insightsAt);
  const empty = isSuppressed ? (
    <Empty title={t.insights.emptySuppressed} />
  ) : (
    <Empty title={at === undefined ? t.insights.notYet : t.insights.empty} how={t.insights.emptyHow} command={t.insights.emptyCommand} />
  );
  return (
    <Page title={t.nav.insights}>
      <p className="note">
        {at === undefined ? t.insights.notYet : t.insights.asOf(timeText(at, now))}
        {fleet.unknownClusters.length === 0 ? null : ` ${t.insights.unknownClusters(fleet.unknownClusters.join(", "))}`}
      </p>
      <Choices
        label={t.columns.insights}
        choices={VIEWS}
        chosen={isSuppressed ? "suppressed" : "active"}
        textOf={(each) => `${t.insights[each]} ${(each === "suppressed" ? shown.suppressed : shown.byCode).length}`}
        choose={(each) => change({ view: each === "suppressed" ? each : undefined })}
      />
      <ResourceTable
        what={t.insights.what}
        rows={useMemo(() => withShown(rows, shownRows), [rows, shownRows])}
        keyOf={keyOf}
        clustersOf={clustersOf}
        columns={COLUMNS}
        open={({ code }) => void navigate({ to: "/insights/$code", params: { code } })}
        empty={empty}
      />
    </Page>
  );
}

/** All codes, each with the insights that are shown of it; of one of which none is, all: its row is left out. */
function withShown(all: readonly CodeInsights[], shown: readonly CodeInsights[]): readonly CodeInsights[] {
  const byCode = new Map(shown.map((group) => [group.code, group]));
  return all.map((group) => byCode.get(group.code) ?? group);
}
