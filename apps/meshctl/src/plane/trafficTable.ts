import { plainJson } from "@isthmus/core";
import type { ClusterReport, EdgeReport } from "@isthmus/dataplane";
import { columnsText } from "../output/columns.ts";
import { pageItems } from "./pageItems.ts";

/** Requests between workloads of a fleet, and the clusters that no replica of the server knows anything of. */
export interface Traffic {
  readonly edges: readonly (EdgeReport & { readonly cluster: string })[];
  readonly problems: readonly { readonly cluster: string; readonly problem: string }[];
}

/** By what rows are sorted. */
export type SortKey = "requests" | "errors" | "p99";

/** What the pages of all replicas come to, the busiest first. A cluster that one of them knows has no problem. */
export function trafficIn(pages: readonly string[], { sort, limit }: { readonly sort: SortKey; readonly limit: number }): Traffic {
  const items = pages.flatMap((page) => pageItems(page, "/traffic") as readonly Item[]);
  const known = new Map(items.flatMap((item) => (item.problem === undefined ? [[item.cluster, item] as const] : [])));
  const problems = new Map(
    items.flatMap(({ cluster, problem }) => (problem === undefined || known.has(cluster) ? [] : [[cluster, problem] as const])),
  );
  const edges = [...known.values()].flatMap(({ cluster, edges: own = [] }) => own.map((edge) => ({ cluster, ...edge })));
  const sorted = edges.sort((left, right) => VALUES[sort](right) - VALUES[sort](left)).slice(0, limit);
  const unknown = [...problems].map(([cluster, problem]) => ({ cluster, problem }));
  // Agents choose most of these texts.
  return plainJson({ edges: sorted, problems: unknown }) as Traffic;
}

interface Item extends Partial<ClusterReport> {
  readonly cluster: string;
  readonly problem?: string;
}

const VALUES: Readonly<Record<SortKey, (edge: EdgeReport) => number>> = {
  requests: ({ requestsPerSecond }) => requestsPerSecond,
  errors: ({ errors }) => errors,
  p99: ({ p99Ms = 0 }) => p99Ms,
};

/** A row for each edge. */
export function trafficTable({ edges }: Traffic, width: number | undefined): string {
  if (edges.length === 0) return "no requests\n";
  const rows = edges.map((edge) => [
    named(edge.source.workload, edge.source.namespace, edge.cluster),
    destinationText(edge),
    edge.requestsPerSecond.toFixed(1),
    `${edge.errorPercent.toFixed(1)}%`,
    durationText(edge.p99Ms),
    durationText(edge.p50Ms),
    bytesText(edge.requestBytesPerSecond + edge.responseBytesPerSecond),
  ]);
  return columnsText(["SOURCE", "DESTINATION", "REQ/S", "ERRORS", "P99", "P50", "BYTES/S"], rows, width === undefined ? {} : { width });
}

function destinationText({ cluster, destination }: Traffic["edges"][number]): string {
  const { service, workload, namespace } = destination;
  const name = service === "" || workload.startsWith(service) ? workload : service;
  return named(name, namespace, destination.cluster === cluster ? "" : destination.cluster);
}

/** `NAME.NAMESPACE.CLUSTER`, as far as it is known. */
function named(name: string, namespace: string, cluster: string): string {
  return name === "" ? "unknown" : [name, namespace, cluster].filter((part) => part !== "").join(".");
}

function durationText(ms: number | undefined): string {
  if (ms === undefined) return "-";
  return ms < 1_000 ? `${ms.toFixed(ms < 10 ? 1 : 0)}ms` : `${(ms / 1_000).toFixed(1)}s`;
}

function bytesText(bytes: number): string {
  const unit = bytes < 1_024 ? 0 : bytes < 1_024 * 1_024 ? 1 : 2;
  return `${(bytes / 1_024 ** unit).toFixed(unit === 0 ? 0 : 1)}${["B", "KiB", "MiB"][unit] ?? ""}`;
}
