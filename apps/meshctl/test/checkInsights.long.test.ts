import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  AccessPolicy,
  Destination,
  KubernetesCluster,
  Mesh,
  Settings,
  TrafficPolicy,
  userStatusKinds,
  VirtualDestination,
  VirtualMesh,
  Workload,
} from "@isthmus/api";
import { type AnyResource, kindKeyOf, type Resource, snapshotOf } from "@isthmus/core";
import { type Insight, isAskedOf, RULES } from "@isthmus/insights";
import { EXPLAINED_CODES } from "@isthmus/insights/catalogue";
import { insightSentence } from "@isthmus/insights/report";
import { drawsEachCase, sampled } from "@isthmus/testing";
import { translate } from "@isthmus/translators";
import { describe, expect, it } from "vitest";
import { parseAllDocuments, stringify } from "yaml";
import { meshctl } from "../src/meshctl.ts";
import type { CheckFinding } from "../src/plane/checks/check.ts";
import { CHECK_CODES } from "../src/plane/checks/codes.ts";
import { CHECKED_OTHERWISE } from "../src/plane/checks/insightGroups.ts";
import { NOW } from "./fleetObjects.ts";
import { managementCluster, runIn } from "./planeRun.ts";
import { processed } from "./processed.ts";
import { recordedIo } from "./recordedIo.ts";

const FOLDER = fileURLToPath(new URL("../../../packages/translators/testdata", import.meta.url));
const READ = [AccessPolicy, Destination, KubernetesCluster, Mesh, Settings, TrafficPolicy, VirtualDestination, VirtualMesh, Workload];
const READ_KEYS = new Set(READ.map((kind) => kindKeyOf(kind)));
const ASKED: ReadonlySet<string> = new Set(RULES.filter(isAskedOf(READ)).map(({ code }) => code));

/** The objects of the management cluster that `check` reads: what was given and discovered, with statuses. */
function managementObjects(text: string): readonly AnyResource[] {
  const given = parseAllDocuments(text).flatMap((document) => (document.toJS() as Resource | null) ?? []);
  // Golden pairs with options of the translation.
  if (given.some(({ apiVersion }) => apiVersion === undefined)) return [];
  const { attached } = translate(snapshotOf(given), { namespace: "gloo-mesh", stage: "all" });
  const objects = [...attached.collections().values()]
    .flatMap((collection) => [...collection] as readonly Resource[])
    .filter((object) => READ_KEYS.has(kindKeyOf(object)) && (object.metadata.clusterName ?? "") === "")
    .map((object) => ({ ...object, metadata: { namespace: "gloo-mesh", ...object.metadata, generation: 1 } }) as AnyResource);
  return processed(objects, userStatusKinds());
}

async function foundByCheck(objects: readonly AnyResource[], ...args: readonly string[]): Promise<readonly CheckFinding[]> {
  const { out } = await runIn(managementCluster(objects), ["check", "-o", "json", ...args]);
  const { checks } = JSON.parse(out) as { readonly checks: readonly { readonly findings: readonly CheckFinding[] }[] };
  return checks.flatMap(({ findings }) => findings);
}

async function foundByInsights(objects: readonly AnyResource[]): Promise<readonly Insight[]> {
  const io = recordedIo(objects.map((object) => `---\n${stringify(object)}`).join(""));
  await meshctl(["insights", "-f", "-", "-o", "json"], io, { now: () => NOW } as never);
  return (JSON.parse(io.written.out) as { readonly insights: readonly Insight[] }).insights;
}

const POLICIES: ReadonlySet<string> = new Set([AccessPolicy, TrafficPolicy, VirtualDestination, VirtualMesh].map(({ kind }) => kind));

interface StatusTexts {
  readonly errors?: readonly string[];
  readonly warnings?: readonly string[];
}

/** The errors and warnings of a status, on targets too. */
function textsOf({ kind, metadata, status }: AnyResource): readonly { readonly about: string; readonly text: string }[] {
  const {
    destinations = {},
    meshes = {},
    ...own
  } = (status ?? {}) as StatusTexts & {
    readonly destinations?: Readonly<Record<string, StatusTexts>>;
    readonly meshes?: Readonly<Record<string, StatusTexts>>;
  };
  const about = `${kind} ${metadata.namespace}/${metadata.name}`;
  return [own, ...Object.values(destinations), ...Object.values(meshes)]
    .flatMap(({ errors = [], warnings = [] }) => [...errors, ...warnings])
    .map((text) => ({ about, text }));
}

const lineOf = ({ code, severity, message }: Pick<CheckFinding, "code" | "severity" | "message">) => `${severity} ${code} ${message}`;

describe("meshctl check and meshctl insights", () => {
  const goldens = sampled(readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".in.yaml")));

  it("say the same of the same objects", async () => {
    const wrong: unknown[] = [];
    const codes = new Set<string>();
    for (const name of goldens) {
      const objects = managementObjects(readFileSync(`${FOLDER}/${name}`, "utf8"));
      if (objects.length === 0) continue;
      const insights = await foundByInsights(objects);
      const said = new Set(insights.map((insight) => lineOf({ ...insight, message: insightSentence(insight) })));
      const checked = (await foundByCheck(objects)).filter(({ code }) => !(code in CHECK_CODES) && !CHECKED_OTHERWISE.has(code));
      const lines = new Set(checked.map(lineOf));
      const missing = insights
        .filter(({ code }) => ASKED.has(code) && !CHECKED_OTHERWISE.has(code))
        .map((insight) => lineOf({ ...insight, message: insightSentence(insight) }))
        .filter((line) => !lines.has(line));
      const more = [...lines].filter((line) => !said.has(line));
      if (missing.length + more.length > 0) wrong.push({ name, missing, more });
      for (const { code } of checked) codes.add(code);
    }
    expect(wrong).toEqual([]);
    // Not of a few codes alone.
    if (drawsEachCase()) expect(codes.size).toBeGreaterThan(15);
  });

  it.each(["check", "check --only configuration"])("say all that statuses say (%s)", async (line) => {
    const args = line.split(" ").slice(1);
    const missing: string[] = [];
    let count = 0;
    for (const name of goldens) {
      const objects = managementObjects(readFileSync(`${FOLDER}/${name}`, "utf8"));
      const texts = objects.flatMap((object) => (POLICIES.has(object.kind) ? textsOf(object) : []));
      if (texts.length === 0) continue;
      count += texts.length;
      const messages = (await foundByCheck(objects, ...args)).map(({ message }) => message);
      for (const { about, text } of texts) {
        // An insight has the targets and what was perhaps meant behind its sentence.
        if (!messages.some((message) => message.startsWith(about) && message.includes(text))) missing.push(`${name}: ${about}: ${text}`);
      }
    }
    expect(missing).toEqual([]);
    expect(count).toBeGreaterThan(drawsEachCase() ? 100 : 0);
  });

  it("have no code with two meanings", () => {
    const explained = new Set<string>(EXPLAINED_CODES.map(({ code }) => code));
    expect(Object.keys(CHECK_CODES).filter((code) => explained.has(code))).toEqual([]);
    expect([...CHECKED_OTHERWISE].filter((code) => !explained.has(code))).toEqual([]);
  });
});
