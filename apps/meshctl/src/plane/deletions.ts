import { displayName, type ResourceRef, UsageError } from "@isthmus/core";
import { ageText } from "../output/age.ts";
import { wrapped } from "../output/fit.ts";
import { plainText } from "../output/plainText.ts";

/** One delete, as the admin page `/evidence` lists it. */
export interface Deletion {
  /** RFC 3339. */
  readonly at: string;
  readonly step: string;
  readonly object: ResourceRef;
  readonly reason: string;
  readonly inputs: readonly ResourceRef[];
  readonly snapshot?: string;
}

/** Which deletes are meant. */
export interface DeletionFilter {
  readonly kind?: string;
  /** `name`, or `namespace/name`. */
  readonly name?: string;
  readonly cluster?: string;
}

/** Reads the page. Throws UsageError for what is no such page; entries that are not of its form are left out. */
export function deletionsIn(text: string): readonly Deletion[] {
  let page: unknown;
  try {
    page = JSON.parse(text);
  } catch {
    throw new UsageError("the page /evidence is not JSON: was it a management server or an agent that answered?");
  }
  const { items } = membersOf(page);
  if (!Array.isArray(items)) throw new UsageError("the page /evidence has no items: was it a management server or an agent that answered?");
  return items.flatMap((item: unknown) => {
    const { at, step, object, reason, evidence } = membersOf(item);
    const ref = refIn(object);
    if (ref === undefined) return [];
    const { inputs, snapshot } = membersOf(evidence);
    const read = (Array.isArray(inputs) ? inputs : []).flatMap((input: unknown) => refIn(input) ?? []);
    return {
      at: textOf(at),
      step: textOf(step),
      object: ref,
      reason: textOf(reason),
      inputs: read,
      ...(snapshot === undefined ? {} : { snapshot: textOf(snapshot) }),
    };
  });
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, unknown>>) : {};
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function refIn(value: unknown): ResourceRef | undefined {
  const { apiVersion, kind, name, namespace, clusterName } = membersOf(value);
  if (textOf(name) === "") return undefined;
  return {
    apiVersion: textOf(apiVersion),
    kind: textOf(kind),
    name: textOf(name),
    namespace: textOf(namespace),
    clusterName: textOf(clusterName),
  };
}

/** The deletes of several programs, the oldest first, as the page of each has them. */
export function inTimeOrder(pages: readonly (readonly Deletion[])[]): readonly Deletion[] {
  if (pages.length === 1) return pages.flat();
  return pages.flat().sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

/** Those that are meant, the latest first. */
export function matchingDeletions(deletions: readonly Deletion[], { kind, name, cluster }: DeletionFilter): readonly Deletion[] {
  return deletions
    .filter(
      ({ object }) =>
        (kind === undefined || object.kind.toLowerCase() === kind.toLowerCase()) &&
        (name === undefined || name === object.name || name === `${object.namespace}/${object.name}`) &&
        (cluster === undefined || cluster === object.clusterName),
    )
    .toReversed();
}

const STEPS: ReadonlyMap<string, string> = new Map([
  ["Ordered", "no longer desired"],
  ["Removed", "deleted"],
  ["Left", "kept"],
]);

/** What was deleted, and why: an object for each paragraph. */
export function deletionsText(
  deletions: readonly Deletion[],
  { now, width = Number.MAX_SAFE_INTEGER }: { readonly now: number; readonly width?: number },
): string {
  return deletions
    .map(({ at, step, object, reason, inputs, snapshot }) => {
      const lines = [
        ...wrapped(
          plainText(`${object.kind} ${displayName(object)}: ${STEPS.get(step) ?? step} ${ageText(at, now) ?? "?"} ago (${at})`),
          width,
        ),
        ...indentedLines(`cause: ${reason}`, width),
        ...inputs.slice(0, MOST_INPUTS).flatMap((input) => indentedLines(`source: ${input.kind} ${displayName(input)}`, width)),
        ...(inputs.length > MOST_INPUTS ? [`  ... and ${inputs.length - MOST_INPUTS} more sources`] : []),
        ...(snapshot === undefined ? [] : [`  snapshot: ${plainText(snapshot)}`]),
      ];
      return lines.map((line) => `${line}\n`).join("");
    })
    .join("\n");
}

const MOST_INPUTS = 10;

function indentedLines(text: string, width: number): readonly string[] {
  return wrapped(plainText(text), Math.max(20, width - 4)).map((line, i) => `${i === 0 ? "  " : "    "}${line}`);
}
