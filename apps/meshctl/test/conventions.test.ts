import { describe, expect, it } from "vitest";
import { documentedProgram } from "../src/meshctl.ts";
import { commandsBelow } from "./commandTree.ts";
import { recordedIo } from "./recordedIo.ts";

/** Commands that print something else than data. */
const NO_DATA: readonly string[] = [
  // A script for one shell.
  "meshctl completion",
  // Lines as the program wrote them: JSON of its own.
  "meshctl logs",
  // The address of a console.
  "meshctl dashboard",
  "meshctl snapshot serve",
  // A file for other commands.
  "meshctl snapshot save",
  // The exit code.
  "meshctl wait",
];

const ALL = commandsBelow(documentedProgram(recordedIo()), "meshctl").map(({ path, command }) => ({
  path,
  options: command.options.filter(({ hidden }) => !hidden).flatMap(({ short, long }) => [short, long].flatMap((name) => name ?? [])),
  help: helpOf(command),
}));

function helpOf(command: ReturnType<typeof commandsBelow>[number]["command"]): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
  return text;
}

describe("each command of meshctl", () => {
  it.each(ALL)("$path has two examples of itself", ({ path, help }) => {
    const [, examples = ""] = help.split("\nExamples:\n");
    const own = examples.split("\n").filter((line) => !line.trim().startsWith("#") && `${line} `.includes(`${path} `));
    expect(own.length, examples).toBeGreaterThanOrEqual(2);
  });

  it.each(ALL)("$path says its exit codes", ({ help }) => {
    expect(help).toMatch(/\nExit codes: 0 .*\b2 |\nExit codes: as of meshctl /s);
  });

  it.each(ALL)("$path prints data in formats that programs read, or can be tried without a change", ({ path, options }) => {
    if (NO_DATA.includes(path)) return;
    expect(options.includes("--output") || options.includes("--dry-run"), options.join(" ")).toBe(true);
    if (options.includes("--output")) expect(options).toContain("-o");
  });

  it.each(ALL)("$path can print less", ({ options }) => {
    expect(options).toEqual(expect.arrayContaining(["--plain", "-q", "--quiet"]));
  });

  it.each(ALL)("$path can say more, and say it in objects", ({ options }) => {
    expect(options).toEqual(expect.arrayContaining(["-v", "--verbose", "--log-format"]));
  });
});
