import { basename } from "node:path";
import type { Command } from "commander";

/** How the program was called, by the file that Node was given. `kubectl-mesh` is what kubectl looks for to run `kubectl mesh`. */
export function callOf(file: string | undefined): string {
  return basename(file ?? "").startsWith("kubectl-mesh") ? "kubectl mesh" : "meshctl";
}

/** A help text with its command lines as they were called. Paths and names of files stay. */
export function asCalled(text: string, call: string, program: Command): string {
  if (call === "meshctl") return text;
  const nexts = ["-", "[", "COMMAND", ...program.commands.flatMap((command) => [command.name(), ...command.aliases()])];
  return text.split("meshctl ").reduce((done, rest) => `${done}${nexts.some((next) => rest.startsWith(next)) ? call : "meshctl"} ${rest}`);
}
