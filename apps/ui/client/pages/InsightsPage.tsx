import { explainedCode } from "@isthmus/insights/catalogue";
import { Link, useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { flushSync } from "react-dom";
import { Choices } from "../components/Choices.tsx";
import { CopyDialog } from "../components/CopyDialog.tsx";
import { Empty } from "../components/Empty.tsx";
import { Page } from "../components/frame/Page.tsx";
import { usePageSearch } from "../components/frame/usePageSearch.ts";
import { useScope } from "../components/frame/useScope.ts";
import { Name } from "../components/Name.tsx";
import { Severity } from "../components/Severity.tsx";
import { save } from "../components/save.ts";
import { useServerNow, When } from "../components/Times.tsx";
import { ResourceTable } from "../components/table/ResourceTable.tsx";
import type { Column } from "../components/table/tableColumns.ts";
import { useFleet } from "../data/store.ts";
import { millisecondsOf, timeText } from "../model/age.ts";
import { copiesOfCode } from "../model/copies.ts";
import { INSIGHT_FORMATS, insightFile } from "../model/insights/insightExport.ts";
import { clustersOfCode, INSIGHT_GROUPINGS, namespacesOfCode, severitiesOfCode } from "../model/insights/insightGroups.ts";
import { type CodeInsights, findingText, type InsightIndex, insightIndexOf } from "../model/insights/insightIndex.ts";
import { t } from "../strings.ts";
import { InsightChanges } from "./InsightChanges.tsx";
import { InsightGroups } from "./InsightGroups.tsx";

const SEVERITY_ORDER = { error: 0, warning: 1, info: 2 } as const;

function findingOf({ insights }: CodeInsights): string {
  const [first] = insights;
  return first === undefined ? "" : `${first.object.name}: ${findingText(first)}`;
}

/** A few words; none for a code of another version. */
function titleOf({ code }: CodeInsights): string {
  return explainedCode(code)?.title ?? "";
}

const GROUPINGS = ["code", ...INSIGHT_GROUPINGS] as const;
const VIEWS = ["active", "suppressed", "changes"] as const;
const COLUMNS: readonly Column<CodeInsights>[] = [
  {
    id: "code",
    title: t.columns.code,
    width: [5, 0.1],
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
    width: [5.5, 0.1],
    token: "severity",
    text: ({ severity }) => severity,
    values: severitiesOfCode,
    sort: ({ severity }) => SEVERITY_ORDER[severity],
    cell: ({ severity }) => <Severity severity={severity} />,
  },
  {
    id: "title",
    title: t.columns.title,
    width: [9, 2.4],
    isLong: true,
    text: titleOf,
    cell: (row) => <Name text={titleOf(row)} />,
  },
  {
    id: "finding",
    title: t.columns.finding,
    width: [14, 6],
    isLong: true,
    text: findingOf,
    cell: (row) => <Name text={findingOf(row)} />,
  },
  {
    id: "insights",
    title: t.columns.insights,
    width: [4.4, 0.1],
    text: ({ insights }) => String(insights.length),
    sort: ({ insights }) => insights.length,
    cell: ({ insights }) => <span className="number">{insights.length}</span>,
  },
  {
    id: "objects",
    title: t.columns.affected,
    width: [4.2, 0.1],
    spare: 3,
    text: ({ objects }) => String(objects),
    sort: ({ objects }) => objects,
    cell: ({ objects }) => <span className="number">{objects}</span>,
  },
  {
    id: "clusters",
    title: t.columns.clusters,
    width: [7, 1],
    isLong: true,
    spare: 4,
    token: "cluster",
    text: ({ clusters }) => clusters.join(", "),
    values: clustersOfCode,
    cell: ({ clusters }) => <Name text={clusters.join(", ") || t.common.management} />,
  },
  {
    id: "ns",
    title: t.columns.namespace,
    width: [5.5, 0.8],
    isLong: true,
    spare: 1,
    token: "ns",
    text: (row) => namespacesOfCode(row).join(", "),
    values: namespacesOfCode,
    cell: (row) => <Name text={namespacesOfCode(row).join(", ")} />,
  },
  {
    id: "since",
    title: t.columns.since,
    width: [4.8, 0.1],
    spare: 2,
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
  const [{ view, group }, change] = usePageSearch();
  const chosen = VIEWS.find((each) => each === view) ?? "active";
  const isSuppressed = chosen === "suppressed";
  const all = insightIndexOf(fleet);
  const scope = useScope();
  const shown = insightIndexOf(fleet, scope);
  const [rows, shownRows] = isSuppressed ? [all.suppressed, shown.suppressed] : [all.byCode, shown.byCode];
  const shownCodes = useMemo(() => withShown(rows, shownRows), [rows, shownRows]);
  const [copied, setCopied] = useState<string>();
  const grouping = INSIGHT_GROUPINGS.find((each) => each === group);
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
      <div className="view-bar">
        <Choices
          label={t.columns.insights}
          choices={VIEWS}
          chosen={chosen}
          textOf={(each) => (each === "changes" ? t.insights.changes : `${t.insights[each]} ${countOf(shown, each)}`)}
          choose={(each) => change({ view: each === "active" ? undefined : each, q: undefined, sort: undefined })}
        />
        {chosen === "changes" ? null : (
          <Choices
            label={t.insights.groupBy}
            choices={GROUPINGS}
            chosen={grouping ?? "code"}
            textOf={(each) => t.insights.groupings[each]}
            choose={(each) => change({ group: each === "code" ? undefined : each, q: undefined, sort: undefined, hide: undefined })}
          />
        )}
        <span className="exports" role="group" aria-label={t.table.export} title={t.insights.saveWhy}>
          {INSIGHT_FORMATS.map((format) => (
            <button
              key={format}
              type="button"
              className="button small"
              onClick={() => {
                const { name, text } = insightFile(format, fleet, scope);
                save(name, text);
              }}
            >
              {t.insights.save(format)}
            </button>
          ))}
        </span>
      </div>
      {chosen === "changes" ? (
        <InsightChanges />
      ) : grouping !== undefined ? (
        <InsightGroups byCode={shownRows} by={grouping} empty={empty} />
      ) : (
        <ResourceTable
          what={t.insights.what}
          rows={shownCodes}
          keyOf={keyOf}
          clustersOf={clustersOf}
          columns={COLUMNS}
          open={({ code }) => void navigate({ to: "/insights/$code", params: { code } })}
          empty={empty}
          copy={({ code }) => flushSync(() => setCopied(code))}
        />
      )}
      {copied === undefined ? null : (
        <CopyDialog
          about={`${copied} ${explainedCode(copied)?.title ?? ""}`}
          copies={copiesOfCode(copied, window.location.origin)}
          close={() => setCopied(undefined)}
        />
      )}
    </Page>
  );
}

/** How many insights there are, as every page counts them; codes are what the table has rows of. */
function countOf({ suppressed, byCode }: InsightIndex, view: "active" | "suppressed"): number {
  return (view === "suppressed" ? suppressed : byCode).reduce((sum, { insights }) => sum + insights.length, 0);
}

/** All codes, each with the insights that are shown of it; of one of which none is, all: its row is left out. */
function withShown(all: readonly CodeInsights[], shown: readonly CodeInsights[]): readonly CodeInsights[] {
  const byCode = new Map(shown.map((group) => [group.code, group]));
  return all.map((group) => byCode.get(group.code) ?? group);
}
