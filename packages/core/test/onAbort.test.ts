import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { abortedAfter, abortedWith } from "../src/index.ts";

describe("a controller that is aborted with its parent", () => {
  it("has the parent's reason", () => {
    const parent = new AbortController();
    const child = abortedWith(parent.signal);
    expect(child.signal.aborted).toBe(false);
    parent.abort("over");
    expect(child.signal.reason).toBe("over");
  });

  it("is aborted at once where the parent is", () => {
    expect(abortedWith(AbortSignal.abort("over before")).signal.reason).toBe("over before");
  });

  it("leaves the parent alone, and keeps its own reason", () => {
    const parent = new AbortController();
    const child = abortedWith(parent.signal);
    child.abort("done");
    expect(parent.signal.aborted).toBe(false);
    parent.abort("over");
    expect(child.signal.reason).toBe("done");
  });
});

describe("a signal that is aborted after a time", () => {
  const timedOut = { name: "TimeoutError" };

  it("is aborted then, also where all that nobody holds is collected before", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const parent = new AbortController();
    const signals = [abortedAfter(20, parent.signal), abortedAfter(20)];
    const ends = signals.map((signal) => new Promise((resolve) => signal.addEventListener("abort", resolve)));
    // A turn, in which what was made before can be collected: AbortSignal.any of AbortSignal.timeout is never aborted then on Node 20.
    await new Promise((resolve) => setTimeout(resolve, 1));
    collect();
    await Promise.all(ends);
    expect(signals.map(({ reason }) => reason)).toMatchObject([timedOut, timedOut]);
    expect(parent.signal.aborted).toBe(false);
  });

  it("has the parent's reason where that is earlier", () => {
    const parent = new AbortController();
    const signal = abortedAfter(60_000, parent.signal);
    parent.abort("over");
    expect(signal.reason).toBe("over");
    expect(abortedAfter(60_000, parent.signal).reason).toBe("over");
  });
});
