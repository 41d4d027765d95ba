import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly scripts: Readonly<Record<string, string>> };
/** All that are programs of ours. */
const programs = Object.entries(scripts).filter(
  ([name, command]) => /^node (tools|apps)\//.test(command) && !["prepare", "build"].includes(name),
);

it.each([...programs, ["the tree of an app", "node tools/productionTree.mjs"] as const])(
  "%s --help prints how it is used",
  async (_: string, command: string) => {
    const [, ...args] = command.split(" ");
    // Rejects for another exit code than 0.
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [...args, "--help"], { timeout: 60_000 });
    expect(stdout).toMatch(/^usage: /i);
    expect(stderr).toBe("");
  },
  90_000,
);
