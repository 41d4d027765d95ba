import { allKinds, DaemonSet, Deployment, isAsked, Service, StatefulSet } from "@isthmus/api";
import {
  formatRef,
  isClusterName as isDnsLabel,
  kindKeyOf,
  type Resource,
  type ResourceRef,
  refOf,
  snapshotOf,
  UsageError,
} from "@isthmus/core";
import { type StatusUpdate, statusesOf, translate, type World } from "@isthmus/translators";
import type { TranslateOptions } from "../commands/translate.ts";
import type { ExitCode, Io } from "../io.ts";
import { parseDocuments, type Unreadable } from "./documents.ts";
import { findingLines, isRejected, statusReports } from "./findings.ts";
import { readInputFiles } from "./inputFiles.ts";
import { intake, type RejectedObject } from "./intake.ts";
import { inOrder, type Printable, printed } from "./print.ts";
import { type InputObject, unfold } from "./unfold.ts";

/**
 * Files in, files out: objects on `out`; notes, findings and a closing line on `err`. Throws UsageError, which is exit code 2,
 * for input that can't be read.
 */
export async function translateFiles(options: TranslateOptions, io: Io): Promise<ExitCode> {
  const { agentCluster, namespace, stage, disallowIntersectingConfig = false } = options;
  if (agentCluster !== undefined && !isDnsLabel(agentCluster)) {
    throw new UsageError(`--agent-cluster ${agentCluster}: a cluster's name is a DNS label: lower-case letters, digits and -, at most 63`);
  }
  if (!isDnsLabel(namespace)) {
    throw new UsageError(`--namespace ${namespace}: a namespace's name is a DNS label: lower-case letters, digits and -, at most 63`);
  }
  const { resources, rejected, notes, sourceOf } = intake(await objectsOf(options.file, io));
  const agent = agentCluster === undefined ? {} : { agentCluster };
  const world = translate(snapshotOf(resources), { namespace, stage, disallowIntersectingConfig, ...agent });

  const outputs = inOrder(outputsOf(world, stage));
  const updates = statusUpdates(world, stage);
  const statuses = inOrder([...updates.map(({ ref, status }) => withStatus(ref, status)), ...rejectedStatuses(rejected)]);
  const objects: readonly Printable[] = options.status === true ? [...outputs, ...statuses] : outputs;
  for (const text of printed(objects, options.output)) await io.out(text);

  const findings = findingLines([...world.reports, ...statusReports(updates, world.reports)], sourceOf);
  const refused = [
    ...rejected.map(({ source, message }) => `${source}: ${message}`),
    ...findings.filter(({ isRejection }) => isRejection).map(({ text }) => text),
  ];
  const warnings = findings.filter(({ isRejection }) => !isRejection).map(({ text }) => text);
  for (const text of [...notes, ...homeless(resources, options)]) io.err(`${io.colors.dim("note:")} ${text}\n`);
  for (const text of warnings) io.err(`${io.colors.yellow("warning:")} ${text}\n`);
  for (const text of refused) io.err(`${io.colors.red("rejected:")} ${text}\n`);
  io.err(`${counted(resources.length + rejected.length, "object")} read, ${counted(outputs.length, "object")} generated`);
  io.err(`${clustersOf(outputs)}; ${refused.length} rejected, ${counted(warnings.length, "warning")}\n`);
  return refused.length > 0 || statuses.some(({ status }) => isRejected(status["state"])) ? 1 : 0;
}

async function objectsOf(paths: readonly string[], io: Io): Promise<readonly InputObject[]> {
  const objects: InputObject[] = [];
  const unreadable: Unreadable[] = [];
  for (const file of await readInputFiles(paths, io)) {
    const parsed = parseDocuments(file);
    unreadable.push(...parsed.unreadable);
    for (const document of parsed.documents) {
      const unfolded = unfold(document);
      objects.push(...unfolded.objects);
      unreadable.push(...unfolded.unreadable);
    }
  }
  if (unreadable.length === 0) return objects;
  throw new UsageError(unreadable.map(({ file, number, line, problem }) => `${file}:${line}, document ${number}: ${problem}`).join("\n"));
}

/** A note about objects in which nothing is discovered, as nobody said whose they are. */
function homeless(resources: readonly Resource[], { stage, agentCluster }: TranslateOptions): readonly string[] {
  if (stage === "networking" || agentCluster !== undefined) return [];
  const [first, ...others] = resources.filter(({ kind, metadata: { clusterName = "" } }) => clusterName === "" && RUNNING.has(kind));
  if (first === undefined) return [];
  const which = `${formatRef(refOf(first))}${others.length === 0 ? " names" : ` and ${counted(others.length, "other object")} name`}`;
  return [`${which} no cluster, so nothing is discovered there: set metadata.clusterName, or say --agent-cluster NAME if all are of one`];
}

// What discovery makes objects of; found in the management cluster as well, when somebody dumps that.
const RUNNING: ReadonlySet<string> = new Set([Deployment, DaemonSet, StatefulSet, Service].map(({ kind }) => kind));

function outputsOf({ discovery, networking }: World, stage: TranslateOptions["stage"]): readonly Printable[] {
  const sets = stage === "all" ? [discovery, networking] : [stage === "discovery" ? discovery : networking];
  return sets.flatMap((set) => [...set].map(({ resource }) => resource));
}

/** Discovery alone does not judge what users ask for. */
function statusUpdates(world: World, stage: TranslateOptions["stage"]): readonly StatusUpdate[] {
  const asked = new Set(allKinds().filter(isAsked).map(kindKeyOf));
  return statusesOf(world).filter(({ ref }) => stage !== "discovery" || !asked.has(kindKeyOf(ref)));
}

interface StatusOnly extends Printable {
  readonly status: Readonly<Record<string, unknown>>;
}

function withStatus({ apiVersion, kind, name, namespace, clusterName }: ResourceRef, status: object): StatusOnly {
  const metadata = { name, ...(namespace === "" ? {} : { namespace }), ...(clusterName === "" ? {} : { clusterName }) };
  return { apiVersion, kind, metadata, status: { ...status } };
}

/** What a user wrote and can't be used has a status like everything else that a user wrote. */
function rejectedStatuses(rejected: readonly RejectedObject[]): readonly StatusOnly[] {
  return rejected.flatMap(({ ref, generation, message, isUsersOwn }) => {
    if (ref === undefined || !isUsersOwn) return [];
    return [
      withStatus(ref, { ...(generation === undefined ? {} : { observedGeneration: generation }), state: "INVALID", errors: [message] }),
    ];
  });
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function clustersOf(outputs: readonly Printable[]): string {
  const clusters = new Set(outputs.map(({ metadata }) => metadata.clusterName).filter((name) => name !== undefined));
  return clusters.size === 0 ? "" : ` for ${[...clusters].sort().join(", ")}`;
}
