import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AnyResource } from "@isthmus/core";
import { readDocuments } from "@isthmus/testing/documents";
import { compareObjects, type Difference } from "./compare.ts";
import type { DeliberateDifference } from "./deliberate.ts";
import { type Stage, translateInput } from "./stages.ts";

/** One folder with `input.yaml` and `expected.yaml`. */
export interface ConformanceCase {
  readonly name: string;
  readonly stage: Stage;
  readonly input: readonly AnyResource[];
  readonly expected: readonly AnyResource[];
}

/** How a case came out. */
export interface ConformanceResult {
  readonly name: string;
  readonly stage: Stage;
  /** Differences that nothing justifies. */
  readonly failures: readonly Difference[];
  /** Entries of the list of deliberate differences that this case needs. */
  readonly deliberate: readonly DeliberateDifference[];
}

/** The cases of a folder, by name. `INDEX.tsv`, if there, says which stage each is about; else its objects do. */
export function readCases(folder: string): readonly ConformanceCase[] {
  const stages = readStages(join(folder, "INDEX.tsv"));
  return readdirSync(folder)
    .sort()
    .filter((name) => existsSync(join(folder, name, "input.yaml")))
    .map((name) => {
      const input = readResources(join(folder, name, "input.yaml"));
      return { name, stage: stages.get(name) ?? stageOf(input), input, expected: readResources(join(folder, name, "expected.yaml")) };
    });
}

function readResources(file: string): readonly AnyResource[] {
  return readDocuments(readFileSync(file, "utf8")).map((document) => {
    const resource = document as AnyResource;
    return resource.kind === "Options" ? resource : { ...resource, metadata: resource.metadata ?? { name: "" } };
  });
}

function readStages(file: string): ReadonlyMap<string, Stage> {
  if (!existsSync(file)) return new Map();
  const rows = readFileSync(file, "utf8")
    .split("\n")
    .map((line) => line.split("\t"));
  return new Map(rows.flatMap(([name = "", stage]) => (stage === "discovery" || stage === "networking" ? [[name, stage] as const] : [])));
}

/** Networking starts from discovered objects; what has none is about discovery. */
function stageOf(input: readonly AnyResource[]): Stage {
  return input.some(({ kind }) => kind === "Mesh" || kind === "Destination") ? "networking" : "discovery";
}

/** Runs one case. */
export function runCase({ name, stage, input, expected }: ConformanceCase, list: readonly DeliberateDifference[]): ConformanceResult {
  const differences = compareObjects(expected, translateInput(input, stage));
  const entries = list.filter(({ cases }) => cases.test(name));
  const justification = ({ path }: Difference) => entries.find(({ paths }) => paths.test(path));
  return {
    name,
    stage,
    failures: differences.filter((difference) => justification(difference) === undefined),
    deliberate: [...new Set(differences.flatMap((difference) => justification(difference) ?? []))],
  };
}
