import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { meshctl } from "../src/meshctl.ts";
import { expectOutput } from "./outputs/expectOutput.ts";
import { recordedIo } from "./recordedIo.ts";
import { sarifProblems } from "./sarifSchema.ts";

const NOW = { now: () => Date.parse("2026-02-01T00:30:00Z") };

function fixture(code: string): string {
  return readFileSync(fileURLToPath(new URL(`../../../packages/insights/testdata/${code}/finds.in.yaml`, import.meta.url)), "utf8");
}

async function validate(text: string, ...args: readonly string[]) {
  const io = recordedIo(text);
  const code = await meshctl(["validate", "-f", "-", ...args], io, NOW);
  expectOutput(["validate", "-f", "-", ...args], io.written.out);
  return { code, out: io.written.out, err: io.written.err };
}

async function codesOf(text: string, ...args: readonly string[]): Promise<readonly string[]> {
  const { findings } = JSON.parse((await validate(text, "-o", "json", ...args)).out) as {
    readonly findings: readonly { readonly code: string }[];
  };
  return findings.map(({ code }) => code);
}

test("insights come with the findings when they are asked for, with their place and what to do", async () => {
  const text = fixture("CFG0001");
  expect(await codesOf(text)).not.toContain("CFG0001");
  expect(await codesOf(text, "--insights")).toContain("CFG0001");
  const { code, out } = await validate(text, "--insights");
  expect(code).toBe(1);
  expect(out).toMatch(/error: standard input:\d+: VirtualService bookinfo\/reviews in cluster-1: .* Remedy: .* \[CFG0001\]/);
});

test("a warning fails with --fail-on warning alone", async () => {
  const text = fixture("BP0001");
  expect((await validate(text, "--insights")).code).toBe(0);
  expect((await validate(text, "--insights", "--fail-on", "warning")).code).toBe(1);
  expect((await validate(text, "--fail-on", "warning")).code).toBe(0);
});

test.each(["RTE1002", "RTE1004", "FED1001", "RTE1019"])("what translation reports is said once: %s", async (code) => {
  const text = fixture(code);
  const [without, withInsights] = [await codesOf(text), await codesOf(text, "--insights")];
  expect(without.length).toBeGreaterThan(0);
  expect(withInsights.slice(0, without.length)).toEqual(without);
  expect(withInsights).not.toContain(code);
});

test("a caller that the check does not know is named once", async () => {
  const codes = await codesOf(fixture("SEC1016"), "--insights");
  expect(codes.filter((code) => code === "CallerUnknown" || code === "SEC1016")).toEqual(["CallerUnknown", "CallerUnknown"]);
});

test("suppressed ones are counted, and not printed", async () => {
  const text = fixture("BP0001").replace(
    "metadata: {",
    'metadata: {annotations: {isthmus.mesh/suppress-insights: "BP0001: all teams call it"}, ',
  );
  const { code, out, err } = await validate(text, "--insights", "--fail-on", "warning");
  expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining("; 1 insight suppressed\n") });
  expect(out).not.toContain("[BP0001]");
});

test("SARIF explains codes of both", async () => {
  const sarif = JSON.parse((await validate(fixture("BP0001"), "--insights", "-o", "sarif")).out);
  expect(sarifProblems(sarif)).toEqual([]);
  const ids = sarif.runs[0].tool.driver.rules.map(({ id, help }: { readonly id: string; readonly help?: object }) => [
    id,
    help !== undefined,
  ]);
  expect(ids).toContainEqual(["BP0001", true]);
});
