import { fullKeyOf, keyOfResource, type Resource } from "@isthmus/core";
import { Name } from "../components/Name.tsx";
import { ClusterChip } from "../components/ObjectLink.tsx";
import { SeverityTotals } from "../components/Severity.tsx";
import { Sparkline } from "../components/Sparkline.tsx";
import type { Column } from "../components/table/tableColumns.ts";
import type { SeverityCounts } from "../model/insights/insightIndex.ts";
import type { ReceivedTraffic } from "../model/topology/receivedTraffic.ts";
import { trafficTexts } from "../model/topology/trafficText.ts";
import { t } from "../strings.ts";

/** A row of what discovery found: the object, the cluster that it is of, and the insights about it. */
export interface DiscoveredRow<R extends Resource> {
  readonly object: R;
  readonly cluster: string;
  readonly insights: SeverityCounts;
}

/** The key of a row. */
export const rowKey = ({ object }: DiscoveredRow<Resource>) => keyOfResource(object);

/** The cluster of a row. */
export const rowClusters = ({ cluster }: DiscoveredRow<Resource>) => [cluster];

/** The columns that all rows of one object have. */
export function clusterColumn<R extends Resource>(): Column<DiscoveredRow<R>> {
  return {
    id: "cluster",
    title: t.columns.cluster,
    width: [6, 0.5],
    token: "cluster",
    text: ({ cluster }) => cluster,
    cell: ({ cluster }) => (cluster === "" ? <span className="muted">{t.common.management}</span> : <ClusterChip name={cluster} />),
  };
}

/** Insights about the object. */
export function insightsColumn<R extends Resource>(): Column<DiscoveredRow<R>> {
  return {
    id: "insights",
    title: t.columns.insights,
    width: [6, 0.3],
    text: ({ insights }) => `${insights.error}/${insights.warning}/${insights.info}`,
    sort: ({ insights }) => insights.error * 1e6 + insights.warning * 1e3 + insights.info,
    cell: ({ insights }) => <SeverityTotals counts={insights} />,
  };
}

/** Requests that the object received, with their course; nothing where none are known. */
export function receivedColumn<R extends Resource>(received: ReadonlyMap<string, ReceivedTraffic>): Column<DiscoveredRow<R>> {
  const of = ({ object }: DiscoveredRow<R>) => received.get(fullKeyOf(object));
  const text = (row: DiscoveredRow<R>) => {
    const found = of(row);
    return found === undefined ? "" : trafficTexts(found.rates).rate;
  };
  return {
    id: "rate",
    title: t.traffic.rate,
    width: [5.1, 0.3],
    // Names and identities are found nowhere else; the graph has this, too.
    spare: 0,
    isMeasured: true,
    text,
    sort: (row) => of(row)?.rates.requestsPerSecond ?? -1,
    cell: (row) => (
      <span className="inline">
        {text(row) === "" ? <span className="muted">–</span> : <span className="number">{text(row)}</span>}
        <Sparkline series={of(row)?.series ?? []} isSmall />
      </span>
    ),
  };
}

/** A column of plain text. */
export function textColumn<R extends Resource>(
  column: Pick<Column<DiscoveredRow<R>>, "id" | "title" | "width" | "token" | "isLong" | "spare">,
  text: (object: R) => string,
): Column<DiscoveredRow<R>> {
  return {
    ...column,
    text: ({ object }) => text(object),
    cell: ({ object }) => {
      const shown = text(object);
      return shown === "" ? <span className="muted">–</span> : <Name text={shown} />;
    },
  };
}
