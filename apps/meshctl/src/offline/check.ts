import { DaemonSet, Deployment, Service, StatefulSet, userStatusKinds } from "@isthmus/api";
import {
  formatRef,
  isClusterName as isDnsLabel,
  kindKeyOf,
  type Report,
  type Resource,
  refOf,
  snapshotOf,
  UsageError,
} from "@isthmus/core";
import type { FindingSeverity, ReportedFinding } from "@isthmus/insights/report";
import { type AgeSource, statusesOf, type Translation, translate, type UserObjectStatusUpdate } from "@isthmus/translators";
import type { Io } from "../io.ts";
import { plainText } from "../output/plainText.ts";
import { type Doubt, knownObjects } from "./checks/knownObjects.ts";
import { withNearMisses } from "./checks/nearMisses.ts";
import { placementDoubts } from "./checks/placement.ts";
import { referenceDoubts } from "./checks/references.ts";
import { rejectedMistakes } from "./checks/rejectedMistakes.ts";
import { selectionDoubts } from "./checks/selection.ts";
import { hasCluster, refersToClusters, type WithoutCluster, withoutCluster } from "./checks/withoutCluster.ts";
import { parseDocuments, type Unreadable } from "./documents.ts";
import { offlineFindings, statusReports } from "./findings.ts";
import { type InputFile, readInputFiles } from "./inputFiles.ts";
import { type Intake, intake, type Note, type RejectedObject } from "./intake.ts";
import { type RefusedOutputs, refusedOutputs } from "./objectsOfUsers.ts";
import { type InputObject, unfold } from "./unfold.ts";

/** What is read, and how it is translated. */
export interface CheckOptions {
  /** Files, folders, or `-` for standard input. */
  readonly file: readonly string[];
  /** What was read already, besides. */
  readonly texts?: readonly InputFile[];
  readonly stage: "discovery" | "networking" | "all";
  readonly namespace: string;
  readonly agentCluster?: string;
  readonly disallowIntersectingConfig?: boolean;
  /** How old objects of workload clusters are. Default: as their own clusters say, which nobody else recorded. */
  readonly ages?: AgeSource;
  /** Of an input without a cluster only what it can be blamed for is said. */
  readonly leavesWhatClustersKnow?: true;
}

/** Everything that follows from the input. */
export interface CheckedFiles {
  /** How many objects were read. */
  readonly count: number;
  readonly translation: Translation;
  /** What of it is not written, because an object of the input that is not ours has the name, by `resourceKeyOf`. */
  readonly refused: RefusedOutputs["conflicts"];
  readonly statuses: readonly UserObjectStatusUpdate[];
  readonly rejected: readonly RejectedObject[];
  readonly findings: readonly ReportedFinding[];
  /** What could only be true of a cluster, where none is in the input. */
  readonly left: readonly ReportedFinding[];
  /** A field of an object as it was given; "" is the object itself. */
  readonly given: Intake["given"];
  /** Where a field of an object stands in the input. */
  readonly sourceOf: Intake["sourceOf"];
}

/** Reads and translates. Throws UsageError, which is exit code 2, for input that can't be read or that holds nothing. */
export async function checkFiles(options: CheckOptions, io: Io): Promise<CheckedFiles> {
  try {
    return await checked(options, io);
  } finally {
    io.progress("");
  }
}

async function checked(options: CheckOptions, io: Io): Promise<CheckedFiles> {
  const { agentCluster, namespace, stage, disallowIntersectingConfig = false, ages = "CREATED" } = options;
  if (agentCluster !== undefined && !isDnsLabel(agentCluster)) {
    throw new UsageError(`--agent-cluster ${agentCluster}: must be a DNS label: at most 63 lower-case letters, digits and hyphens`);
  }
  if (!isDnsLabel(namespace)) {
    throw new UsageError(`--namespace ${namespace}: must be a DNS label: at most 63 lower-case letters, digits and hyphens`);
  }
  const { resources, rejected, notes, sourceOf, given } = intake(await objectsOf(options, io));
  io.progress(`translating ${counted(resources.length, "object")}`);
  const count = resources.length + rejected.length;
  if (count === 0) throw new UsageError(nothingRead(options, notes));
  const agent = agentCluster === undefined ? {} : { agentCluster };
  const translation = { namespace, stage, ages, disallowIntersectingConfig, ...agent };
  const world = translate(snapshotOf(resources), translation);
  const refused = refusedOutputs(world, resources, namespace);
  const statuses = statusUpdates(world, refused, stage);
  const known = knownObjects({ resources, given, rejected, translation: world, namespace, isOneCluster: agentCluster !== undefined });
  const reports = [...world.reports, ...rejectedMistakes({ rejected, given }, world, translation)];
  const isAlone =
    options.leavesWhatClustersKnow === true && !hasCluster(resources, rejected, agentCluster) && refersToClusters(resources, rejected);
  const evaluation: WithoutCluster = isAlone ? withoutCluster(reports, known) : { evaluated: reports, left: [], notes: [] };
  const left = offlineFindings({ notes: [], rejected: [], sourceOf }, evaluation.left);
  const findings = offlineFindings({ notes: [...notes, ...homeless(resources, options), ...evaluation.notes], rejected, sourceOf }, [
    ...withNearMisses(evaluation.evaluated, known),
    ...refused.reports,
    ...statusReports(statuses, [...world.reports, ...refused.reports]),
    ...[...placementDoubts(known, resources), ...referenceDoubts(known), ...selectionDoubts(known, statuses)].map(doubtReport),
  ]);
  return { count, translation: world, refused: refused.conflicts, statuses, rejected, findings, left, given, sourceOf };
}

