import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { meshctl } from "../src/meshctl.ts";
import { recordedIo } from "./recordedIo.ts";

const NOW = { now: () => Date.parse("2026-02-01T00:30:00Z") };

function pathOf(code: string): string {
  return fileURLToPath(new URL(`../../../packages/insights/testdata/${code}/finds.in.yaml`, import.meta.url));
}

async function run(text: string, ...args: readonly string[]) {
  const io = recordedIo(text);
  const code = await meshctl(["insights", ...args], io, NOW);
  return { code, out: io.written.out, err: io.written.err };
}

test("an insight is reported with its place, what was meant, and a remedy that can be pasted", async () => {
  const path = pathOf("CFG0001");
  const { code, out, err } = await run("", "-f", path);
  expect(code).toBe(1);
  const line =
    readFileSync(path, "utf8")
      .split("\n")
      .findIndex((text) => text.includes("subset: v2")) + 1;
  expect(out).toContain(
    `error: ${path}:${line}: VirtualService bookinfo/reviews in cluster-1: spec.http[0].route[0].destination.subset: no DestinationRule`,
  );
  expect(out).toContain("(did you mean v1?) [CFG0001]");
  expect(out).toContain("    kubectl --context cluster-1 -n bookinfo edit virtualservice reviews\n");
  expect(err).toContain("3 objects read; 1 error, 0 warnings, 0 info\n");
});

test("SARIF has rule, level and place; JSON has all members", async () => {
  const path = pathOf("BP0001");
  const sarif = JSON.parse((await run("", "-f", path, "-o", "sarif")).out);
  expect(sarif.runs[0].tool.driver.rules).toEqual([
    { id: "BP0001", shortDescription: { text: "A VirtualService without exportTo is in force in every namespace of its cluster." } },
  ]);
  expect(sarif.runs[0].results[0]).toMatchObject({ ruleId: "BP0001", level: "warning" });
  expect(sarif.runs[0].results[0].locations[0].physicalLocation.artifactLocation.uri).toBe(path);
  const { insights } = JSON.parse((await run("", "-f", path, "-o", "json")).out);
  expect(insights[0]).toMatchObject({
    code: "BP0001",
    category: "BP",
    cluster: "cluster-1",
    remedy: { patch: '{"spec":{"exportTo":["."]}}' },
    file: path,
  });
});

test("GitHub annotates the line", async () => {
  const { out } = await run("", "-f", pathOf("BP0001"), "-o", "github");
  expect(out).toMatch(/^::warning file=[^,]+,line=\d+,title=BP0001::VirtualService bookinfo\/reviews/);
});

test("--fail-on decides about the exit code", async () => {
  const path = pathOf("BP0001");
  expect((await run("", "-f", path)).code).toBe(0);
  expect((await run("", "-f", path, "--fail-on", "warning")).code).toBe(1);
});

test("what is suppressed is counted, in JSON with its reason", async () => {
  const text = readFileSync(pathOf("BP0001"), "utf8").replace(
    "metadata: {name: reviews,",
    'metadata: {annotations: {isthmus.mesh/suppress-insights: "BP0001: shared"}, name: reviews,',
  );
  const { code, out, err } = await run(text, "-f", "-", "-o", "json", "--fail-on", "info");
  expect(JSON.parse(out)).toMatchObject({ insights: [], suppressed: [{ insight: { code: "BP0001" }, reason: "shared" }] });
  expect(err).toContain("1 suppressed");
  expect(code).toBe(0);
});

test("what cannot be used makes the result incomplete", async () => {
  const text = "apiVersion: networking.mesh.gloo.solo.io/v1\nkind: TrafficPolicy\nmetadata: {name: x, namespace: y}\nspec: {policy: 5}\n";
  const { code, err } = await run(text, "-f", "-");
  expect(err).toContain("1 object cannot be used, so insights may be missing");
  expect(code).toBe(3);
});

test("names of objects cannot break out of a command", async () => {
  const text = readFileSync(pathOf("BP0001"), "utf8").replaceAll("cluster-1", '"c1; touch x\'"');
  const { out } = await run(text, "-f", "-");
  expect(out).toContain("kubectl --context 'c1; touch x'\\'''");
});

test("a page that was saved of a server is read as files are, with clusters that are offline", async () => {
  const path = pathOf("REL1001");
  expect((await run("", "--snapshot", path)).out).toContain("[REL1001]");
  expect((await run("", "--snapshot", path, "-f", path)).err).toContain("--file and --snapshot are mutually exclusive");
  expect((await run("", "-f", path, "--history")).err).toContain("--history is of a running server");
});

test("--suppressed prints what is suppressed, by whom and why", async () => {
  const settings =
    "apiVersion: settings.mesh.gloo.solo.io/v1\nkind: Settings\nmetadata: {name: settings, namespace: gloo-mesh}\n" +
    "spec: {insights: {suppressions: [{code: BP*, reason: shared by all, until: '2026-03-01'}]}}\n";
  const { out, err } = await run(`${readFileSync(pathOf("BP0001"), "utf8")}---\n${settings}`, "-f", "-", "--suppressed");
  expect(out).toContain("suppressed: standard input:");
  expect(out).toContain("[BP0001]\n  by Settings until 2026-03-01: shared by all\n");
  expect(err).toContain("0 errors, 0 warnings, 0 info; 1 suppressed");
});

// Escape sequences of a terminal, a C1 control, and marks that turn the direction of what follows.
const HOSTILE = "\u001b]0;owned\u0007\u001b[2J\u009b31m\u202eevil\u2066\u200b";
function actedOn(text: string): readonly number[] {
  const codes = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  return codes.filter((code) => (code < 32 && code !== 9 && code !== 10) || (code >= 0x7f && code < 0xa0) || HIDDEN.includes(code));
}
const HIDDEN = [0x200b, 0x202e, 0x2066];

function hostile(): string {
  const text = JSON.stringify(`other${HOSTILE}`);
  return (
    readFileSync(pathOf("CFG0001"), "utf8").replace("subset: v2", `subset: ${text}`) +
    `---\napiVersion: networking.mesh.gloo.solo.io/v1\nkind: TrafficPolicy\nmetadata: {name: p, namespace: bookinfo}\nspec: {${text}: {}}\n`
  );
}

test.each(["text", "json", "sarif", "junit", "github", "markdown"])("nothing that a terminal acts on is printed as %s", async (output) => {
  const { out, err } = await run(hostile(), "-f", "-", "-o", output);
  expect(out).toContain("evil");
  expect(actedOn(out)).toEqual([]);
  expect(actedOn(err)).toEqual([]);
  const io = recordedIo(hostile());
  await meshctl(["validate", "-f", "-", "-o", output], io);
  expect(io.written.out + io.written.err).toContain("evil");
  expect(actedOn(io.written.out + io.written.err)).toEqual([]);
});
