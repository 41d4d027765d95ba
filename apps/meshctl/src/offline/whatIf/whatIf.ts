import { KubernetesCluster, Mesh, meshClusters } from "@isthmus/api";
import { isClusterName, UsageError } from "@isthmus/core";
import type { Translation } from "@isthmus/translators";
import type { ExitCode, Io } from "../../io.ts";
import { checkFiles, counted } from "../check.ts";
import { tally } from "../report.ts";
import { type LostHost, lostHosts, OUTCOMES, type Outcome } from "./lostHosts.ts";
import { translatedWithout } from "./withoutClusters.ts";

/** What `meshctl what-if` was asked for. */
export interface WhatIfOptions {
  readonly without: string;
  readonly file?: readonly string[];
  /** Files with the page /snapshots/input of a server. */
  readonly snapshot?: readonly string[];
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
  const { file, snapshot, namespace, output, failOn } = options;
  if ((file === undefined) === (snapshot === undefined)) throw new UsageError("either --file or --snapshot must be given, and not both");
  const without = clustersIn(options.without);
  // Of a server it is known when it received objects, which decides conflicts; of files only when they were created.
  const ages = snapshot === undefined ? "CREATED" : "FIRST_SEEN";
  const { count, translation, statuses, findings } = await checkFiles({ file: file ?? snapshot ?? [], stage: "all", namespace, ages }, io);
  const lost = new Set(without);
  expectClusters(lost, translation);
  const now = translatedWithout(lost, translation, translation.cache.options);
  const hosts = lostHosts({ before: translation, now, lost, statuses });
  await io.out(textOf(hosts, { without, output }));

  const failed = hosts.filter(({ outcome }) => outcome === "NO_TARGET").length;
  io.err(`${counted(count, "object")} read; ${tally(findings)}\n`);
  io.err(`without ${without.join(", ")}: ${counted(hosts.length, "host")} affected, ${failed} without a target\n`);
  io.err(`Computed from configuration, not observed. Not known: ${NOT_KNOWN.join("; ")}.\n`);
  return hosts.some(({ outcome }) => isFailure(outcome, failOn)) ? 1 : 0;
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
