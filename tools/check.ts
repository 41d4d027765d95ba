// `npm run check [NAME…]`: everything that must hold at each commit, beside the tests. Under a minute, no network.
import { existsSync, readFileSync } from "node:fs";
import { checkDocs } from "./checkDocs.ts";
import { checkDocstrings } from "./checkDocstrings.ts";
import { checkImports } from "./checkImports.ts";
import { checkLanguage } from "./checkLanguage.ts";
import { checkMeshTypes } from "./checkMeshTypes.ts";
import { checkProto } from "./checkProto.ts";
import type { CheckResult } from "./checkResult.ts";
import { checkSizes } from "./checkSizes.ts";
import { commandResult } from "./commandResult.ts";
import { readDocuments } from "./documents.ts";
import { generatedCharts } from "./generatedCharts.ts";
import { generatedCrds } from "./generatedCrds.ts";
import { checkGenerated } from "./generatedFiles.ts";
import { generatedFindings } from "./generatedFindings.ts";
import { generatedFolders } from "./generatedFolders.ts";
import { generatedKinds } from "./generatedKinds.ts";
import { generatedMetrics } from "./generatedMetrics.ts";
import { generatedSupport } from "./generatedSupport.ts";
import { generatedValues } from "./generatedValues.ts";
import { keepSyntaxTrees } from "./importsOf.ts";
import { languageRules } from "./language.ts";
import { readSourceTree, type SourceTree } from "./sourceTree.ts";

interface Check {
  readonly name: string;
  run(): CheckResult | Promise<CheckResult>;
}

// npm runs scripts in the project's root.
const root = process.cwd();

let tree: SourceTree | undefined;
/** The sources as they were when the first check asked for them. */
function sources(): SourceTree {
  tree ??= readSourceTree(root);
  return tree;
}

const checks: readonly Check[] = [
  { name: "types", run: checkTypes },
  {
    name: "lint",
    run: () => commandResult(["node_modules/.bin/biome", "check", "--colors=off", "--error-on-warnings", "."], "lint and format"),
  },
  { name: "imports", run: () => checkImports(sources()) },
  { name: "meshes", run: () => checkMeshTypes(sources()) },
  { name: "sizes", run: () => checkSizes(sources()) },
  { name: "docstrings", run: () => checkDocstrings(sources()) },
  {
    name: "dead code",
    run: () => commandResult([process.execPath, YOUNG, "node_modules/knip/bin/knip.js", "--no-progress", "--no-config-hints"], "knip"),
  },
  { name: "CRDs", run: () => checkGenerated(generatedCrds) },
  { name: "charts", run: () => checkGenerated(generatedCharts) },
  { name: "findings", run: () => checkGenerated(generatedFindings) },
  { name: "kinds", run: () => checkGenerated(generatedKinds) },
  { name: "metrics", run: () => checkGenerated(generatedMetrics) },
  { name: "support", run: () => checkGenerated(generatedSupport) },
  { name: "values", run: () => checkGenerated(generatedValues) },
  { name: "proto", run: () => checkProto(root) },
  { name: "documents", run: checkDocuments },
  { name: "language", run: () => checkLanguage(sources(), readDocuments(root), languageRules) },
];

// A Go program that ends after seconds: to collect garbage is a third of its work. It needs 1.3 GiB, and collects only above the limit.
const WITHOUT_COLLECTION = { GOGC: "off", GOMEMLIMIT: "2GiB" };

// Of the syntax trees that knip reads, each is garbage at once: a larger young generation collects them more seldom.
const YOUNG = "--max-semi-space-size=64";

// The browser's part knows other globals than the rest.
const TYPE_PROJECTS = [".", "apps/ui/client"];

/** The fast native checker, or the one in JavaScript where this machine has no binary of it; says which. */
async function checkTypes(): Promise<CheckResult> {
  const native = existsSync(`node_modules/@typescript/typescript-${process.platform}-${process.arch}`);
  const checker = native ? "typescript-native" : "typescript";
  const { version } = JSON.parse(readFileSync(`node_modules/${checker}/package.json`, "utf8")) as { version: string };
  const summary = `TypeScript ${version}${native ? " (native)" : " (JavaScript)"}`;
  const problems: string[] = [];
  for (const project of TYPE_PROJECTS) {
    const command = [process.execPath, `node_modules/${checker}/bin/tsc`, "-p", project, "--pretty", "false"];
    // Several checkers each work out the types that they share: four, the default, take half as much processor time again as one.
    if (native) command.push("--checkers", "1");
    problems.push(...(await commandResult(command, summary, WITHOUT_COLLECTION)).problems);
  }
  return { summary, problems };
}

/** What documents name must exist, and what of them is generated must be up to date. */
async function checkDocuments(): Promise<CheckResult> {
  const { summary, problems } = checkDocs(root);
  return { summary, problems: [...problems, ...(await checkGenerated(generatedFolders)).problems] };
}

async function timed(check: Check): Promise<CheckResult & { readonly seconds: string }> {
  const start = performance.now();
  const result = await Promise.resolve()
    .then(() => check.run())
    .catch((error: unknown) => ({
      summary: "could not run",
      problems: [error instanceof Error ? (error.stack ?? error.message) : String(error)],
    }));
  return { ...result, seconds: ((performance.now() - start) / 1000).toFixed(1) };
}

async function main(names: readonly string[]): Promise<number> {
  if (names.includes("--help") || names.includes("-h")) {
    console.log(`usage: npm run check [-- NAME…]\nChecks: ${checks.map(({ name }) => name).join(", ")}`);
    return 0;
  }
  const unknown = names.filter((name) => !checks.some((check) => check.name === name));
  if (unknown.length > 0) {
    console.error(`no check is named ${unknown.join(", ")}: there are ${checks.map(({ name }) => name).join(", ")}`);
    return 2;
  }
  const start = performance.now();
  const chosen = names.length === 0 ? checks : checks.filter(({ name }) => names.includes(name));
  keepSyntaxTrees();
  const running = chosen.map((check) => ({ check, result: timed(check) }));
  const failures: string[] = [];
  for (const { check, result } of running) {
    const { problems, summary, seconds } = await result;
    const failed = problems.length > 0;
    console.log(`${failed ? "✗" : "✓"} ${check.name.padEnd(10)} ${seconds.padStart(5)} s  ${summary}${failed ? "  FAILED" : ""}`);
    if (failed) failures.push(`\n${check.name}\n${problems.map(indented).join("\n")}`);
  }
  for (const failure of failures) console.log(failure);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`\n${chosen.length - failures.length} checks passed, ${failures.length} failed, in ${seconds} s`);
  return failures.length === 0 ? 0 : 1;
}

function indented(problem: string): string {
  return problem.replace(/^(?=.)/gm, "  ");
}

process.exitCode = await main(process.argv.slice(2));
