import { describe, expect, it } from "vitest";
import { abortedWith } from "../src/index.ts";

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
