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
import { drawsEachCase, runs, sampled } from "@isthmus/testing";
import { translate } from "@isthmus/translators";
import fc from "fast-check";
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

/** The objects of a golden pair; none where it has options of the translation. */
function goldenObjects(name: string): readonly Resource[] {
  const given = parseAllDocuments(readFileSync(`${FOLDER}/${name}`, "utf8")).flatMap(
    (document) => (document.toJS() as Resource | null) ?? [],
  );
  return given.some(({ apiVersion }) => apiVersion === undefined) ? [] : given;
}

/** The objects of the management cluster that `check` reads: what was given and discovered, with statuses. */
function managementObjects(given: readonly Resource[]): readonly AnyResource[] {
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

/** What one of both commands says of objects, and the other one does not. */
async function differences(objects: readonly AnyResource[]) {
  const insights = await foundByInsights(objects);
  const all = new Set(insights.map((insight) => lineOf({ ...insight, message: insightSentence(insight) })));
  const checked = (await foundByCheck(objects)).filter(({ code }) => !(code in CHECK_CODES) && !CHECKED_OTHERWISE.has(code));
  const lines = new Set(checked.map(lineOf));
  const missing = insights
    .filter(({ code }) => ASKED.has(code) && !CHECKED_OTHERWISE.has(code))
    .map((insight) => lineOf({ ...insight, message: insightSentence(insight) }))
    .filter((line) => !lines.has(line));
  return { codes: checked.map(({ code }) => code), missing, more: [...lines].filter((line) => !all.has(line)) };
}

const lineOf = ({ code, severity, message }: Pick<CheckFinding, "code" | "severity" | "message">) => `${severity} ${code} ${message}`;

describe("meshctl check and meshctl insights", () => {
  const goldens = sampled(readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".in.yaml")));

  it("say the same of the same objects", async () => {
    const wrong: unknown[] = [];
    const codes = new Set<string>();
    for (const name of goldens) {
      const objects = managementObjects(goldenObjects(name));
      if (objects.length === 0) continue;
      const { codes: found, missing, more } = await differences(objects);
      if (missing.length + more.length > 0) wrong.push({ name, missing, more });
      for (const code of found) codes.add(code);
    }
    expect(wrong).toEqual([]);
    // Not of a few codes alone.
    if (drawsEachCase()) expect(codes.size).toBeGreaterThan(15);
  });

  it("say the same of any part of them: without what a policy names, or with what nothing names", { timeout: 3_600_000 }, async () => {
    const part = fc.constantFrom(...goldens).chain((name) => fc.subarray([...goldenObjects(name)]).map((given) => ({ name, given })));
    const property = fc.asyncProperty(part, async ({ given }) => {
      const objects = managementObjects(given);
      // Of nothing, `insights` says that there is nothing.
      if (objects.length === 0) return;
      const { missing, more } = await differences(objects);
      expect({ missing, more }).toEqual({ missing: [], more: [] });
    });
    await fc.assert(property, { numRuns: runs(300) });
  });

  it.each(["check", "check --only configuration"])("say all that statuses say (%s)", async (line) => {
    const args = line.split(" ").slice(1);
    const missing: string[] = [];
    let count = 0;
    for (const name of goldens) {
      const objects = managementObjects(goldenObjects(name));
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
