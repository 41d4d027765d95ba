import { refOf } from "@isthmus/core";
import { useMemo } from "react";
import { Empty } from "../components/Empty.tsx";
import { Page } from "../components/frame/Page.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import type { Column } from "../components/table/tableColumns.ts";
import { Destination } from "../data/kinds.ts";
import { useFleet } from "../data/store.ts";
import { receivedTraffic } from "../model/topology/receivedTraffic.ts";
import { t } from "../strings.ts";
import {
  clusterColumn,
  type DiscoveredRow,
  insightsColumn,
  receivedColumn,
  rowClusters,
  rowKey,
  textColumn,
} from "./discoveredColumns.tsx";
import { ObjectTable } from "./ObjectTable.tsx";
import { useDiscovered } from "./useDiscovered.ts";

function serviceName({ metadata, spec }: Destination): string {
  return spec?.kubeService?.ref?.name ?? spec?.externalService?.name ?? metadata.name;
}

const COLUMNS: readonly Column<DiscoveredRow<Destination>>[] = [
  {
    id: "name",
    title: t.columns.name,
    width: [10, 2],
    isLong: true,
    text: ({ object }) => serviceName(object),
    cell: ({ object }) => <ObjectLink to={refOf(object)} text={serviceName(object)} />,
  },
  clusterColumn(),
  textColumn(
    { id: "ns", title: t.columns.namespace, width: [6, 1], token: "ns" },
    ({ metadata, spec }) => spec?.kubeService?.ref?.namespace ?? metadata.namespace ?? "",
  ),
  textColumn({ id: "ports", title: t.columns.ports, width: [5, 0.5], token: "port", spare: 1 }, ({ spec }) =>
    [...(spec?.kubeService?.ports ?? []).map(({ port }) => port), ...(spec?.externalService?.ports ?? []).map(({ number }) => number)]
      .filter((port) => port !== undefined)
      .join(", "),
  ),
  textColumn({ id: "policies", title: t.columns.policies, width: [5.5, 0.5], spare: 2 }, ({ status }) => {
    const [traffic, access] = [status?.appliedTrafficPolicies?.length ?? 0, status?.appliedAccessPolicies?.length ?? 0];
    return [...(traffic > 0 ? [`TP ${traffic}`] : []), ...(access > 0 ? [`AP ${access}`] : [])].join(" · ");
  }),
  textColumn({ id: "federated", title: t.columns.federated, width: [11, 4], isLong: true }, ({ status }) => {
    const { federatedToMeshes = [], federatedHostname = "" } = status?.appliedFederation ?? {};
    return federatedToMeshes.length === 0 ? "" : federatedHostname;
  }),
];

/** Everything that traffic can be sent to. */
export function DestinationsPage() {
  const received = receivedTraffic(useFleet());
  const columns = useMemo(() => [...COLUMNS, receivedColumn<Destination>(received), insightsColumn<Destination>()], [received]);
  return (
    <Page title={t.nav.destinations}>
      <ObjectTable
        what={t.destinations.what}
        rows={useDiscovered(Destination)}
        keyOf={rowKey}
        clustersOf={rowClusters}
        columns={columns}
        objectOf={({ object }) => object}
        empty={<Empty title={t.destinations.empty} how={t.destinations.emptyHow} command={t.destinations.emptyCommand} />}
      />
    </Page>
  );
}
