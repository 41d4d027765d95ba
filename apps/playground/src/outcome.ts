import { AuthorizationPolicy, Destination, DestinationRule, Gateway, Mesh, ServiceEntry, VirtualService, Workload } from "@isthmus/api";
import type { Kind, Resource } from "@isthmus/core";
import type { Cluster } from "@isthmus/plane";
import Table from "cli-table3";
import { colors } from "./colors.ts";

const DISCOVERED: readonly Kind[] = [Mesh, Workload, Destination];
const WRITTEN: readonly Kind[] = [VirtualService, DestinationRule, ServiceEntry, Gateway, AuthorizationPolicy];

/** The kinds whose objects the demo shows. */
export const SHOWN: readonly Kind[] = [...DISCOVERED, ...WRITTEN];

/** How many objects of each kind there are in each cluster. */
export async function countsTable(management: Cluster, workload: readonly Cluster[]): Promise<string> {
  const table = new Table({
    head: ["", "management", ...workload.map(({ name }) => name)],
    style: STYLE,
    colAligns: ["left", ...workload.map(() => "right" as const), "right"],
  });
  for (const kind of SHOWN) {
    const counts = await Promise.all([management, ...workload].map(async (cluster) => (await cluster.list(kind)).items.length));
    if (counts.every((count) => count === 0)) continue;
    table.push([kind.plural, ...counts.map((count) => (count === 0 ? "" : String(count)))]);
  }
  return table.toString();
}

/** Which host of the other cluster can be called from where and, where the terminal has the width for it, at which address, and through what. */
export async function federationTable(workload: readonly Cluster[], width = Number.POSITIVE_INFINITY): Promise<string> {
  const shown = width < FULL_WIDTH ? 2 : 4;
  const table = new Table({ head: ["callable from", "host", "address", "through"].slice(0, shown), style: STYLE });
  for (const cluster of workload) {
    for (const { metadata, spec } of (await cluster.list(ServiceEntry)).items) {
      // Entries without an address are for the gateway of the service's own cluster.
      if (spec?.addresses === undefined || spec.addresses.length === 0) continue;
      const endpoint = spec.endpoints?.[0];
      const through = endpoint === undefined ? "" : `${endpoint.address ?? ""}:${Object.values(endpoint.ports ?? {})[0] ?? ""}`;
      table.push([cluster.name, spec.hosts?.[0] ?? metadata.name, spec.addresses.join(", "), through].slice(0, shown));
    }
  }
  return table.toString();
}

// What the demo's host names and addresses take; without the last two columns it is less than 80.
const FULL_WIDTH = 113;

/** An object in a few words: `VirtualService reviews in cluster-1: 75 % reviews…, 25 % reviews…`. */
export function described(resource: Resource): string {
  const { name, namespace, clusterName } = resource.metadata;
  const place = clusterName === undefined ? "the management cluster" : clusterName;
  const what = `${resource.kind} ${namespace === undefined ? "" : colors.dim(`${namespace}/`)}${colors.bold(name)} in ${place}`;
  const detail = resource.kind === VirtualService.kind ? routesOf(resource as VirtualService) : "";
  return detail === "" ? what : `${what}: ${detail}`;
}

function routesOf({ spec }: VirtualService): string {
  const [route] = spec?.http ?? [];
  if (route === undefined) return "";
  const targets = (route.route ?? []).map(
    ({ destination, weight }) => `${weight === undefined ? "" : `${weight} % `}${destination?.host ?? ""}`,
  );
  const parts = [`to ${targets.join(" and ")}`];
  if (route.timeout !== undefined) parts.push(`timeout ${route.timeout}`);
  if (route.retries?.attempts !== undefined) parts.push(`${route.retries.attempts} retries`);
  return parts.join(", ");
}

const STYLE = { head: [], border: [], compact: true };
