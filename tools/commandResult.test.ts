import { describe, expect, it } from "vitest";
import { commandResult } from "./commandResult.ts";

describe("commandResult", () => {
  it("passes on exit code 0, whatever was printed", async () => {
    const result = await commandResult([process.execPath, "-e", "console.log('noise')"], "x");
    expect(result).toEqual({ summary: "x", problems: [] });
  });

  it("fails with what the program said, on both streams", async () => {
    const result = await commandResult([process.execPath, "-e", "console.log('one'); console.error('two'); process.exitCode = 1"], "x");
    expect(result.problems).toHaveLength(1);
    expect(result.problems[0]).toContain("one");
    expect(result.problems[0]).toContain("two");
  });

  it("fails when a program says nothing, or does not exist", async () => {
    expect((await commandResult([process.execPath, "-e", "process.exitCode = 3"], "x")).problems[0]).toContain("ended with 3");
    expect((await commandResult(["./no-such-program"], "x")).problems[0]).toContain("does not start");
  });
});
