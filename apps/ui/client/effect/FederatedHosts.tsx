import { fullKeyOf, refOf } from "@isthmus/core";
import type { Translation } from "@isthmus/translators";
import { useState } from "react";
import { Empty } from "../components/Empty.tsx";
import { Name } from "../components/Name.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import { Section } from "../components/Section.tsx";
import { PlainTable } from "../components/table/PlainTable.tsx";
import { Destination, type VirtualMesh } from "../data/kinds.ts";
import { t } from "../strings.ts";
import { hostsOf } from "./DestinationEffect.tsx";
import { tiersText } from "./effectText.ts";

const PAGE = 100;

/** The hosts that a VirtualMesh gives to services in other clusters: from where each is called, and where requests go now. */
export function FederatedHosts({ translation, virtualMesh }: { readonly translation: Translation; readonly virtualMesh: VirtualMesh }) {
  const [most, setMost] = useState(PAGE);
  const { name, namespace } = virtualMesh.metadata;
  const destinations = new Map(
    [...translation.attached.of(Destination)].flatMap((destination): readonly (readonly [string, Destination])[] => {
      const { federatedHostname = "", virtualMeshRef } = destination.status?.appliedFederation ?? {};
      const isOwn = virtualMeshRef?.name === name && virtualMeshRef.namespace === namespace;
      return isOwn && federatedHostname !== "" ? [[federatedHostname, destination]] : [];
    }),
  );
  const hosts = [...hostsOf(translation).values()].filter(({ host }) => destinations.has(host));
  if (hosts.length === 0) return <Empty title={t.effect.noFederatedHost} />;
  return (
    <Section title={`${t.effect.federatedHosts} · ${hosts.length}`} note={t.effect.federatedHostsWhy}>
      <PlainTable
        label={t.effect.federatedHosts}
        headers={[t.effect.caller, t.columns.host, t.effect.standsFor, t.effect.endpoints]}
        rows={hosts.slice(0, most).map(({ caller, host, legs }) => {
          const destination = destinations.get(host);
          const ref = destination?.spec?.kubeService?.ref;
          return {
            key: `${caller} ${host}`,
            cells: [
              <Name key="caller" text={caller} />,
              <Name key="host" text={host} isWrapped />,
              destination === undefined ? (
                ""
              ) : (
                <ObjectLink key={fullKeyOf(destination)} to={refOf(destination)} text={`${ref?.namespace ?? ""}/${ref?.name ?? ""}`} />
              ),
              <span key="legs" className="stack">
                {legs.map((leg) => (
                  <Name
                    key={`${leg.host} ${leg.subset}`}
                    text={legs.length === 1 && leg.host === host ? tiersText(leg) : t.effect.shareOf(leg.weight, leg.host, tiersText(leg))}
                    isWrapped
                  />
                ))}
              </span>,
            ],
          };
        })}
      />
      {hosts.length > most ? (
        <button type="button" className="button" onClick={() => setMost(most + PAGE)}>
          {t.common.more(hosts.length - most)}
        </button>
      ) : null}
    </Section>
  );
}
