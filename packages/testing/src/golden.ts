import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { kindOf } from "@isthmus/api";
import {
  formatRef,
  isOwnedBy,
  type Output,
  type OutputSet,
  type Report,
  type Resource,
  refOf,
  type Snapshot,
  snapshotOf,
} from "@isthmus/core";
import { describe, expect, test } from "vitest";
import { type GoldenInput, printDocuments, readInput } from "./documents.ts";
import { watchedSnapshot } from "./watchedSnapshot.ts";

/** What a translator gives, as a golden file shows it. */
export interface GoldenResult {
  readonly outputs: OutputSet | readonly OutputSet[];
  readonly reports: readonly Report[];
  /** Objects of which only the status matters. */
  readonly statuses?: Iterable<Resource>;
}

export type GoldenTranslator<Options> = (snapshot: Snapshot, options: Options) => GoldenResult;

export interface GoldenOptions {
  /** The cases that are translated twice more, to compare: a second time, and in another order. Default: all. */
  readonly repeated?: (cases: readonly string[]) => readonly string[];
}

/**
 * Runs every `<case>.in.yaml` of a folder (and of folders in it) through `translate` and compares with `<case>.out.yaml`; with
 * UPDATE_GOLDEN=1 writes it. An input is a multi-document YAML: perhaps a document of options that override `defaults`, then
 * resources. Its key `unread` lists resources (`Kind name.namespace in cluster`) that translation must leave unread; any
 * other resource that it does not read fails the case.
 */
export function describeGolden<Options extends object>(
  folder: URL,
  translate: GoldenTranslator<Options>,
  defaults: Options,
  { repeated = (cases) => cases }: GoldenOptions = {},
): void {
  const root = fileURLToPath(folder);
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).sort();
  const cases = files.filter((file) => file.endsWith(".in.yaml")).map((file) => file.slice(0, -".in.yaml".length));
  const repeatedCases = new Set(repeated(cases));
  const orphans = files.filter((file) => file.endsWith(".out.yaml") && !cases.includes(file.slice(0, -".out.yaml".length)));

  describe(basename(root), () => {
    test("there are cases, and every golden has its input", () => {
      expect(orphans).toEqual([]);
      expect(cases).not.toEqual([]);
    });
    test.each(cases)("%s", (name) => {
      const input = readInput(readFileSync(join(root, `${name}.in.yaml`), "utf8"));
      const { unread = [], ...given } = input.options as { readonly unread?: readonly string[] };
      const options = { ...defaults, ...given };

      const { snapshot, readRefs } = watchedSnapshot(snapshotOf(input.resources));
      const result = translate(snapshot, options);
      const documents = documentsOf(result);
      const ignored = input.resources.map((resource) => formatRef(refOf(resource))).filter((ref) => !readRefs().has(ref));
      expect(ignored.sort(), "resources of the input that the translator did not read").toEqual([...unread].sort());

      for (const set of setsOf(result)) for (const output of set) checkOutput(output, set);
      if (repeatedCases.has(name)) {
        expect(documentsOf(translate(snapshot, options)), "a second run gives the same").toEqual(documents);
        expect(documentsOf(translate(shuffled(input), options)), "the order of the input does not matter").toEqual(documents);
      }
      compare(join(root, `${name}.out.yaml`), printDocuments(documents));
    });
  });
}

/** The same objects from other memory, in another order. */
function shuffled({ resources }: GoldenInput): Snapshot {
  const copies = resources.map((resource) => structuredClone(resource)).reverse();
  const middle = Math.floor(copies.length / 2);
  return snapshotOf([...copies.slice(middle), ...copies.slice(0, middle)]);
}

function setsOf({ outputs }: GoldenResult): readonly OutputSet[] {
  return "owner" in outputs ? [outputs] : outputs;
}

function checkOutput({ resource, parents }: Output, { owner }: OutputSet): void {
  const name = formatRef(refOf(resource));
  expect(isOwnedBy(resource, owner), `${name} bears the label ${owner.label}`).toBe(true);
  expect(parents.length, `${name} has parents`).toBeGreaterThan(0);
  const kind = kindOf(resource.apiVersion, resource.kind);
  expect(kind, `${name} is of a kind in roles.ts`).toBeDefined();
  expect(() => (kind?.writtenForm ?? kind)?.parse(resource), `${name} fits its schema`).not.toThrow();
}

/** What is printed, in order. */
function documentsOf(result: GoldenResult): readonly object[] {
  const outputs = setsOf(result).flatMap((set) => [...set].map(({ resource }) => resource));
  const reports = result.reports.map(({ subject, target, state, code, message }) => ({
    subject: formatRef(subject),
    ...(target === undefined ? {} : { target: formatRef(target) }),
    state,
    code,
    message,
  }));
  return [
    ...outputs.sort(inOrder),
    ...(reports.length === 0 ? [] : [{ reports }]),
    ...[...(result.statuses ?? [])].sort(inOrder).map(statusOnly),
  ];
}

/** By apiVersion, kind, cluster, namespace and name, as the offline command prints. */
function inOrder(a: Resource, b: Resource): number {
  const [left, right] = [orderKey(a), orderKey(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function orderKey({ apiVersion, kind, metadata: { clusterName = "", namespace = "", name } }: Resource): string {
  return [apiVersion, kind, clusterName, namespace, name].join("\u0000");
}

function statusOnly(resource: Resource & { readonly status?: unknown }): object {
  const { apiVersion, kind, metadata, status } = resource;
  const { name, namespace, clusterName } = metadata;
  const place = { ...(namespace === undefined ? {} : { namespace }), ...(clusterName === undefined ? {} : { clusterName }) };
  return { apiVersion, kind, metadata: { name, ...place }, status };
}

function compare(file: string, printed: string): void {
  if (process.env["UPDATE_GOLDEN"] === "1") {
    writeFileSync(file, printed);
    return;
  }
  expect(existsSync(file), `${file} is there; UPDATE_GOLDEN=1 writes it`).toBe(true);
  expect(printed).toBe(readFileSync(file, "utf8"));
}
