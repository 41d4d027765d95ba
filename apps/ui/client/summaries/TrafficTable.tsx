import { keyOfResource, refOf } from "@isthmus/core";
import { useMemo, useState } from "react";
import { Choices } from "../components/Choices.tsx";
import { Name } from "../components/Name.tsx";
import { ClusterChip, ObjectLink } from "../components/ObjectLink.tsx";
import { Section } from "../components/Section.tsx";
import { Sparkline } from "../components/Sparkline.tsx";
import { TrafficNote } from "../components/TrafficNote.tsx";
import { PlainTable } from "../components/table/PlainTable.tsx";
import type { Destination, Workload } from "../data/kinds.ts";
import { useFleet } from "../data/store.ts";
import { clusterOf } from "../model/clusters/clusterOf.ts";
import type { TrafficMinutes } from "../model/topology/traffic.ts";
import { type TrafficRow, trafficRows } from "../model/topology/trafficRows.ts";
import { trafficTexts } from "../model/topology/trafficText.ts";
import { t } from "../strings.ts";

const MINUTES = ["5", "60"] as const;

/** What was counted of a Workload or a Destination: who calls it, and what it calls. */
export function TrafficTable({ object }: { readonly object: Workload | Destination }) {
  const fleet = useFleet();
  const [minutes, choose] = useState<TrafficMinutes>(5);
  const rows = useMemo(() => trafficRows(fleet, object, minutes), [fleet, object, minutes]);
  const clusters = [...new Set([clusterOf(object), ...rows.flatMap(({ cluster }) => cluster || [])])].sort();
  return (
    <Section title={t.traffic.title}>
      <Choices
        label={t.traffic.window}
        choices={MINUTES}
        chosen={minutes === 60 ? "60" : "5"}
        textOf={(each) => t.traffic.minutes(Number(each))}
        choose={(each) => choose(each === "60" ? 60 : 5)}
      />
      <TrafficNote clusters={clusters} minutes={minutes} />
      {rows.length === 0 ? (
        fleet.activity.get(clusterOf(object))?.traffic === undefined ? null : (
          <p className="muted">{t.traffic.none}</p>
        )
      ) : (
        <PlainTable
          label={t.traffic.title}
          headers={[
            t.traffic.direction,
            t.traffic.end,
            t.traffic.rate,
            t.traffic.errors,
            t.traffic.course,
            t.traffic.p50,
            t.traffic.p95,
            t.traffic.p99,
            t.traffic.bytes,
          ]}
          rows={rows.map((row) => ({ key: row.key, cells: cellsOf(row) }))}
        />
      )}
    </Section>
  );
}

function cellsOf(row: TrafficRow) {
  const { rate, errors, p50, p95, p99, bytes } = trafficTexts(row.rates);
  return [
    row.side === "received" ? t.traffic.received : t.traffic.sent,
    <Other key="other" row={row} />,
    rate,
    errors,
    <Sparkline key="course" series={row.series} />,
    p50,
    p95,
    p99,
    bytes,
  ].map((cell) => cell || "–");
}

function Other({ row: { object, text, cluster } }: { readonly row: TrafficRow }) {
  return (
    <>
      {object === undefined ? <Name text={text} /> : <ObjectLink key={keyOfResource(object)} to={refOf(object)} text={text} />}
      {cluster === "" ? null : <ClusterChip name={cluster} />}
    </>
  );
}
