import { useState } from "react";
import { Loading } from "../components/Loading.tsx";
import { Name } from "../components/Name.tsx";
import { NameList } from "../components/NameList.tsx";
import { StatusMark } from "../components/StatusMark.tsx";
import { MoreRows } from "../components/table/MoreRows.tsx";
import { PlainTable } from "../components/table/PlainTable.tsx";
import { useFleet } from "../data/store.ts";
import { affectedHosts, isInDoubt } from "../model/clusters/clusterImpact.ts";
import { t } from "../strings.ts";
import { useFleetTranslation } from "../translation/useFleetTranslation.ts";
import { hostsOf } from "./DestinationEffect.tsx";

const PAGE = 25;

/** Hosts of other clusters whose requests go to a cluster, and where they go without it. */
export function HostsLeft({ cluster }: { readonly cluster: string }) {
  const fleet = useFleet();
  const base = useFleetTranslation();
  const [most, setMost] = useState(PAGE);
  if (base === undefined) return <Loading />;
  const hosts = affectedHosts(hostsOf(base.translation).values(), cluster);
  if (hosts.length === 0) return <p className="muted">{t.clusters.hostsNone}</p>;
  return (
    <>
      <PlainTable
        label={t.clusters.hosts}
        headers={[t.clusters.caller, t.columns.host, t.clusters.goesHere, t.clusters.left]}
        rows={hosts.slice(0, most).map(({ key, caller, host, share, left }) => ({
          key,
          cells: [
            <Name key="caller" text={caller} />,
            <Name key="host" text={host} isWrapped />,
            <span key="share" className="number">{`${share} %`}</span>,
            left.length === 0 ? (
              <StatusMark key="left" status={{ tone: "bad", word: t.clusters.leftNone }} />
            ) : (
              <NameList key="left" names={left.map((name) => (isInDoubt(fleet, name) ? t.clusters.alsoGone(name) : name))} />
            ),
          ],
        }))}
      />
      <MoreRows all={hosts.length} most={most} show={() => setMost(most + PAGE)} />
    </>
  );
}
