import { resourceKeyOf } from "@isthmus/core";
import { explainedCode } from "@isthmus/insights/catalogue";
import { Link, useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { Choices } from "../components/Choices.tsx";
import { Empty } from "../components/Empty.tsx";
import { usePageSearch } from "../components/frame/usePageSearch.ts";
import { Name } from "../components/Name.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import { Severity } from "../components/Severity.tsx";
import { StatusMark } from "../components/StatusMark.tsx";
import { useServerNow, When } from "../components/Times.tsx";
import { ResourceTable } from "../components/table/ResourceTable.tsx";
import type { Column } from "../components/table/tableColumns.ts";
import type { Fleet } from "../data/fleet.ts";
import { useFleetState } from "../data/store.ts";
import { spanText, timeText } from "../model/age.ts";
import { clustersOfInsight, findingText } from "../model/insights/insightIndex.ts";
import { changesBetween, changesSince, type InsightChange, insightRecord } from "../model/insights/insightRecord.ts";
import { t } from "../strings.ts";

const MINUTE_MS = 60_000;
const SPANS = { hour: 60 * MINUTE_MS, day: 24 * 60 * MINUTE_MS, week: 7 * 24 * 60 * MINUTE_MS } as const;
type Span = keyof typeof SPANS;
const SPAN_NAMES = Object.keys(SPANS) as readonly Span[];

interface Row extends InsightChange {
  readonly clusters: readonly string[];
}

const TONES = { new: "bad", gone: "good", suppressed: "unknown" } as const;
const SEVERITY_ORDER = { error: 0, warning: 1, info: 2 } as const;
const untilOf = ({ insight }: Row) => ("until" in insight ? insight.until : "");

const COLUMNS: readonly Column<Row>[] = [
  {
    id: "change",
    title: t.insights.change,
    width: [5, 0.2],
    token: "change",
    text: ({ what }) => t.insights.changeWords[what],
    cell: ({ what }) => <StatusMark status={{ tone: TONES[what], word: t.insights.changeWords[what] }} />,
  },
  {
    id: "code",
    title: t.columns.code,
    width: [5, 0.2],
    token: "code",
    text: ({ insight }) => insight.code,
    cell: ({ insight: { code } }) => (
      <Link className="object-link" to="/insights/$code" params={{ code }}>
        {code}
      </Link>
    ),
  },
  {
    id: "severity",
    title: t.columns.severity,
    width: [5.5, 0.2],
    spare: 2,
    token: "severity",
    text: ({ insight }) => insight.severity,
    sort: ({ insight }) => SEVERITY_ORDER[insight.severity],
    cell: ({ insight }) => <Severity severity={insight.severity} />,
  },
  {
    id: "object",
    title: t.columns.name,
    width: [11, 2.4],
    isLong: true,
    text: ({ insight: { object } }) => `${object.kind} ${object.namespace}/${object.name}`,
    cell: ({ insight }) => <ObjectLink to={insight.object} hasKind />,
  },
  {
    id: "finding",
    title: t.columns.finding,
    width: [12, 5],
    isLong: true,
    text: ({ insight }) => [explainedCode(insight.code)?.title ?? "", findingText(insight)].join(": "),
    cell: ({ insight }) => <Name text={findingText(insight)} />,
  },
  {
    id: "clusters",
    title: t.columns.clusters,
    width: [7, 1],
    spare: 1,
    token: "cluster",
    text: ({ clusters }) => clusters.join(", "),
    values: ({ clusters }) => clusters,
    cell: ({ clusters }) => <Name text={clusters.filter((name) => name !== "").join(", ") || t.common.management} />,
  },
  {
    id: "since",
    title: t.insights.seen,
    width: [10, 1.2],
    spare: 3,
    text: (row) => [row.insight.since, untilOf(row)].join(" – "),
    cell: (row) => (
      <span>
        <When time={row.insight.since} />
        {untilOf(row) === "" ? null : (
          <>
            {" – "}
            <When time={untilOf(row)} />
          </>
        )}
      </span>
    ),
  },
];

const clustersOf = ({ clusters }: Row) => clusters;
const keyOf = ({ what, insight }: Row) => [what, resourceKeyOf(insight.object), insight.code, insight.field].join("\n");

/** Which insights are new, and which are gone: since a time that the address has, or between the earlier time that is shown and now. */
export function InsightChanges() {
  const { fleet, live } = useFleetState();
  if (fleet.source?.kind === "file") return <Empty title={t.insights.fileRecord} />;
  return fleet.past === undefined ? <ChangesSince fleet={fleet} /> : <ChangesAfter fleet={fleet} past={fleet.past} live={live} />;
}

function ChangesSince({ fleet }: { readonly fleet: Fleet }) {
  const [{ since }, change] = usePageSearch();
  const now = useServerNow();
  const chosen = SPAN_NAMES.find((name) => name === since) ?? "day";
  const record = useMemo(() => insightRecord(fleet), [fleet]);
  // By the minute, so that rows are not made again each second.
  const wanted = Math.floor(now / MINUTE_MS) * MINUTE_MS - SPANS[chosen];
  const time = Math.max(wanted, record.start ?? wanted);
  const rows = useMemo(() => changesSince(record, time).map((one) => rowOf(one, fleet)), [record, time, fleet]);
  const isLate = time > wanted;
  return (
    <>
      <Choices
        label={t.insights.since}
        choices={SPAN_NAMES}
        chosen={chosen}
        textOf={(each) => t.insights.spans[each]}
        choose={(each) => change({ since: each })}
      />
      <p className="note">
        {record.start === undefined ? t.insights.noRecord : t.insights.sinceTime(timeText(time, now), spanText(now - time))}
        {isLate ? ` ${t.insights.recordStart(timeText(time, now))}` : null}
      </p>
      <Changes rows={rows} />
    </>
  );
}

function ChangesAfter({ fleet, past, live }: { readonly fleet: Fleet; readonly past: string; readonly live: Fleet }) {
  const now = useServerNow();
  const rows = useMemo(() => changesBetween(fleet, live).map((one) => rowOf(one, one.what === "gone" ? fleet : live)), [fleet, live]);
  return (
    <>
      <p className="note">{t.insights.betweenTimes(timeText(Date.parse(past), now))}</p>
      <Changes rows={rows} />
    </>
  );
}

function rowOf(change: InsightChange, fleet: Fleet): Row {
  return { ...change, clusters: clustersOfInsight(change.insight, fleet) };
}

function Changes({ rows }: { readonly rows: readonly Row[] }) {
  const navigate = useNavigate();
  return (
    <ResourceTable
      what={t.insights.changeWhat}
      rows={rows}
      keyOf={keyOf}
      clustersOf={clustersOf}
      columns={COLUMNS}
      open={({ insight: { code } }) => void navigate({ to: "/insights/$code", params: { code } })}
      empty={<Empty title={t.insights.unchanged} />}
    />
  );
}
