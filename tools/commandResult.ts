import { spawn } from "node:child_process";
import type { CheckResult } from "./checkResult.ts";

/** Runs a program in the project's root; it passes when it exits with 0, else what it printed is the problem. `environment` is added to ours. */
export function commandResult(
  command: readonly string[],
  summary: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<CheckResult> {
  const [program = "", ...args] = command;
  return new Promise((resolve) => {
    const env = { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0", ...environment };
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env });
    let output = "";
    const collect = (chunk: Buffer): void => {
      output += chunk.toString();
    };
    child.stdout.on("data", collect);
    child.stderr.on("data", collect);
    child.on("error", (error) => resolve({ summary, problems: [`${program} does not start: ${error.message}`] }));
    child.on("close", (code, signal) => {
      const said = output.trim() === "" ? `${command.join(" ")} ended with ${signal ?? code} and said nothing` : output.trim();
      resolve({ summary, problems: code === 0 ? [] : [said] });
    });
  });
}
