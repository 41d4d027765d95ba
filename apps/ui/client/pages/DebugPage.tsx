import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { Choices } from "../components/Choices.tsx";
import { Command } from "../components/Command.tsx";
import { Empty } from "../components/Empty.tsx";
import { Facts } from "../components/Facts.tsx";
import { Page } from "../components/frame/Page.tsx";
import { usePageSearch } from "../components/frame/usePageSearch.ts";
import { useScope } from "../components/frame/useScope.ts";
import { Name } from "../components/Name.tsx";
import { Section } from "../components/Section.tsx";
import { When } from "../components/Times.tsx";
import { ResourceTable } from "../components/table/ResourceTable.tsx";
import type { Column } from "../components/table/tableColumns.ts";
import { useFleet } from "../data/store.ts";
import { bundleCommands } from "../model/commands.ts";
import { type KindRow, kindRows } from "../model/kindRows.ts";
import { t } from "../strings.ts";
import { DebugPipeline } from "./DebugPipeline.tsx";
import { DebugSessions } from "./DebugSessions.tsx";
import { DebugSnapshots } from "./DebugSnapshots.tsx";

const COLUMNS: readonly Column<KindRow>[] = [
  {
    id: "kind",
    title: t.columns.kind,
    width: [12, 2],
    token: "kind",
    text: ({ kind }) => kind,
    cell: ({ params, kind }) => (
      <Link className="object-link" to="/debug/$group/$kind" params={params}>
        <Name text={kind} />
      </Link>
    ),
  },
  {
    id: "group",
    title: "API group",
    width: [14, 2],
    isLong: true,
    spare: 1,
    token: "group",
    text: ({ group }) => group,
    cell: ({ group }) => (group === "" ? <span className="muted">core</span> : <Name text={group} />),
  },
  {
    id: "reported",
    title: t.columns.reported,
    width: [6, 0.7],
    text: ({ reported }) => String(reported),
    sort: ({ reported }) => reported,
    cell: ({ reported }) => <span className="number">{reported}</span>,
  },
  {
    id: "generated",
    title: t.columns.generated,
    width: [6, 0.7],
    text: ({ generated }) => String(generated),
    sort: ({ generated }) => generated,
    cell: ({ generated }) => <span className="number">{generated}</span>,
  },
  {
    id: "clusters",
    title: t.columns.clusters,
    width: [14, 3],
    isLong: true,
    token: "cluster",
    text: ({ clusters }) => clusters.map(({ name, count }) => `${name || t.common.management} ${count}`).join(" · "),
    values: ({ clusters }) => clusters.map(({ name }) => name || t.common.management),
    cell: ({ clusters }) => <Name text={clusters.map(({ name, count }) => `${name || t.common.management} ${count}`).join(" · ")} />,
  },
];

const clustersOf = ({ clusters }: KindRow) => clusters.map(({ name }) => name);
const keyOf = ({ key }: KindRow) => key;

const VIEWS = ["objects", "snapshots", "pipeline", "sessions"] as const;
type View = (typeof VIEWS)[number];
const PARTS: Readonly<Record<View, () => ReactNode>> = {
  objects: DebugObjects,
  snapshots: DebugSnapshots,
  pipeline: DebugPipeline,
  sessions: DebugSessions,
};

/** What the console knows beside the objects of users: raw counts, earlier moments, how far each stage is, what became of agents. */
export function DebugPage() {
  const [{ view }, change] = usePageSearch();
  const chosen = VIEWS.find((each) => each === view) ?? "objects";
  const Part = PARTS[chosen];
  return (
    <Page title={t.nav.debug}>
      <Choices
        label={t.debug.view}
        choices={VIEWS}
        chosen={chosen}
        textOf={(each) => t.debug.views[each]}
        choose={(each) => change({ view: each === "objects" ? undefined : each, q: undefined, sort: undefined })}
      />
      <Part />
    </Page>
  );
}

/** What the browser holds: raw counts by kind and cluster, and where it is from. */
function DebugObjects() {
  const fleet = useFleet();
  const navigate = useNavigate();
  const scope = useScope();
  const rows = useMemo(() => kindRows(fleet, scope), [fleet, scope]);
  const { source, clock } = fleet;
  return (
    <>
      <Section title={t.debug.stream}>
        <Facts
          rows={[
            [t.debug.source, source === undefined ? "" : `${t.clock.source[source.kind]} · ${source.name}`],
            [t.debug.versionOf, source?.version],
            [t.debug.serverTime, clock?.now],
            [t.debug.sourceTime, <When key="at" time={clock?.at} />],
          ]}
        />
      </Section>
      <Section title={t.debug.bundle} note={t.debug.bundleWhy}>
        {bundleCommands(source?.namespace ?? "gloo-mesh").map((text) => (
          <Command key={text} text={text} />
        ))}
      </Section>
      <ResourceTable
        what={t.debug.what}
        rows={rows}
        keyOf={keyOf}
        clustersOf={clustersOf}
        columns={COLUMNS}
        open={({ params }) => void navigate({ to: "/debug/$group/$kind", params })}
        empty={<Empty title={t.debug.empty} how={t.debug.emptyHow} command={t.debug.emptyCommand} />}
      />
    </>
  );
}
