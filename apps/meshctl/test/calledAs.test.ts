import { describe, expect, it } from "vitest";
import { callOf } from "../src/commands/commandLine/calledAs.ts";
import { documentedProgram, meshctl } from "../src/meshctl.ts";
import { commandsBelow } from "./commandTree.ts";
import { recordedIo } from "./recordedIo.ts";

async function printed(...args: readonly string[]): Promise<{ readonly out: string; readonly err: string }> {
  const io = recordedIo();
  await meshctl(args, io, { call: "kubectl mesh" });
  return io.written;
}

const paths = commandsBelow(documentedProgram(recordedIo()), "meshctl").map(({ path }) => path.split(" ").slice(1));

describe("a plugin of kubectl", () => {
  it.each([
    ["/usr/local/bin/kubectl-mesh", "kubectl mesh"],
    ["/opt/app/bin/kubectl-mesh.js", "kubectl mesh"],
    ["/opt/kubectl-mesh/bin/meshctl.js", "meshctl"],
    ["/usr/local/bin/meshctl", "meshctl"],
    [undefined, "meshctl"],
  ])("%s is called as %s", (file, call) => {
    expect(callOf(file)).toBe(call);
  });

  it.each(paths)("has help for %s %s %s as it is called", async (...path) => {
    const { out } = await printed(...path, "--help");
    expect(out).toContain(`Usage: kubectl mesh ${path.join(" ")}`);
    // What remains are files, objects and programs of that name.
    expect(out.split("\n").filter((line) => /^ *(\$ )?meshctl /.test(line) || /[(|'"] ?meshctl [a-z]/.test(line))).toEqual([]);
  });

  it("has mistakes reported as it is called", async () => {
    expect((await printed("get", "nonsense")).err).toContain("See 'kubectl mesh --help' or 'kubectl mesh COMMAND --help'.");
  });

  it("completes the program's own name, as kubectl completes none of its plugins so", async () => {
    expect((await printed("completion", "bash")).out).toMatch(/^complete -o default -F _meshctl meshctl$/m);
  });
});
