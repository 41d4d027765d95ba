import { plainJson } from "@isthmus/core";
import type { AccessLog, AccessLogAnswer } from "@isthmus/dataplane";
import { plainText } from "../output/plainText.ts";
import { pageItems } from "./pageItems.ts";

/** An entry, and the cluster whose agent has it. */
export interface ClusterAccessLog extends AccessLog {
  readonly cluster: string;
}

/** The newest entries of all pages, the oldest of them first, and which clusters did not answer. What is no such page counts as empty. */
export function accessLogsIn(
  pages: readonly string[],
  limit: number,
): { readonly entries: readonly ClusterAccessLog[]; readonly problems: readonly string[] } {
  const items = pages.flatMap(itemsIn);
  const problems = items.flatMap(({ cluster, problem, otherReplicas = [] }) => {
    if (problem !== undefined) return [plainText(`${cluster}: ${problem}`)];
    if (otherReplicas.length === 0) return [];
    const names = otherReplicas.join(", ");
    return [plainText(`${cluster}: replicas of its agent that did not answer: ${names}; --agent reads all, in the cluster of --context`)];
  });
  const all = items.flatMap(({ cluster, entries = [] }) => entries.map((entry) => ({ ...entry, cluster })));
  const entries = all.sort((left, right) => compare(left.time, right.time)).slice(-limit);
  // An agent, and the one who calls a workload, chooses most of these texts.
  return { entries: plainJson(entries) as readonly ClusterAccessLog[], problems };
}

interface Item extends Partial<AccessLogAnswer> {
  readonly cluster: string;
  readonly problem?: string;
}

function itemsIn(page: string): readonly Item[] {
  return pageItems(page, "/access-logs") as readonly Item[];
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** One line for each entry, and below it in words why it failed. */
export function accessLogText(entries: readonly ClusterAccessLog[]): string {
  return entries.map((entry) => `${[lineOf(entry), ...reasonsOf(entry)].join("\n  ")}\n`).join("");
}

function lineOf({
  time,
  cluster,
  status,
  method,
  authority,
  path,
  durationMs,
  source,
  destination,
  verified,
  protocol,
  flags,
}: ClusterAccessLog): string {
  const request = protocol === "tcp" ? "TCP" : [method, `${authority ?? ""}${path ?? ""}`].join(" ");
  const took = durationMs === undefined ? [] : [`${durationMs} ms`];
  const codes = flags.map(({ code }) => code).join(",");
  const marks = [...(codes === "" ? [] : [codes]), ...(verified ? [] : ["unverified"])];
  const ends = `${endText(source)} -> ${endText(destination)}`;
  return plainText([time, cluster, String(status ?? "-"), ends, request, ...took, ...marks].join("  "));
}

function endText({ namespace, name, address, identity }: AccessLog["source"]): string {
  if (name !== undefined) return namespace === undefined ? name : `${namespace}/${name}`;
  return identity ?? address ?? "unknown";
}

function reasonsOf({ flags, failure }: AccessLog): readonly string[] {
  return [...flags.map(({ code, meaning }) => `${code}: ${meaning}`), ...(failure === undefined ? [] : [`failure: ${failure}`])].map(
    (text) => plainText(text),
  );
}

/** Tells which entries were not there before. It remembers the newest `MOST_REMEMBERED`. */
export function newEntries(): { add(entries: readonly ClusterAccessLog[]): readonly ClusterAccessLog[] } {
  const seen = new Set<string>();
  return {
    add(entries) {
      const fresh = entries.filter((entry) => !seen.has(JSON.stringify(entry)));
      for (const entry of fresh) seen.add(JSON.stringify(entry));
      for (const oldest of seen) {
        if (seen.size <= MOST_REMEMBERED) break;
        seen.delete(oldest);
      }
      return fresh;
    },
  };
}

// Several times what one answer has.
const MOST_REMEMBERED = 5_000;
