import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AnyResource } from "@isthmus/core";
import { readDocuments } from "@isthmus/testing";
import { readCases } from "../../conformance/cases.ts";
import { translateInput } from "../../conformance/stages.ts";

/** The Istio objects that something of ours generates. */
export interface Generated {
  /** What generates them: a golden file, or a case. */
  readonly source: string;
  readonly objects: readonly AnyResource[];
}

/** What all golden files below a folder expect. */
export function ofGoldens(folder: string): readonly Generated[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".out.yaml"))
    .sort()
    .map((file) => ({ source: file, objects: istioObjects(readDocuments(readFileSync(join(folder, file), "utf8"))) }));
}

/** What we make of the inputs of all conformance cases in a folder. */
export function ofCases(folder: string): readonly Generated[] {
  return readCases(folder).map(({ name, stage, input }) => ({ source: name, objects: istioObjects(translateInput(input, stage)) }));
}

function istioObjects(documents: readonly unknown[]): readonly AnyResource[] {
  return documents.flatMap((document) => {
    const object = document as AnyResource;
    return object.apiVersion?.includes(".istio.io/") === true && "spec" in object ? [object] : [];
  });
}
