import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { RULES } from "@isthmus/insights";
import { expect, test } from "vitest";
import { meshctl } from "../src/meshctl.ts";
import { expectGolden } from "./goldenText.ts";
import { expectOutput } from "./outputs/expectOutput.ts";
import { recordedIo } from "./recordedIo.ts";
import { sarifProblems } from "./sarifSchema.ts";

const NOW = { now: () => Date.parse("2026-02-01T00:30:00Z") };

const REPOSITORY = fileURLToPath(new URL("../../../", import.meta.url));

function pathOf(code: string): string {
  return fileURLToPath(new URL(`../../../packages/insights/testdata/${code}/finds.in.yaml`, import.meta.url));
}

async function run(text: string, ...args: readonly string[]) {
  const io = recordedIo(text);
  const code = await meshctl(["insights", ...args], io, NOW);
  expectOutput(["insights", ...args], io.written.out);
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
  expect(out).toContain("(did you mean v22?) [CFG0001]");
  expect(out).toContain("    kubectl --context cluster-1 -n bookinfo edit virtualservice reviews\n");
  expect(err).toContain("3 objects read; 1 error, 0 warnings, 0 info\n");
});

test("SARIF has rule, level and place; JSON has all members", async () => {
  const path = pathOf("BP0001");
  const sarif = JSON.parse((await run("", "-f", path, "-o", "sarif")).out);
  expect(sarif.runs[0].tool.driver.rules).toEqual([
    {
      id: "BP0001",
      shortDescription: { text: "A VirtualService without exportTo is in force in every namespace of its cluster." },
      fullDescription: { text: expect.stringMatching(/^A VirtualService without exportTo .* Callers in every namespace /) },
      help: { text: expect.stringMatching(/^Remedy: set exportTo /) },
    },
  ]);
  expect(sarifProblems(sarif)).toEqual([]);
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

/** Two insights that are suppressed, by an annotation and by the Settings, and one that is not. */
function partlySuppressed(reason = "shared & known"): string {
  const settings =
    "apiVersion: settings.mesh.gloo.solo.io/v1\nkind: Settings\nmetadata: {name: settings, namespace: gloo-mesh}\n" +
    `spec: {insights: {suppressions: [{code: BP0002, reason: ${JSON.stringify(reason)}, until: '2026-03-01'}]}}\n`;
  const annotated = readFileSync(pathOf("BP0001"), "utf8").replace(
    "metadata: {name: reviews,",
    'metadata: {annotations: {isthmus.mesh/suppress-insights: "BP0001: all teams call it"}, name: reviews,',
  );
  const gateway = readFileSync(pathOf("BP0002"), "utf8");
  return [annotated, gateway, settings, readFileSync(pathOf("CFG1021"), "utf8").replace("name: settings", "name: other")].join("---\n");
}

test("SARIF has what is suppressed with its justification if it is asked for, else its number", async () => {
  const [run1] = JSON.parse((await run(partlySuppressed(), "-f", "-", "-o", "sarif", "--suppressed")).out).runs;
  expect(sarifProblems({ version: "2.1.0", runs: [run1] })).toEqual([]);
  const suppressed = run1.results.filter(({ suppressions }: { suppressions: readonly unknown[] }) => suppressions.length > 0);
  const byCode = suppressed.toSorted((a: { ruleId: string }, b: { ruleId: string }) => (a.ruleId < b.ruleId ? -1 : 1));
  expect(byCode).toMatchObject([
    { ruleId: "BP0001", suppressions: [{ kind: "inSource", justification: "all teams call it", properties: { by: "annotation" } }] },
    {
      ruleId: "BP0002",
      suppressions: [{ kind: "external", justification: "shared & known", properties: { by: "Settings", until: "2026-03-01" } }],
    },
  ]);
  for (const { ruleId, ruleIndex, suppressions } of run1.results) {
    expect(run1.tool.driver.rules[ruleIndex].id).toBe(ruleId);
    // Of one run all results have the member, or none.
    expect(Array.isArray(suppressions)).toBe(true);
  }
  const [run2] = JSON.parse((await run(partlySuppressed(), "-f", "-", "-o", "sarif")).out).runs;
  expect(sarifProblems({ version: "2.1.0", runs: [run2] })).toEqual([]);
  const codesOf = ({ results }: { results: readonly { ruleId: string }[] }) => results.map(({ ruleId }) => ruleId).sort();
  expect([...codesOf(run2), "BP0001", "BP0002"].sort()).toEqual(codesOf(run1));
  expect(run2.properties).toEqual({ suppressed: 2 });
});

test("the check of SARIF finds what is not of it", () => {
  const log = (result: object) => ({ version: "2.1.0", runs: [{ tool: { driver: { name: "meshctl" } }, results: [result] }] });
  expect(sarifProblems(log({ message: { text: "m" }, suppressions: [{ kind: "inSource" }] }))).toEqual([]);
  expect(sarifProblems(log({ message: { text: "m" }, suppressions: [{ kind: "elsewhere" }] }))).not.toEqual([]);
  expect(sarifProblems(log({ message: { text: "m" }, suppressed: true }))).not.toEqual([]);
});

test("JUnit skips what is suppressed, and says why; it does not fail", async () => {
  const { code, out } = await run(partlySuppressed(), "-f", "-", "-o", "junit");
  expect(code).toBe(0);
  expect(out).toMatch(/<testsuite name="meshctl" tests="\d" failures="\d" skipped="2">/);
  expect(out).toMatch(/name="BP0001"[^>]*><skipped message="suppressed by annotation \(all teams call it\)"\/>/);
  expect(out).toMatch(/name="BP0002"[^>]*><skipped message="suppressed by Settings until 2026-03-01 \(shared &amp; known\)"\/>/);
});

test("Markdown and GitHub have the number of what is suppressed, or each of it", async () => {
  const markdown = (await run(partlySuppressed("[l](http://h)"), "-f", "-", "-o", "markdown")).out;
  expect(markdown).toContain("\n2 are suppressed: --suppressed lists them.\n");
  expect(markdown).not.toContain("BP0001");
  const all = (await run(partlySuppressed("[l](http://h)"), "-f", "-", "-o", "markdown", "--suppressed")).out;
  expect(all).toMatch(/^\| suppressed \| BP0001 \| .*\\\(suppressed by annotation \\\(all teams call it\\\)\\\) \|$/m);
  expect(all).toContain("\\[l\\]\\(http&#58;//h\\)");
  expect(all).not.toContain("--suppressed lists them");
  const github = (await run(partlySuppressed(), "-f", "-", "-o", "github")).out;
  expect(github).toContain("::notice title=meshctl::2 are suppressed: --suppressed lists them\n");
  const each = (await run(partlySuppressed(), "-f", "-", "-o", "github", "--suppressed")).out;
  expect(each).toMatch(/^::notice file=[^:]*,title=BP0001::suppressed by annotation \(all teams call it\): VirtualService /m);
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
    `---\n${partlySuppressed(`evil${HOSTILE}`)}` +
    `---\napiVersion: networking.mesh.gloo.solo.io/v1\nkind: TrafficPolicy\nmetadata: {name: p, namespace: bookinfo}\nspec: {${text}: {}}\n`
  );
}

test.each(["text", "json", "sarif", "junit", "github", "gitlab", "markdown"])(
  "nothing that a terminal acts on is printed as %s",
  async (output) => {
    const { out, err } = await run(hostile(), "-f", "-", "-o", output, "--suppressed");
    expect(out.split("evil").length).toBeGreaterThan(2);
    expect(actedOn(out)).toEqual([]);
    expect(actedOn(err)).toEqual([]);
    const io = recordedIo(hostile());
    await meshctl(["validate", "-f", "-", "-o", output], io);
    expect(io.written.out + io.written.err).toContain("evil");
    expect(actedOn(io.written.out + io.written.err)).toEqual([]);
  },
);

test.each([
  ["foo", "unknown command 'foo': there are list-rules and explain"],
  ["list-rule", "unknown command 'list-rule' (did you mean list-rules?): there are list-rules and explain"],
  ["explian", "unknown command 'explian' (did you mean explain?): there are list-rules and explain"],
  ["rte1001", "unknown command 'rte1001': there are list-rules and explain; meshctl insights explain RTE1001 explains the code"],
  [`foo${HOSTILE}`, "unknown command 'foo"],
])("a word that is no command says which there are: %s", async (word, message) => {
  const { code, out, err } = await run("", word);
  expect(code).toBe(2);
  expect(out).toBe("");
  expect(err).toContain(message);
  expect(actedOn(err)).toEqual([]);
});

test.each([80, 120])("tables of insights and of codes fit into %d columns", async (columns) => {
  for (const [name, args] of [
    ["codes", ["list-rules"]],
    ["insights", ["-f", pathOf("CFG0001"), "-o", "table"]],
    ["code", ["explain", "SEC1013"]],
  ] as const) {
    const io = { ...recordedIo(), columns };
    await meshctl(["insights", ...args], io, NOW);
    expectGolden(`insights/${name}-${columns}`, io.written.out.replaceAll(REPOSITORY, ""));
  }
});

test("each code is listed once, with what finds it, in every format", async () => {
  const { code, out } = await run("", "list-rules", "-o", "json");
  const { codes } = JSON.parse(out);
  const known = new Set([...RULES.map((rule) => rule.code), ...codes.map((entry: { code: string }) => entry.code)]);
  expect(code).toBe(0);
  expect(codes.map((entry: { code: string }) => entry.code)).toEqual([...known].sort());
  expect(codes.find((entry: { code: string }) => entry.code === "CRT1004")).toMatchObject({
    severity: "error",
    severities: { rule: "error", status: "warning" },
    foundBy: ["rule", "status"],
  });
  const table = (await run("", "list-rules")).out.split("\n");
  expect(table[0]).toMatch(/^CODE +SEVERITY +CATEGORY +FOUND BY +TITLE$/);
  expect(table).toHaveLength(codes.length + 2);
  expect(table.find((line) => line.startsWith("FED1008"))).toMatch(/^FED1008 +error +Federation +status +Host name is taken$/);
  expect(table.find((line) => line.startsWith("SEC1012"))).toMatch(/^SEC1012 +error, warning +Security +rule, status /);
  expect((await run("", "explain", "SEC1012")).out).toContain("Security, error, warning, found by a rule and in the status of a resource");
  const markdown = (await run("", "list-rules", "-o", "markdown")).out.split("\n");
  expect(markdown.slice(0, 2)).toEqual(["| code | severity | category | found by | title |", "| --- | --- | --- | --- | --- |"]);
  expect(markdown).toHaveLength(codes.length + 3);
});

test("a code is explained as meaning, consequence, remedy and example, however it is written", async () => {
  const { code, out } = await run("", "explain", "sec1013");
  expect(code).toBe(0);
  expect(out).toMatch(/^SEC1013: Rule lets every caller in\nSecurity, warning, found in the status of a resource; error where /);
  for (const heading of ["What it means", "Why it matters", "What to do", "Example"]) expect(out).toContain(`\n\n${heading}\n  `);
  expect(out).toContain("  AccessPolicy bookinfo/readers: spec.sourceSelector: is missing, so every caller may call");
  expect(JSON.parse((await run("", "explain", "SEC1013", "-o", "json")).out)).toMatchObject({ code: "SEC1013", category: "Security" });
  expect((await run("", "explain", "SEC1013", "-o", "markdown")).out).toContain("\n### Why it matters\n");
});

test("a code that there is not is a usage error, with the one that was meant; nothing of it acts on a terminal", async () => {
  for (const [written, meant] of [
    ["RTE10011", "RTE1001"],
    ["SEC01013", "SEC1013"],
    ["__proto__", undefined],
    [`SEC1013${HOSTILE}`, undefined],
    ["x".repeat(100_000), undefined],
  ] as const) {
    const { code, out, err } = await run("", "explain", written);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("there is no insight with code ");
    if (meant !== undefined) expect(err).toContain(`(did you mean ${meant}?)`);
    expect(actedOn(err)).toEqual([]);
    expect(err.length).toBeLessThan(300);
  }
});

test("a code that only meshctl check finds is explained as such", async () => {
  const { code, err } = await run("", "explain", "sec0008");
  expect(code).toBe(2);
  expect(err).toBe(
    "error: SEC0008 is no insight: meshctl check finds it. AuthorizationPolicies name callers where no PeerAuthentication requires mutual TLS.\n",
  );
});

test("options of insights before list-rules and explain are refused, as they would be passed over", async () => {
  const { code, err } = await run("", "--suppressed", "list-rules");
  expect(code).toBe(2);
  expect(err).toContain("--suppressed is of meshctl insights: put options of list-rules after it");
  expect((await run("", "--cluster", "east", "explain", "RTE1001")).code).toBe(2);
});

test("as a table each is a row, with what was meant; suppressed ones when they are asked for", async () => {
  const { out, code } = await run("", "-f", pathOf("CFG0001"), "-o", "table");
  expect(code).toBe(1);
  const [headers, row, ...others] = out.trimEnd().split("\n");
  expect(headers).toMatch(/^SEVERITY +CODE +CLUSTER +OBJECT +MESSAGE$/);
  expect(row).toMatch(
    /^error +CFG0001 +cluster-1 +VirtualService bookinfo\/reviews +spec\.http\[0\]\.route\[0\]\.destination\.subset: no DestinationRule .* \(did you mean v22\?\)$/,
  );
  expect(others).toEqual([]);
  const text = readFileSync(pathOf("BP0001"), "utf8").replace(
    "metadata: {",
    'metadata: {annotations: {isthmus.mesh/suppress-insights: "BP0001: all teams call it"}, ',
  );
  expect((await run(text, "-f", "-", "-o", "table")).out).toBe("");
  expect((await run(text, "-f", "-", "-o", "table", "--suppressed")).out).toMatch(/\nsuppressed +BP0001 /);
});

test("for people the worst comes first", async () => {
  const files = ["SEC1016", "BP0001", "CFG0001", "RTE1010", "FED1001", "FED1013"].flatMap((code) => ["-f", pathOf(code)]);
  const scale = ["error", "warning", "info"];
  for (const [output, pattern] of [
    ["text", /^(error|warning|info):/gm],
    ["table", /^(error|warning|info) /gm],
  ] as const) {
    const { out } = await run("", ...files, "-o", output);
    const found = [...out.matchAll(pattern)].map(([, severity = ""]) => scale.indexOf(severity));
    expect(new Set(found).size).toBe(3);
    expect(found).toEqual([...found].sort());
  }
});
