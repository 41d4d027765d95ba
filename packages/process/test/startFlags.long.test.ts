import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const programs = [
  ["apps/agent/bin/agent.js", ["--semi-space-growth-factor=1", "--heap-growing-percent=50"]],
  ["apps/mgmt-server/bin/mgmt-server.js", ["--heap-growing-percent=50"]],
] as const;

// A Node that can replace itself says by what, and one that can't has no such function.
const CAN = "data:text/javascript,process.execve=(file,args)=>{console.log(JSON.stringify({file,args}));process.exit(0)}";
const CANNOT = "data:text/javascript,process.execve=undefined";

function run(bin: string, flags: readonly string[], args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, join(root, bin), ...args], { encoding: "utf8" });
  return { status, stdout, stderr };
}

for (const [bin, flags] of programs) {
  test(`${bin} replaces itself by a program with the flags of V8 that it lacks, with its own options and arguments, once`, () => {
    const replaced = (given: readonly string[]) => {
      const { stdout } = run(bin, ["--import", CAN, ...given], ["--help", "two words"]);
      return stdout.startsWith("{") ? (JSON.parse(stdout) as { readonly file: string; readonly args: readonly string[] }) : undefined;
    };
    const own = ["--import", CAN, join(root, bin), "--help", "two words"];
    expect(replaced([])).toEqual({ file: process.execPath, args: [process.execPath, ...flags, ...own] });
    expect(replaced(flags)).toBeUndefined();
    // Who gives another value means it.
    const others = flags.map((flag) => flag.replace(/=.*/, "=20"));
    expect(replaced(others)).toBeUndefined();
  });

  test(`${bin} starts without them where a program cannot replace itself`, () => {
    expect(run(bin, ["--import", CANNOT], ["--help"])).toMatchObject({ status: 0, stderr: "" });
  });

  test(`this Node takes the flags of ${bin}`, () => {
    expect(spawnSync(process.execPath, [...flags, "-e", ""], { encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
  });
}
