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
import { languageRules } from "./language.ts";
import { readSourceTree } from "./sourceTree.ts";

interface Check {
  readonly name: string;
  run(): CheckResult | Promise<CheckResult>;
}

// npm runs scripts in the project's root.
const root = process.cwd();

const checks: readonly Check[] = [
  { name: "types", run: checkTypes },
  {
    name: "lint",
    run: () => commandResult(["node_modules/.bin/biome", "check", "--colors=off", "--error-on-warnings", "."], "lint and format"),
  },
  { name: "imports", run: () => checkImports(readSourceTree(root)) },
  { name: "meshes", run: () => checkMeshTypes(readSourceTree(root)) },
  { name: "sizes", run: () => checkSizes(readSourceTree(root)) },
  { name: "docstrings", run: () => checkDocstrings(readSourceTree(root)) },
  { name: "dead code", run: () => commandResult(["node_modules/.bin/knip", "--no-progress", "--no-config-hints"], "knip") },
  { name: "CRDs", run: () => commandResult([process.execPath, "tools/run.mjs", "tools/generateCrds.ts", "--check"], "deploy/crds") },
  {
    name: "charts",
    run: () => commandResult([process.execPath, "tools/run.mjs", "tools/generateCharts.ts", "--check"], "deploy/helm"),
  },
  {
    name: "findings",
    run: () => commandResult([process.execPath, "tools/run.mjs", "tools/generateFindings.ts", "--check"], "docs/reference"),
  },
  {
    name: "kinds",
    run: () => commandResult([process.execPath, "tools/run.mjs", "tools/generateKinds.ts", "--check"], "docs/reference/kinds"),
  },
  {
    name: "metrics",
    run: () => commandResult([process.execPath, "tools/run.mjs", "tools/generateMetrics.ts", "--check"], "docs/reference"),
  },
  {
    name: "values",
    run: () => commandResult([process.execPath, "tools/run.mjs", "tools/generateValues.ts", "--check"], "docs/reference"),
  },
  { name: "proto", run: () => checkProto(root) },
  { name: "documents", run: () => checkDocs(root) },
  { name: "language", run: () => checkLanguage(readSourceTree(root), readDocuments(root), languageRules) },
];

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
    problems.push(...(await commandResult(command, summary)).problems);
  }
  return { summary, problems };
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
