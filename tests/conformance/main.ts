import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { readCases, runCase } from "./cases.ts";
import { readDeliberate } from "./deliberate.ts";
import { summary } from "./summary.ts";

const USAGE = "usage: npm run conformance -- FOLDER [CASE…]: a folder of cases, each a folder with input.yaml and expected.yaml";

/** `npm run conformance -- FOLDER [CASE…]`: compares translations with expected ones. Exit code 1 when one fails, 2 without cases. */
function main([folder, ...names]: readonly string[]): number {
  if (folder === "--help" || folder === "-h") {
    console.log(USAGE);
    return 0;
  }
  if (folder === undefined || !existsSync(folder)) {
    console.error(USAGE);
    return 2;
  }
  const cases = readCases(resolve(folder)).filter(({ name }) => names.length === 0 || names.includes(name));
  if (cases.length === 0) {
    console.error(`${folder}: no such case: each case is a folder with input.yaml and expected.yaml`);
    return 2;
  }
  // npm runs scripts in the project's root.
  const deliberate = readDeliberate("tests/conformance/differences.yaml");
  const results = cases.map((each) => runCase(each, deliberate));
  console.log(summary(results));
  return results.some(({ failures }) => failures.length > 0) ? 1 : 0;
}

process.exitCode = main(process.argv.slice(2));
