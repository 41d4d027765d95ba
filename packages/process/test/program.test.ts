import { UsageError } from "@isthmus/core";
import { CommanderError } from "commander";
import { afterEach, describe, expect, it, vi } from "vitest";
import { isOn, runProgram } from "../src/index.ts";

afterEach(() => vi.restoreAllMocks());

function told(): string[] {
  const lines: string[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation((line) => {
    lines.push(String(line).trimEnd());
    return true;
  });
  return lines;
}

class ClusterError extends Error {
  override readonly name = "ClusterError";
}

describe("a program", () => {
  it.each([
    [new UsageError("port 1 is taken"), 2, "error: port 1 is taken"],
    [new CommanderError(1, "commander.unknownOption", "error: unknown option '--x'"), 2, "error: unknown option '--x'"],
    [new ClusterError("connection refused"), 1, "error: connection refused"],
  ])("answers %s with exit code %i and one line", async (error, code, line) => {
    const lines = told();
    expect(await runProgram(() => Promise.reject(error))).toBe(code);
    expect(lines).toEqual([line]);
  });

  it("takes help for no failure", async () => {
    const lines = told();
    expect(await runProgram(() => Promise.reject(new CommanderError(0, "commander.helpDisplayed", "(outputHelp)")))).toBe(0);
    expect(lines).toEqual([]);
  });

  it("lets our own faults through with their stack", async () => {
    await expect(runProgram(() => Promise.reject(new TypeError("x is undefined")))).rejects.toThrow(TypeError);
  });

  it("is stopped by a signal, and that is no failure", async () => {
    const code = runProgram((signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))));
    process.emit("SIGTERM");
    expect(await code).toBe(0);
  });

  it("leaves nothing running behind a failure", async () => {
    told();
    let seen: AbortSignal | undefined;
    await runProgram(async (signal) => {
      seen = signal;
      throw new UsageError("no");
    });
    expect(seen?.aborted).toBe(true);
  });

  it("knows when an environment variable switches something on", () => {
    expect(["true", "True", "1"].every(isOn)).toBe(true);
    expect(["false", "0", "", undefined].some(isOn)).toBe(false);
  });
});
