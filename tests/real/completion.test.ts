import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findProgram } from "./harness/findProgram.ts";
import { runMeshctl } from "./harness/meshctl.ts";

/** What compsys does with a match, and with a line for which there is none; the function is called as a key would call it. */
const ZSH = `
autoload -U compinit && compinit -u -D
source "$1"
compadd() { while [[ $# -gt 0 && "$1" != - ]]; do shift; done; shift; print -rl -- \${(M)@:#\${words[CURRENT]}*} }
_default() { print files }
words=("\${@[2,-1]}") CURRENT=$(($# - 1)) PREFIX=\${words[CURRENT]} IPREFIX= QIPREFIX=
eval $_comps[meshctl]`;
const FISH = `source $argv[1]; set -l words $argv[2..-1]; complete -C "$words"`;
const SHELLS = { zsh: [ZSH, "-fc"], fish: [FISH, "-c"] } as const;

/** Names as a cluster may have them, and what nobody may get a shell to do. */
const PRINTED = [
  "east",
  "$(touch run)",
  "`touch run`",
  "(touch run)",
  "east;touch run",
  "-rf",
  "*",
  "a b",
  "$PATH",
  "east\u001b[2J",
  "west",
];

// A shell may be missing on a developer's machine: never where all suites must run.
for (const [shell, [code, option]] of Object.entries(SHELLS)) {
  const program = findProgram(shell);
  describe.skipIf(program === undefined && process.env["CI"] !== "true")(`meshctl completion ${shell}, read by ${shell}`, () => {
    let folder = "";
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), "isthmus-completion-"));
      const { code, out } = await runMeshctl(["completion", shell]);
      expect(code).toBe(0);
      writeFileSync(join(folder, "script"), out);
      // What the script calls for names: it writes down how.
      const fake = `#!/bin/sh\nprintf '%s|' "$@" >asked\ncat <<'END'\n${PRINTED.join("\n")}\nEND\n`;
      writeFileSync(join(folder, "meshctl"), fake, { mode: 0o755 });
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    /** What is offered for the last word. */
    async function offered(...words: readonly string[]): Promise<readonly string[]> {
      const line = shell === "fish" ? [["meshctl", ...words].join(" ")] : ["meshctl", ...words];
      const args = [option, code, ...(shell === "zsh" ? ["zsh"] : []), "script", ...line];
      const env = { PATH: `${folder}:${process.env["PATH"]}`, HOME: folder };
      const { stdout, stderr } = await promisify(execFile)(program ?? shell, args, { cwd: folder, env });
      expect(stderr).toBe("");
      return stdout.split("\n").filter((word) => word !== "");
    }

    it.each([
      [["cl"], ["cluster"]],
      [["get", "de"], ["destinations"]],
      [["cluster", "di"], ["diagnose"]],
      [["get", "meshes", "-o", "y"], ["yaml"]],
      [["get", "mesh", "--output", "y"], ["yaml"]],
      [
        ["get", "mesh", "--out"],
        ["--output", "--output-watch-events"],
      ],
      [["get", "destinations", "name", "--cl"], ["--cluster"]],
      [["insights", "list-rules", "-o", "m"], ["markdown"]],
      [["insights", "explain", "UPG"], ["UPG1001"]],
      [["nonsense", "che"], ["check"]],
    ])("offers after %j: %j", async (words, expected) => {
      expect(await offered(...words)).toEqual(expected);
    });

    it("offers names where they belong, asked for with the words of the line, and runs none of them", async () => {
      const names = (words: readonly string[]) => words.filter((word) => !word.startsWith("-"));
      expect(names(await offered("cluster", "describe", ""))).toEqual(["east", "west"]);
      expect(readFileSync(join(folder, "asked"), "utf8")).toBe("__names|clusters|cluster|describe|");
      expect(names(await offered("get", "destinations", "--cluster", "we"))).toEqual(["west"]);
      expect(readFileSync(join(folder, "asked"), "utf8")).toBe("__names|clusters|get|destinations|--cluster|");
      expect(names(await offered("describe", "mesh", "e"))).toEqual(["east"]);
      expect(existsSync(join(folder, "run"))).toBe(false);
    });
  });
}
