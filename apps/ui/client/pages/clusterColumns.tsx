import { type ResourceRef, refOf } from "@isthmus/core";
import { AgentVersion } from "../components/AgentVersion.tsx";
import { LagText } from "../components/LagText.tsx";
import { Name } from "../components/Name.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import { SeverityTotals } from "../components/Severity.tsx";
import { StatusMark } from "../components/StatusMark.tsx";
import { Until, When } from "../components/Times.tsx";
import type { Column } from "../components/table/tableColumns.ts";
import { KubernetesCluster } from "../data/kinds.ts";
import { millisecondsOf } from "../model/age.ts";
import type { ClusterRow } from "../model/clusters/clusterRows.ts";
import { secondsText } from "../model/clusters/syncTimes.ts";
import { formatFilter } from "../model/lines/tokens.ts";
import { t } from "../strings.ts";

/** The registration of a cluster, whether or not there is one. */
function clusterRef({ name, cluster }: Pick<ClusterRow, "name" | "cluster">): ResourceRef {
  const { apiVersion, kind } = KubernetesCluster;
  return cluster === undefined ? { apiVersion, kind, name, namespace: "gloo-mesh", clusterName: "" } : refOf(cluster);
}

export const CLUSTER_COLUMNS: readonly Column<ClusterRow>[] = [
  {
    id: "name",
    title: t.columns.name,
    width: [7.5, 2],
    token: "cluster",
    text: ({ name }) => name,
    cell: (row) => (row.cluster === undefined ? <Name text={row.name} /> : <ObjectLink to={clusterRef(row)} text={row.name} />),
  },
  {
    id: "state",
    title: t.columns.state,
    width: [7.5, 1.2],
    token: "state",
    text: ({ status }) => status.word,
    cell: ({ status }) => <StatusMark status={status} />,
  },
  {
    id: "agent",
    title: t.columns.agent,
    width: [6.3, 1],
    spare: 4,
    token: "agent",
    text: ({ agent, skew }) => [agent, skew?.mark].filter(Boolean).join(" "),
    values: ({ agent, skew }) => [...(agent === undefined ? [] : [agent]), ...(skew?.isSupported === false ? ["unsupported"] : [])],
    cell: ({ agent, skew }) => <AgentVersion version={agent} skew={skew} />,
  },
  {
    id: "lag",
    title: t.columns.lag,
    width: [4.5, 0.8],
    spare: 5,
    // The moment, not the span: no row pulses because of that.
    text: ({ lag }) => (typeof lag === "string" ? "" : lag.since),
    sort: ({ lag }) => (typeof lag === "string" ? 0 : -(millisecondsOf(lag.since) ?? 0)),
    cell: ({ lag }) => <LagText lag={lag} />,
  },
  {
    id: "sync",
    title: t.traffic.syncColumn,
    width: [5, 0.7],
    spare: 1,
    isMeasured: true,
    text: ({ syncP95 }) => (syncP95 === undefined ? "" : secondsText(syncP95)),
    sort: ({ syncP95 }) => syncP95 ?? -1,
    cell: ({ syncP95 }) =>
      syncP95 === undefined ? <span className="muted">–</span> : <span className="number">{secondsText(syncP95)}</span>,
  },
  {
    id: "heard",
    title: t.columns.heard,
    width: [6, 1],
    // Its age changes each second: no row pulses because of it.
    text: () => "",
    sort: ({ heardAt }) => millisecondsOf(heardAt) ?? 0,
    cell: ({ heardAt }) => <When time={heardAt} />,
  },
  {
    id: "objects",
    title: t.columns.objects,
    width: [4.2, 0.7],
    spare: 2,
    text: ({ objects }) => String(objects),
    sort: ({ objects }) => objects,
    cell: ({ objects }) => <span className="number">{objects}</span>,
  },
  {
    id: "certificate",
    title: t.columns.certificate,
    width: [7.7, 1.2],
    spare: 3,
    text: ({ certificateEnds }) => certificateEnds ?? "",
    cell: ({ certificateEnds }) => <Until time={certificateEnds} />,
  },
  {
    id: "insights",
    title: t.columns.insights,
    width: [6, 1],
    text: ({ insights }) => `${insights.error}/${insights.warning}/${insights.info}`,
    sort: ({ insights }) => insights.error * 1e6 + insights.warning * 1e3 + insights.info,
    cell: ({ name, insights }) => (
      <SeverityTotals counts={insights} query={formatFilter({ tokens: [{ key: "cluster", values: [name] }], words: [] })} />
    ),
  },
];
