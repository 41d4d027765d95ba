import { type ResourceRef, refOf, resourceKeyOf } from "@isthmus/core";
import {
  destinationEffect,
  type EffectValue,
  type ReachableHost,
  reachableHosts,
  type SourceEffect,
  type Translation,
} from "@isthmus/translators";
import { Name } from "../components/Name.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import { Section } from "../components/Section.tsx";
import { PlainTable } from "../components/table/PlainTable.tsx";
import type { Destination } from "../data/kinds.ts";
import { remembering } from "../model/memo.ts";
import { t } from "../strings.ts";
import { effectValueText, matchText, tiersText } from "./effectText.ts";

/** All hosts of a translation, by the cluster of their callers. */
export const hostsOf = remembering(reachableHosts);

export interface DestinationEffectProps {
  readonly translation: Translation;
  readonly destination: Destination;
  /** Only what this policy sets. */
  readonly policy?: ResourceRef;
}

/** What requests to a Destination meet, from each mesh that can call it, and where they go now. */
export function DestinationEffectView({ translation, destination, policy }: DestinationEffectProps) {
  const effect = destinationEffect(translation, refOf(destination));
  if (effect === undefined) return <p className="muted padded">{t.effect.notKnown}</p>;
  const name = destination.spec?.kubeService?.ref?.name ?? destination.metadata.name;
  return effect.sources.map((source) => {
    const rows = valueRows(source, policy);
    const host = hostsOf(translation).get(`${source.cluster} ${source.host}`);
    return (
      <Section key={`${source.cluster} ${source.host}`} title={t.effect.from(source.cluster, source.host)} note={t.effect.to(name)}>
        {rows.length === 0 ? (
          <p className="muted">{policy === undefined ? t.effect.noValues : t.effect.noValuesOfPolicy}</p>
        ) : (
          <PlainTable
            label={t.effect.from(source.cluster, source.host)}
            headers={[t.destinations.forRequests, t.destinations.field, t.destinations.value, t.destinations.setBy]}
            rows={rows.map(({ requests, value }, i) => ({
              key: `${i} ${value.field}`,
              cells: [
                <Name key="requests" text={requests} isWrapped />,
                value.field,
                <Name key="value" text={effectValueText(value)} isWrapped />,
                <SetBy key="by" value={value} />,
              ],
            }))}
          />
        )}
        <Targets host={host} />
      </Section>
    );
  });
}

interface ValueRow {
  readonly requests: string;
  readonly value: EffectValue;
}

function valueRows({ routes, connection }: SourceEffect, policy: ResourceRef | undefined): readonly ValueRow[] {
  const isShown = (value: EffectValue) =>
    policy === undefined || (value.policy !== undefined && resourceKeyOf(value.policy) === resourceKeyOf(policy));
  return [
    ...routes.flatMap(({ match, values }) => values.map((value) => ({ requests: matchText(match), value }))),
    ...connection.map((value) => ({ requests: t.effect.connections, value })),
  ].filter(({ value }) => isShown(value));
}

function SetBy({ value: { policy, path } }: { readonly value: EffectValue }) {
  if (policy === undefined) return <span className="muted">{t.effect.byDefault}</span>;
  return (
    <span className="stack">
      <ObjectLink to={policy} />
      <span className="muted">{path}</span>
    </span>
  );
}

/** Where the requests of one caller's cluster to a host go now, in the order of failover. */
export function Targets({ host }: { readonly host: ReachableHost | undefined }) {
  if (host === undefined) return <p className="muted">{t.effect.noHost}</p>;
  return (
    <PlainTable
      label={t.effect.targets}
      headers={[t.topology.share, t.columns.host, t.effect.subset, t.effect.endpoints]}
      rows={host.legs.map((leg) => ({
        key: `${leg.host} ${leg.subset}`,
        cells: [
          <span key="share" className="number">{`${leg.weight} %`}</span>,
          <Name key="host" text={leg.host} isWrapped />,
          leg.subset === "" ? t.common.all : <Name key="subset" text={leg.subset} isWrapped />,
          <Name key="tiers" text={tiersText(leg)} isWrapped />,
        ],
      }))}
    />
  );
}
