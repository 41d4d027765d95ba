// `npm run test:changed [-- --since COMMIT] [--real] [--list]`: the test files that a change can have broken, by the inputs that `.ci/run` goes by.
import { execFileSync, spawnSync } from "node:child_process";
import { affectedBy } from "./affected.ts";
import { readPlanner } from "./plan.ts";
import { readProjectFiles } from "./projectFiles.ts";
import { longTests, realTests, shortTests } from "./testFiles.ts";

const USAGE = `usage: npm run test:changed [-- --since COMMIT] [--real] [--list]
Runs the test files of npm test whose inputs differ from those of a commit (default: HEAD, so what is not committed yet), and names those of
npm run test:long and npm run test:real.
  --since COMMIT   compare with that commit instead
  --real           run those, too
  --list           run nothing`;

async function main(root: string, given: readonly string[]): Promise<number> {
  if (given.includes("--help") || given.includes("-h")) {
    console.log(USAGE);
    return 0;
  }
  const since = given.includes("--since") ? given[given.indexOf("--since") + 1] : "HEAD";
  const unknown = given.filter((one, i) => !["--since", "--real", "--list"].includes(one) && given[i - 1] !== "--since");
  if (unknown.length > 0 || since === undefined || since.startsWith("-")) {
    console.error(`error: ${unknown.join(" ") || "--since without a commit"}\n${USAGE}`);
    return 2;
  }
  const files = readProjectFiles(root);
  const changed = changedSince(root, since);
  const { inputsOf } = await readPlanner(root, files);
  const groups = [
    { config: "vitest.config.ts", script: "test", tests: shortTests(root), runs: true },
    { config: "vitest.long.config.ts", script: "test:long", tests: longTests(root), runs: given.includes("--real") },
    { config: "vitest.real.config.ts", script: "test:real", tests: realTests(root), runs: given.includes("--real") },
  ];
  let status = 0;
  console.log(`${changed.length} files differ from ${since}`);
  for (const { config, script, tests, runs } of groups) {
    const affected = tests.filter((file) => affectedBy(changed, inputsOf(file, config).files, (path) => !files.has(path)));
    console.log(`npm run ${script}: ${affected.length} of ${tests.length} test files can tell the difference`);
    if (affected.length === 0) continue;
    if (!runs || given.includes("--list")) for (const file of affected) console.log(`  ${file}`);
    else
      status ||=
        spawnSync("node_modules/.bin/vitest", ["run", "--config", config, ...affected], { cwd: root, stdio: "inherit" }).status ?? 1;
  }
  return status;
}

/** Paths of what was changed, made or deleted, committed or not. */
function changedSince(root: string, commit: string): readonly string[] {
  const git = (...args: readonly string[]): readonly string[] =>
    execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\0").filter(Boolean);
  const tracked = git("diff", "--name-only", "--no-renames", "-z", commit, "--");
  return [...new Set([...tracked, ...git("ls-files", "--others", "--exclude-standard", "-z")])].sort();
}

process.exitCode = await main(process.cwd(), process.argv.slice(2));
