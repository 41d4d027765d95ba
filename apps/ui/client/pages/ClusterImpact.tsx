import { lazy, Suspense, useState } from "react";
import { ErrorBoundary } from "../components/ErrorBoundary.tsx";
import { Loading } from "../components/Loading.tsx";
import { Name } from "../components/Name.tsx";
import { NameList } from "../components/NameList.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import { PartialNote } from "../components/PartialNote.tsx";
import { Section } from "../components/Section.tsx";
import { SeverityTotals } from "../components/Severity.tsx";
import { Until, useServerNow } from "../components/Times.tsx";
import { MoreRows } from "../components/table/MoreRows.tsx";
import { PlainTable } from "../components/table/PlainTable.tsx";
import type { KubernetesCluster } from "../data/kinds.ts";
import { useFleet } from "../data/store.ts";
import { endingCertificates, sendersTo } from "../model/clusters/clusterImpact.ts";
import { insightIndexOf, NO_COUNTS } from "../model/insights/insightIndex.ts";
import { formatFilter } from "../model/lines/tokens.ts";
import { t } from "../strings.ts";

// With the translators.
const HostsLeft = lazy(() => import("../effect/HostsLeft.tsx").then((module) => ({ default: module.HostsLeft })));
const PAGE = 25;
// What a browser translates while a person waits: above that it is asked first.
const MOST_UNASKED = 5_000;

/** What it means for the rest of the fleet that a cluster does not answer. */
export function ClusterImpact({ cluster }: { readonly cluster: KubernetesCluster }) {
  const fleet = useFleet();
  const now = useServerNow();
  const [most, setMost] = useState(PAGE);
  const { name } = cluster.metadata;
  const ending = endingCertificates(fleet, cluster, now);
  const counts = insightIndexOf(fleet).byCluster.get(name) ?? NO_COUNTS;
  const query = formatFilter({ tokens: [{ key: "cluster", values: [name] }], words: [] });
  return (
    <Section title={t.clusters.impact} note={t.clusters.impactWhy}>
      <PartialNote text="translated" />
      <Senders cluster={name} />
      <Hosts cluster={name} />
      <h3>{t.clusters.ending}</h3>
      {ending.length === 0 ? (
        <p className="muted">{t.clusters.endingNone}</p>
      ) : (
        <PlainTable
          label={t.clusters.ending}
          headers={[t.columns.kind, t.columns.name, t.clusters.expires]}
          rows={ending.slice(0, most).map(({ kind, name: of, notAfter }) => ({
            key: `${kind} ${of}`,
            cells: [kind, <Name key="name" text={of} />, <Until key="until" time={notAfter} />],
          }))}
        />
      )}
      <MoreRows all={ending.length} most={most} show={() => setMost(most + PAGE)} />
      <p>
        {t.clusters.impactInsights}: <SeverityTotals counts={counts} query={query} />
      </p>
    </Section>
  );
}

function Senders({ cluster }: { readonly cluster: string }) {
  const fleet = useFleet();
  const [most, setMost] = useState(PAGE);
  const senders = sendersTo(fleet, cluster);
  return (
    <>
      <h3>{`${t.clusters.senders} · ${senders.length}`}</h3>
      {senders.length === 0 ? <p className="muted">{t.clusters.sendersNone}</p> : null}
      {senders.length === 0 ? null : (
        <PlainTable
          label={t.clusters.senders}
          headers={[t.policies.policy, t.clusters.how, t.clusters.toServices, t.clusters.fromServices]}
          rows={senders.slice(0, most).map(({ key, because, how, to, from }) => ({
            key,
            cells: [<ObjectLink key="policy" to={because} />, how, <NameList key="to" names={to} />, <NameList key="from" names={from} />],
          }))}
        />
      )}
      <MoreRows all={senders.length} most={most} show={() => setMost(most + PAGE)} />
    </>
  );
}

function Hosts({ cluster }: { readonly cluster: string }) {
  const { generated } = useFleet();
  const [isAsked, setIsAsked] = useState(false);
  const size = [...generated.collections().values()].reduce((sum, collection) => sum + collection.size, 0);
  return (
    <>
      <h3>{t.clusters.hosts}</h3>
      <p className="note">{t.clusters.hostsWhy}</p>
      {isAsked || size <= MOST_UNASKED ? (
        <ErrorBoundary>
          <Suspense fallback={<Loading />}>
            <HostsLeft cluster={cluster} />
          </Suspense>
        </ErrorBoundary>
      ) : (
        <button type="button" className="button" onClick={() => setIsAsked(true)}>
          {t.clusters.hostsShow}
        </button>
      )}
    </>
  );
}
