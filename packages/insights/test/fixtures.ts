import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Mesh } from "@isthmus/api";
import { type Resource, type Snapshot, snapshotOf } from "@isthmus/core";
import { readInput, soundTranslation } from "@isthmus/testing";
import { lastKnownMeshOf } from "@isthmus/translators";

import { type InsightOptions, type Insights, insightsOf } from "../src/index.ts";

export const TESTDATA = fileURLToPath(new URL("../testdata/", import.meta.url));
/** The time of all fixtures. */
export const OPTIONS: InsightOptions = { namespace: "gloo-mesh", now: Date.parse("2026-02-01T00:30:00Z") };

/** The codes that have a folder. */
export function codesWithFixtures(): readonly string[] {
  return readdirSync(TESTDATA).sort();
}

/** The objects of one side of a pair, with what a server remembers of the Meshes that it has published before. */
export function fixture(code: string, side: Side): readonly Resource[] {
  const { resources, options } = readInput(textOf(code, side));
  const { published = [] } = options as { readonly published?: readonly Mesh[] };
  return [...resources, ...published.flatMap((mesh) => lastKnownMeshOf(mesh) ?? [])];
}

/** Clusters whose agents have been offline for long: no object says so. */
export function offlineIn(code: string, side: Side): ReadonlySet<string> {
  const { offline = [] } = readInput(textOf(code, side)).options as { readonly offline?: readonly string[] };
  return new Set(offline);
}

type Side = "finds" | "quiet";

function textOf(code: string, side: Side): string {
  return readFileSync(`${TESTDATA}${code}/${side}.in.yaml`, "utf8");
}

/** Whether a pair is whole. */
export function isPair(code: string): boolean {
  return ["finds.in.yaml", "finds.out.yaml", "quiet.in.yaml"].every((name) => existsSync(`${TESTDATA}${code}/${name}`));
}

/** The insights of a world from scratch. */
export function insightsIn(snapshot: Snapshot, offline: ReadonlySet<string> = NONE): Insights {
  return insightsOf(soundTranslation(snapshot, { namespace: OPTIONS.namespace, stage: "all", ages: "CREATED", offline }), OPTIONS);
}

/** The same of objects. */
export function insightsAbout(resources: readonly Resource[], offline: ReadonlySet<string> = NONE): Insights {
  return insightsIn(snapshotOf(resources), offline);
}

const NONE: ReadonlySet<string> = new Set();