function doubtReport({ object, code, message, isError }: Doubt): Report {
  return { subject: refOf(object), state: isError === true ? "FAILED" : "WARNING", code, message };
}

const WEIGHTS: Readonly<Record<FindingSeverity, number>> = { info: 0, warning: 1, error: 2 };

/** Whether findings make a run fail: 1 when one of them weighs as much as `failOn`, or more. */
export function exitCodeOf(findings: readonly ReportedFinding[], failOn: FindingSeverity): 0 | 1 {
  return findings.some(({ severity }) => WEIGHTS[severity] >= WEIGHTS[failOn]) ? 1 : 0;
}

function nothingRead({ file, texts = [] }: Input, notes: readonly Note[]): string {
  const names = [...file.map((path) => (path === "-" ? "standard input" : path)), ...texts.map(({ name }) => name)];
  const places = [...new Set(names)].join(", ");
  return [`${places}: no objects found that translation uses`, ...notes.map(({ message }) => message)].join("\n");
}

type Input = Pick<CheckOptions, "file" | "texts">;

async function objectsOf({ file: paths, texts = [] }: Input, io: Io): Promise<readonly InputObject[]> {
  const objects: InputObject[] = [];
  const unreadable: Unreadable[] = [];
  const empty: string[] = [];
  for (const file of [...(await readInputFiles(paths, io)), ...texts]) {
    const parsed = parseDocuments(file, (count) => io.progress(`reading ${plainText(file.name)}: ${count} documents`));
    unreadable.push(...parsed.unreadable);
    if (file.isNamed && parsed.documents.length + parsed.unreadable.length === 0) empty.push(file.name);
    for (const document of parsed.documents) {
      const unfolded = unfold(document);
      objects.push(...unfolded.objects);
      unreadable.push(...unfolded.unreadable);
    }
  }
  const problems = [
    ...unreadable.map(({ file, number, line, problem }) => `${file}:${line}, document ${number}: ${problem}`),
    // As where the command that should have written it has failed.
    ...(objects.length > 0 ? empty.map((name) => `${name}: is empty: leave it out, or look at what should have written it`) : []),
  ];
  if (problems.length === 0) return objects;
  throw new UsageError(problems.join("\n"));
}

/** A note about objects in which nothing is discovered, as nobody said whose they are. */
function homeless(resources: readonly Resource[], { stage, agentCluster }: CheckOptions): readonly Note[] {
  if (stage === "networking" || agentCluster !== undefined) return [];
  const [first, ...others] = resources.filter(({ kind, metadata: { clusterName = "" } }) => clusterName === "" && RUNNING.has(kind));
  if (first === undefined) return [];
  const which = `${formatRef(refOf(first))}${others.length === 0 ? " has" : ` and ${counted(others.length, "other object")} have`}`;
  const message = `${which} no metadata.clusterName, so nothing is discovered from ${others.length === 0 ? "it" : "them"}: set it, or use --agent-cluster NAME if all are from one cluster`;
  return [{ code: "ClusterMissing", message }];
}

// What discovery makes objects of; found in the management cluster as well, when somebody dumps that.
const RUNNING: ReadonlySet<string> = new Set([Deployment, DaemonSet, StatefulSet, Service].map(({ kind }) => kind));

/** Discovery alone does not judge what users ask for. */
function statusUpdates(world: Translation, { delivery }: RefusedOutputs, stage: CheckOptions["stage"]): readonly UserObjectStatusUpdate[] {
  const asked = new Set(userStatusKinds().map(kindKeyOf));
  return statusesOf(world, delivery).filter(({ ref }) => stage !== "discovery" || !asked.has(kindKeyOf(ref)));
}

/** `1 object`, `2 objects`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
