import { KubernetesCluster, Mesh, meshClusters } from "@isthmus/api";
import { isClusterName, type ResourceRef, resourceKeyOf, UsageError } from "@isthmus/core";
import type { Translation, UserObjectStatusUpdate } from "@isthmus/translators";
import type { ExitCode, Io } from "../io.ts";
import { type CheckedFiles, checkFiles, counted, exitCodeOf } from "./check.ts";
import { inputFilesOf } from "./inputPlaces.ts";
import type { Intake, RejectedObject } from "./intake.ts";
import { writeClusterFiles } from "./outDir.ts";
import { inOneCluster, inOrder, type Printable, printed } from "./print.ts";
import { printFindings, tally } from "./report.ts";
import type { TranslateCommandOptions } from "./translateOptions.ts";

/**
 * Files in, files out: objects on `out`, or in a folder; notes, findings and a closing line on `err`. Throws UsageError, which is exit
 * code 2, for input that can't be read. `files`: those that follow the options.
 */
export async function translateFiles(files: readonly string[], options: TranslateCommandOptions, io: Io): Promise<ExitCode> {
  if (options.cluster !== undefined && !isClusterName(options.cluster)) {
    throw new UsageError(`--cluster ${options.cluster}: must be a DNS label: at most 63 lower-case letters, digits and hyphens`);
  }
  const { count, translation, refused, statuses, rejected, findings, given } = await checkFiles(
    { ...options, file: inputFilesOf({ ...options, files }), ages: options.snapshot === undefined ? "CREATED" : "FIRST_SEEN" },
    io,
  );
  const outputs = inOrder(outputsOf(translation, options.stage, refused));
  const { cluster, outDir } = options;
  const isForKubectl = cluster !== undefined || outDir !== undefined;
  const own: ReadStatus = isForKubectl ? (update) => wholeObject(update, given) : (update) => [statusAlone(update)];
  const objects = options.status === true ? [...withStatuses(outputs, statuses, rejected, own)] : outputs;
  if (cluster !== undefined) expectKnown(cluster, translation, outputs);
  const chosen = cluster === undefined ? objects : objects.filter(({ metadata }) => metadata.clusterName === cluster);
  if (outDir !== undefined) writeClusterFiles(outDir, chosen, options.output);
  else for (const text of printed(cluster === undefined ? chosen : chosen.map(inOneCluster), options.output)) await io.out(text);

  printFindings(findings, io);
  io.note(`${counted(count, "object")} read, ${counted(outputs.length, "object")} generated${clustersOf(outputs)}; ${tally(findings)}\n`);
  const isRejected = statuses.some(({ status }) => status["state"] === "INVALID" || status["state"] === "FAILED");
  return isRejected ? 1 : exitCodeOf(findings, options.failOn);
}

/** A misspelt cluster would get nothing, as one gets in which nothing is to be written. */
function expectKnown(cluster: string, { inputs }: Translation, outputs: readonly Printable[]): void {
  const names = new Set([
    ...[...inputs.collections().values()].flatMap((collection) => [...collection].flatMap(({ metadata }) => metadata.clusterName ?? [])),
    ...[...inputs.of(KubernetesCluster)].map(({ metadata }) => metadata.name),
    ...[...inputs.of(Mesh)].flatMap((mesh) => meshClusters(mesh)),
    ...outputs.flatMap(({ metadata }) => metadata.clusterName ?? []),
  ]);
  names.delete("");
  if (names.size === 0 || names.has(cluster)) return;
  const some = [...names].sort().slice(0, MOST_NAMES).join(", ");
  throw new UsageError(`--cluster ${cluster}: the input has no such cluster; it has ${some}${names.size > MOST_NAMES ? ", …" : ""}`);
}

const MOST_NAMES = 20;

/** What is refused is not printed either: kubectl would write it over the object that is there. */
function outputsOf(
  { discovery, networking }: Translation,
  stage: TranslateCommandOptions["stage"],
  refused: CheckedFiles["refused"],
): readonly Printable[] {
  const sets = stage === "all" ? [discovery, networking] : [stage === "discovery" ? discovery : networking];
  return sets.flatMap((set) => [...set.entries()].flatMap(([key, { resource }]) => (refused.has(key) ? [] : [resource])));
}

/** What is printed of an object of the input that has a status. */
type ReadStatus = (update: StatusUpdate) => readonly Printable[];

interface StatusUpdate {
  readonly ref: ResourceRef;
  readonly status: object;
}

/**
 * Generated objects, each with the status that was computed for it in one document, so that what is printed can be read back; then what
 * `own` makes of the statuses of users' objects and of discovery objects that were given.
 */
function* withStatuses(
  outputs: readonly Printable[],
  statuses: readonly UserObjectStatusUpdate[],
  rejected: readonly RejectedObject[],
  own: ReadStatus,
): Iterable<Printable> {
  const byKey = new Map(statuses.map((update) => [resourceKeyOf(update.ref), update]));
  for (const output of outputs) {
    const { name, namespace = "", clusterName = "" } = output.metadata;
    const key = resourceKeyOf({ ...output, name, namespace, clusterName });
    const status = byKey.get(key)?.status;
    byKey.delete(key);
    yield status === undefined ? output : { ...output, status: { ...status } };
  }
  yield* inOrder([...byKey.values(), ...rejectedStatuses(rejected)].flatMap(own));
}

/** Nothing but a status: the published form, for programs that compare. */
function statusAlone({ ref, status }: StatusUpdate): Printable {
  const { apiVersion, kind, name, namespace, clusterName } = ref;
  const metadata = { name, ...(namespace === "" ? {} : { namespace }), ...(clusterName === "" ? {} : { clusterName }) };
  return { apiVersion, kind, metadata, status: { ...status } };
}

/** An object as it was given, with its status. A status alone is never given to kubectl: it would take the object's spec away. */
function wholeObject({ ref, status }: StatusUpdate, given: Intake["given"]): readonly Printable[] {
  const object = given(ref, "");
  return object === undefined ? [] : [{ ...(object as Printable), status: { ...status } }];
}

/** What a user wrote and can't be used has a status like everything else that a user wrote. */
function rejectedStatuses(rejected: readonly RejectedObject[]): readonly StatusUpdate[] {
  return rejected.flatMap(({ ref, generation, problems, isUsersOwn }) => {
    if (ref === undefined || !isUsersOwn) return [];
    const errors = problems.map(({ message }) => message);
    return [{ ref, status: { ...(generation === undefined ? {} : { observedGeneration: generation }), state: "INVALID", errors } }];
  });
}

function clustersOf(outputs: readonly Printable[]): string {
  const clusters = new Set(outputs.map(({ metadata }) => metadata.clusterName).filter((name) => name !== undefined));
  return clusters.size === 0 ? "" : ` for ${[...clusters].sort().join(", ")}`;
}
