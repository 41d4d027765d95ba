import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cluster } from "./fleetObjects.ts";
import { managementCluster, runIn } from "./planeRun.ts";

const plane = managementCluster([]);

describe("meshctl completion", () => {
  let folder = "";
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "meshctl-"));
    writeFileSync(join(folder, "script"), (await runIn(plane, ["completion", "bash"])).out);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** What bash offers for the last word. */
  function offered(...words: readonly string[]): readonly string[] {
    const set = `COMP_WORDS=(meshctl ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}`;
    const text = execFileSync("bash", ["-c", `set -u; source '${folder}/script'; ${set}; _meshctl; printf '%s\\n' "\${COMPREPLY[@]-}"`]);
    return text.toString().trim().split("\n");
  }

  it.each([
    [["cl"], ["cluster"]],
    [["get", "de"], ["destinations"]],
    [["cluster", "di"], ["diagnose"]],
    [["cluster", "token", ""], expect.arrayContaining(["create", "shared"])],
    [["get", "meshes", "-o", "y"], ["yaml"]],
    [
      ["get", "mesh", "--out"],
      ["--output", "--output-watch-events"],
    ],
    [["get", "destinations", "name", "--cl"], ["--cluster"]],
    [
      ["check", "--fail-on", ""],
      ["info", "warning", "error"],
    ],
    [["completion", "z"], ["zsh"]],
    [["insights", "l"], ["list-rules"]],
    [
      ["insights", "--sup"],
      ["--suppressed", "--suppress"],
    ],
    [["insights", "list-rules", "-o", "m"], ["markdown"]],
    [["insights", "explain", "UPG"], ["UPG1001"]],
    [["nonsense", "che"], ["check"]],
  ])("offers bash after %j: %j", (words, expected) => {
    expect(offered(...words)).toEqual(expected);
  });

  it("offers names, and runs and takes nothing that is none in Kubernetes", () => {
    const printed = ["east", "$(touch run)", "`touch run`", "east;touch run", "-rf", "*", "a b", "east\u001b[2J", "west"].join("\n");
    const fake = join(folder, "fake");
    writeFileSync(fake, `#!/bin/sh\ncat <<'END'\n${printed}\nEND\n`, { mode: 0o755 });
    const set = `COMP_WORDS=('${fake}' cluster describe ''); COMP_CWORD=3`;
    const script = `set -u; source ./script; ${set}; _meshctl; printf '%s\\n' "\${COMPREPLY[@]-}"`;
    const names = execFileSync("bash", ["-c", script], { cwd: folder }).toString().split("\n");
    expect(names.filter((name) => name !== "" && !name.startsWith("--") && !/^-[a-zA-Z]$/.test(name))).toEqual(["east", "west"]);
    expect(existsSync(join(folder, "run"))).toBe(false);
  });

  it("prints names for shells, and is silent where there are none", async () => {
    const fleet = managementCluster([cluster("east"), cluster("west")]);
    expect(await runIn(fleet, ["__names", "clusters", "cluster", "describe"])).toEqual({ code: 0, out: "east\nwest\n", err: "" });
    const none = { code: 0, out: "", err: "" };
    expect(await runIn(fleet, ["__names", "nonsense", "get"])).toEqual(none);
    expect(await runIn(fleet, ["__names", "clusters", "get", "--context", "$(id)"])).toEqual(none);
    const fails = { connect: () => Promise.reject(new Error("no kubeconfig")) };
    expect(await runIn(fleet, ["__names", "clusters"], undefined, fails)).toEqual(none);
    expect(await runIn(fleet, ["__names", "clusters"], undefined, { connect: () => new Promise(() => undefined) })).toEqual(none);
  });

  it.each([
    [["cl"], ["cluster"]],
    [
      ["cluster", "token", ""],
      ["create", "shared"],
    ],
    [["get", "mesh", "-o", "y"], ["yaml"]],
    [
      ["get", "mesh", "--out"],
      ["--output", "--output-watch-events"],
    ],
    [
      ["cluster", "describe", ""],
      ["east", "west"],
    ],
    [["get", "destinations", "--cluster", "w"], ["west"]],
    [["insights", "explain", "UPG"], ["UPG1001"]],
    [["nonsense", "che"], ["check"]],
    [["-h"], ["-h"]],
    [["get", "meshes", "--context", ""], []],
    [["constructor", "--fail-on", "constructor"], []],
  ])("offers kubectl after %j: %j", async (words, expected) => {
    const fleet = managementCluster([cluster("east"), cluster("west")]);
    const { code, out, err } = await runIn(fleet, ["__complete", "--", ...words]);
    expect({ code, lines: out.split("\n"), err }).toEqual({
      code: 0,
      lines: [...expected, expected.length > 0 ? ":4" : ":0", ""],
      err: "",
    });
  });

  it("says the same to zsh, by its functions for bash", async () => {
    const [bash, zsh] = [(await runIn(plane, ["completion", "bash"])).out, (await runIn(plane, ["completion", "zsh"])).out];
    expect(zsh).toBe(`#compdef meshctl\nautoload -U +X bashcompinit && bashcompinit\n${bash}`);
  });

  it("gives fish its own form", async () => {
    const { out } = await runIn(plane, ["completion", "fish"]);
    expect(out).toContain("      case 'meshctl get meshes' 'meshctl get mesh'\n        set at 'meshctl get meshes'\n");
    for (const option of ["-o", "--output"])
      expect(out).toContain(`    case 'meshctl get meshes ${option}'\n      set offer table wide yaml json name jsonpath=\n`);
    expect(out).toContain("    case 'meshctl get destinations --cluster'\n      set kind clusters\n");
  });

  it("gives PowerShell its own form", async () => {
    const { out } = await runIn(plane, ["completion", "powershell"]);
    expect(out).toContain("Register-ArgumentCompleter -Native -CommandName 'meshctl' -ScriptBlock {");
    expect(out).toContain("$steps['meshctl get mesh'] = 'meshctl get meshes'");
    expect(out).toContain("$values['meshctl check --fail-on'] = @('info', 'warning', 'error')");
    expect(out).toMatch(/\$words\['meshctl cluster token'\] = @\('create', 'shared'/);
    const [open, close] = ["{", "}"].map((brace) => out.split(brace).length);
    expect(open).toBe(close);
  });

  it("knows no other shell", async () => {
    const run = await runIn(plane, ["completion", "tcsh"]);
    expect(run.code).toBe(2);
    expect(run.err).toContain("Allowed choices are bash, zsh, fish, powershell.");
  });
});
