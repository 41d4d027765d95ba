import { describe, expect, it } from "vitest";
import { withFlagsBehind } from "../src/commands/commandLine/flagsAnywhere.ts";
import { documentedProgram } from "../src/meshctl.ts";
import { managementCluster, runIn } from "./planeRun.ts";
import { recordedIo } from "./recordedIo.ts";

const PROGRAM = documentedProgram(recordedIo());

describe("flags before a command", () => {
  it.each([
    ["--context x check", "check --context x"],
    ["--context=x -n mesh cluster list --plain", "cluster list --context=x -n mesh --plain"],
    ["cluster --context x list", "cluster list --context x"],
    ["-q get meshes east/one", "get meshes -q east/one"],
    // What belongs to a command stays, as do words that look like one.
    ["get meshes --context check", "get meshes --context check"],
    ["validate -f a b -- --plain", "validate -f a b -- --plain"],
    ["--context x", "--context x"],
    ["--context", "--context"],
    ["--nonsense check", "--nonsense check"],
  ])("%s is read as %s", (words, meant) => {
    expect(withFlagsBehind(words.split(" "), PROGRAM).join(" ")).toBe(meant);
  });

  it("count as those behind it", async () => {
    const plane = managementCluster([]);
    const behind = await runIn(plane, ["get", "meshes", "--request-timeout", "5s", "-q"]);
    expect(await runIn(plane, ["--request-timeout", "5s", "-q", "get", "meshes"])).toEqual(behind);
    expect(behind.code).not.toBe(2);
  });
});
