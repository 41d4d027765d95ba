import { refOf } from "@isthmus/core";
import { Name } from "../components/Name.tsx";
import { ClusterChip, ObjectLink } from "../components/ObjectLink.tsx";
import { StatusMark } from "../components/StatusMark.tsx";
import type { Column } from "../components/table/tableColumns.ts";
import type { CiliumEndpoint } from "../data/kinds.ts";
import type { CiliumPolicyRow } from "../model/clusters/ciliumRows.ts";
import { clusterOf } from "../model/clusters/clusterOf.ts";
import { titled } from "../model/status.ts";
import { t } from "../strings.ts";
import { type DiscoveredRow, textColumn } from "./discoveredColumns.tsx";

const originOf = ({ isGenerated }: CiliumPolicyRow) => (isGenerated ? t.cilium.origins.generated : t.cilium.origins.hand);
const enforcedText = ({ counts }: CiliumPolicyRow) => (counts === undefined ? "" : t.cilium.enforcedOf(counts.enforcing, counts.endpoints));
const reasonsText = ({ because }: CiliumPolicyRow) => because.map(({ namespace, name }) => `${namespace}/${name}`).join(", ");
const dash = <span className="muted">–</span>;

/** Columns of policies, those by hand and those that are generated. */
export const CILIUM_POLICY_COLUMNS: readonly Column<CiliumPolicyRow>[] = [
  {
    id: "name",
    title: t.columns.name,
    width: [10, 2],
    text: ({ object }) => object.metadata.name,
    cell: ({ object }) => <ObjectLink to={refOf(object)} text={object.metadata.name} />,
  },
  {
    id: "cluster",
    title: t.columns.cluster,
    width: [6, 0.8],
    token: "cluster",
    text: ({ object }) => clusterOf(object),
    cell: ({ object }) => <ClusterChip name={clusterOf(object)} />,
  },
  {
    id: "ns",
    title: t.columns.namespace,
    width: [5.5, 0.8],
    token: "ns",
    text: ({ object }) => object.metadata.namespace ?? "",
    cell: ({ object: { metadata } }) =>
      metadata.namespace === undefined ? <span className="muted">{t.cilium.wholeCluster}</span> : <Name text={metadata.namespace} />,
  },
  {
    id: "made",
    title: t.cilium.origin,
    width: [6, 0.7],
    token: "made",
    text: originOf,
    // A value with a space needs quotes.
    values: ({ isGenerated }) => [isGenerated ? "generated" : "hand"],
    cell: originOf,
  },
  {
    id: "because",
    title: t.cilium.because,
    width: [8, 1.6],
    token: "because",
    text: reasonsText,
    values: ({ because }) => because.map(({ name }) => name),
    cell: ({ because }) => {
      const [first, ...more] = because;
      if (first === undefined) return dash;
      return (
        <span className="inline">
          <ObjectLink to={first} text={`${first.namespace}/${first.name}`} />
          {more.length === 0 ? null : <span className="muted">{`+${more.length}`}</span>}
        </span>
      );
    },
  },
  {
    id: "state",
    title: t.columns.state,
    width: [7.5, 0.9],
    token: "state",
    text: ({ status }) => status.word,
    cell: ({ status }) => <StatusMark status={status} />,
  },
  {
    id: "enforced",
    title: t.cilium.enforced,
    width: [5, 0.5],
    text: enforcedText,
    sort: ({ counts }) => (counts === undefined ? -1 : counts.enforcing),
    cell: (row) => (row.counts === undefined ? dash : <span className="number">{enforcedText(row)}</span>),
  },
  {
    id: "message",
    title: t.columns.message,
    width: [8, 2],
    text: ({ message }) => message,
    cell: ({ message }) => <Name text={message} />,
  },
];

type EndpointRow = DiscoveredRow<CiliumEndpoint>;

// A pod has two at most.
const MOST_ADDRESSES = 4;

function addressesOf({ status }: CiliumEndpoint): string {
  const all = (status?.networking?.addressing ?? []).flatMap(({ ipv4, ipv6 }) => [ipv4 ?? "", ipv6 ?? ""]);
  return all
    .filter((each) => each !== "")
    .slice(0, MOST_ADDRESSES)
    .join(", ");
}

function enforcementOf({ status }: CiliumEndpoint): string {
  const enforcing = status?.policy?.ingress?.enforcing;
  return enforcing === undefined ? "" : enforcing ? t.cilium.yes : t.cilium.no;
}

const column = textColumn<CiliumEndpoint>;

/** Columns of endpoints. */
export const CILIUM_ENDPOINT_COLUMNS: readonly Column<EndpointRow>[] = [
  {
    id: "name",
    title: t.columns.name,
    width: [12, 2],
    text: ({ object }) => object.metadata.name,
    cell: ({ object }) => <ObjectLink to={refOf(object)} text={object.metadata.name} />,
  },
  column({ id: "cluster", title: t.columns.cluster, width: [6, 0.8], token: "cluster" }, clusterOf),
  column({ id: "ns", title: t.columns.namespace, width: [6, 0.8], token: "ns" }, ({ metadata }) => metadata.namespace ?? ""),
  column({ id: "sa", title: t.columns.serviceAccount, width: [8, 1.2], token: "sa" }, ({ status }) => status?.["service-account"] ?? ""),
  column({ id: "state", title: t.columns.state, width: [5, 0.6], token: "state" }, ({ status }) =>
    status?.state === undefined ? "" : titled(status.state),
  ),
  column({ id: "enforced", title: t.cilium.enforced, width: [5, 0.5], token: "enforced" }, enforcementOf),
  column({ id: "identity", title: t.cilium.identity, width: [5, 0.6], token: "identity" }, ({ status }) =>
    status?.identity?.id === undefined ? "" : String(status.identity.id),
  ),
  column({ id: "node", title: t.cilium.node, width: [7, 1], token: "node" }, ({ status }) => status?.networking?.node ?? ""),
  column({ id: "addresses", title: t.cilium.addresses, width: [8, 1.2] }, addressesOf),
];
