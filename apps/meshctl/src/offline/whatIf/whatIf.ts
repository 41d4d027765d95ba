import { KubernetesCluster, Mesh, meshClusters } from "@isthmus/api";
import { isClusterName, UsageError } from "@isthmus/core";
import type { Translation } from "@isthmus/translators";
import type { ExitCode, Io } from "../../io.ts";
import { checkFiles, counted } from "../check.ts";
import type { InputFile } from "../inputFiles.ts";
import { tally } from "../report.ts";
import { type LostHost, lostHosts, OUTCOMES, type Outcome } from "./lostHosts.ts";
import { translatedWithout } from "./withoutClusters.ts";

/** What `meshctl what-if` was asked for. */
export interface WhatIfOptions {
  readonly without: string;
  readonly file?: readonly string[];
  /** Files with the page /snapshots/input of a server. */
  readonly snapshot?: readonly string[];
  /** That page of a running server, in parts. */
  readonly live?: readonly string[];
  readonly output: "table" | "json" | "yaml";
  readonly failOn: FailOnResult;
  readonly namespace: string;
}

/** From which outcome on a run fails. */
export type FailOnResult = "no-target" | "partial" | "moved" | "backup-lost" | "never";

/** What configuration says nothing of. */
export const NOT_KNOWN: readonly string[] = [
  "whether the remaining clusters have the capacity for the traffic that goes there",
  "whether their pods and gateways are healthy, and can be reached",
  "how long it takes until proxies notice, and what happens to requests until then",
  "what users route with objects of Istio of their own, and which callers access policies refuse",
];

/** The text of a result: the caller says how wide it may be. */
export type WhatIfText = (
  hosts: readonly LostHost[],
  options: { readonly without: readonly string[]; readonly output: "table" | "json" | "yaml" },
) => string;

/** Translates twice, the second time without the endpoints of some clusters, and prints what becomes of the hosts that used them. */
export async function whatIf(options: WhatIfOptions, io: Io, textOf: WhatIfText): Promise<ExitCode> {
  const { file, snapshot, live, namespace, output, failOn } = options;
  const without = clustersIn(options.without);
  // Of a server it is known when it received objects, which decides conflicts; of files only when they were created.
  const ages = file === undefined ? "FIRST_SEEN" : "CREATED";
  const texts = (live ?? []).map((text): InputFile => ({ name: "the server's snapshot", text, isNamed: true }));
  const input = { file: file ?? snapshot ?? [], texts };
  const { count, translation, statuses, findings } = await checkFiles({ ...input, stage: "all", namespace, ages }, io);
  const lost = new Set(without);
  expectClusters(lost, translation);
  const now = translatedWithout(lost, translation, translation.cache.options);
  const hosts = lostHosts({ before: translation, now, lost, statuses });
  await io.out(textOf(hosts, { without, output }));

  const failed = hosts.filter(({ outcome }) => outcome === "NO_TARGET").length;
  io.note(`${counted(count, "object")} read; ${tally(findings)}\n`);
  io.note(`without ${without.join(", ")}: ${counted(hosts.length, "host")} affected, ${failed} without a target\n`);
  io.note(`Computed from configuration, not observed. Not known: ${NOT_KNOWN.join("; ")}.\n`);
  const silent = live === undefined ? [] : silentClusters(translation);
  if (silent.length > 0) {
    const names = silent.length > MOST_NAMES ? `${silent.slice(0, MOST_NAMES).join(", ")}, …` : silent.join(", ");
    io.err(`warning: the server knows nothing of ${names}: hosts there are missing above; wait for their agents (meshctl sync status)\n`);
  }
  return hosts.some(({ outcome }) => isFailure(outcome, failOn)) ? 1 : silent.length > 0 ? 3 : 0;
}

/** Throws UsageError unless exactly one input is asked for. */
export function checkWhatIfInput(inputs: Readonly<Record<"file" | "snapshot" | "live", unknown>>): void {
  if (Object.values(inputs).filter((input) => input !== undefined).length !== 1)
    throw new UsageError("either --file, --snapshot or --live must be given, and only one of them");
}

/** Clusters that are registered and that no agent has reported: unknown, not empty. */
function silentClusters({ inputs }: Translation): readonly string[] {
  const known = new Set<string>();
  for (const [, collection] of inputs.collections()) for (const { metadata } of collection) known.add(metadata.clusterName ?? "");
  return [...inputs.of(KubernetesCluster)].flatMap(({ metadata: { name } }) => (known.has(name) ? [] : [name])).sort();
}

function isFailure(outcome: Outcome, failOn: FailOnResult): boolean {
  if (failOn === "never") return false;
  const least: Outcome = ({ "no-target": "NO_TARGET", partial: "PARTIAL", moved: "MOVED", "backup-lost": "BACKUP_LOST" } as const)[failOn];
  return OUTCOMES.indexOf(outcome) >= OUTCOMES.indexOf(least);
}

function clustersIn(text: string): readonly string[] {
  const names = [...new Set(text.split(",").map((name) => name.trim()))].sort();
  for (const name of names) {
    if (!isClusterName(name)) {
      throw new UsageError(`--without ${text}: ${name === "" ? "a name is empty" : name}: must be cluster names, separated by commas`);
    }
  }
  return names;
}

/** Without a cluster that nobody has, everything would seem to be well. */
function expectClusters(lost: ReadonlySet<string>, { inputs }: Translation): void {
  const names = new Set([
    ...[...inputs.of(Mesh)].flatMap((mesh) => meshClusters(mesh)),
    ...[...inputs.of(KubernetesCluster)].map(({ metadata }) => metadata.name),
  ]);
  for (const name of lost) {
    if (names.has(name)) continue;
    const some = [...names].sort().slice(0, MOST_NAMES).join(", ") || "none with a mesh";
    throw new UsageError(`--without ${name}: the input has no such cluster; it has ${some}${names.size > MOST_NAMES ? ", …" : ""}`);
  }
}

const MOST_NAMES = 20;
