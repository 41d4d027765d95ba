import { Link } from "@tanstack/react-router";
import { AgentVersion } from "../components/AgentVersion.tsx";
import { Command } from "../components/Command.tsx";
import { SessionEvents } from "../components/frame/SessionEvents.tsx";
import { LagText } from "../components/LagText.tsx";
import { Name } from "../components/Name.tsx";
import { Section } from "../components/Section.tsx";
import { SeverityTotals } from "../components/Severity.tsx";
import { StatusMark } from "../components/StatusMark.tsx";
import { SyncText } from "../components/SyncText.tsx";
import { Until, useServerNow, When } from "../components/Times.tsx";
import { PlainTable } from "../components/table/PlainTable.tsx";
import type { KubernetesCluster } from "../data/kinds.ts";
import { useFleet } from "../data/store.ts";
import { agentSkew } from "../model/clusters/agentSkew.ts";
import { certificatesOf, lagOf } from "../model/clusters/clusterRows.ts";
import { diagnoseCommand, logCommands, rotateCommand } from "../model/commands.ts";
import { insightIndexOf, NO_COUNTS } from "../model/insights/insightIndex.ts";
import { kindRows } from "../model/kindRows.ts";
import { formatFilter } from "../model/lines/tokens.ts";
import { scopeOf } from "../model/scope.ts";
import { t } from "../strings.ts";
import { ClusterPending } from "./ClusterPending.tsx";
import { Conditions } from "./Conditions.tsx";
import { ObjectFacts } from "./ObjectFacts.tsx";

/** A cluster: its agent, what is pending, its certificates, what it holds. */
export function ClusterSummary({ cluster }: { readonly cluster: KubernetesCluster }) {
  const fleet = useFleet();
  const now = useServerNow();
  const { name } = cluster.metadata;
  const { status = {} } = cluster;
  const clock = fleet.clock?.clusters.find((each) => each.name === name);
  const agent = status.agent?.version ?? clock?.version;
  const counts = insightIndexOf(fleet).byCluster.get(name) ?? NO_COUNTS;
  const certificates = certificatesOf(fleet, name);
  const rotations = certificates.flatMap((certificate) => rotateCommand(certificate) ?? []);
  const kinds = kindRows(fleet).flatMap((row) => {
    const count = row.clusters.find((each) => each.name === name)?.count ?? 0;
    return count === 0 ? [] : [{ ...row, count }];
  });
  const query = formatFilter({ tokens: [{ key: "cluster", values: [name] }], words: [] });
  return (
    <>
      <Section title={t.clusters.about}>
        <ObjectFacts
          object={cluster}
          rows={[
            [t.columns.agent, <AgentVersion key="agent" version={agent} skew={agentSkew(agent, fleet.clock?.servers)} />],
            [t.columns.heard, <When key="heard" time={clock?.at} />],
            [t.columns.lag, <LagText key="lag" lag={lagOf(fleet, cluster, clock)} />],
            [t.traffic.sync, <SyncText key="sync" activity={fleet.activity.get(name)} now={now} />],
            [t.columns.replica, clock?.replica === undefined ? undefined : <Name key="replica" text={clock.replica} />],
            [t.columns.certificate, <Until key="until" time={status.agent?.certificateNotAfter} />],
            [t.clusters.mode, status.mode ?? cluster.spec?.mode],
            [t.clusters.agentNamespace, status.namespace],
            [t.clusters.uid, status.clusterUid === undefined ? undefined : <Name key="uid" text={status.clusterUid} />],
            [
              t.meshes.cilium,
              status.cilium === undefined ? undefined : [status.cilium.version, status.cilium.enforcement].filter(Boolean).join(" · "),
            ],
            [t.columns.insights, <SeverityTotals key="insights" counts={counts} query={query} />],
          ]}
        />
      </Section>
      <Section title={t.clusters.diagnose} note={t.clusters.diagnoseWhy}>
        <Command text={diagnoseCommand(name)} />
        {logCommands([name])
          .slice(1)
          .map((text) => (
            <Command key={text} text={text} what={t.clusters.logs} />
          ))}
      </Section>
      <Conditions object={cluster} />
      <SessionEvents clusters={scopeOf(name)} />
      <ClusterPending cluster={cluster} />
      <Section title={t.clusters.certificates}>
        {certificates.length === 0 ? (
          <p className="muted">{t.clusters.certificatesNone}</p>
        ) : (
          <PlainTable
            label={t.clusters.certificates}
            headers={[t.columns.kind, t.columns.name, t.clusters.subject, t.clusters.expires, t.objects.message]}
            rows={certificates.map(({ kind, name: of, subject, notAfter, problem }) => ({
              key: `${kind} ${of}`,
              cells: [
                kind,
                <Name key="name" text={of} />,
                <Name key="subject" text={subject ?? "–"} />,
                <Until key="until" time={notAfter} />,
                problem === undefined ? "–" : <StatusMark key="problem" status={{ tone: "bad", word: problem }} />,
              ],
            }))}
          />
        )}
        {rotations.length === 0 ? null : <p className="note">{t.clusters.rotate}</p>}
        {rotations.map((text) => (
          <Command key={text} text={text} what={t.clusters.rotateWhat} />
        ))}
      </Section>
      <Section title={t.clusters.objects}>
        {kinds.length === 0 ? <p className="muted">{t.clusters.objectsNone}</p> : null}
        <ul className="counts">
          {kinds.map(({ key, kind, params, count }) => (
            <li key={key}>
              <Link to="/debug/$group/$kind" params={params} search={{ q: query }}>
                <Name text={kind} />
              </Link>
              <span className="number">{count}</span>
            </li>
          ))}
        </ul>
      </Section>
    </>
  );
}
