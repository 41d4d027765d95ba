import { describe, expect, it } from "vitest";
import { excessOf, excessOfText, MAX_DEPTH, MAX_RESOURCE_BYTES } from "../src/index.ts";

function nested(levels: number, form: "list" | "object"): unknown {
  return JSON.parse(form === "list" ? `${"[".repeat(levels)}${"]".repeat(levels)}` : `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`);
}

describe("the limits of a resource", () => {
  it("are a depth", () => {
    for (const form of ["list", "object"] as const) {
      expect(excessOf(nested(MAX_DEPTH, form))).toBeUndefined();
      expect(excessOf(nested(MAX_DEPTH + 1, form))).toContain("nested deeper than 64 levels");
      expect(excessOf(nested(500_000, form))).toContain("nested deeper than 64 levels");
    }
    expect(excessOf({ beside: "it", deep: { list: [nested(MAX_DEPTH, "object")] } })).toContain("nested deeper");
  });

  it("are a size, of keys and texts, wherever they stand", () => {
    const half = "x".repeat(MAX_RESOURCE_BYTES / 2);
    expect(excessOf({ a: half })).toBeUndefined();
    expect(excessOf({ a: half, b: [{ c: half }] })).toContain("larger than 1024 KiB");
    expect(excessOf({ [half]: { [half]: 1 } })).toContain("larger than 1024 KiB");
    expect(excessOf(Array.from({ length: MAX_RESOURCE_BYTES + 1 }, () => 0))).toContain("larger than 1024 KiB");
    expect(excessOf({ a: half, b: half }, Number.POSITIVE_INFINITY)).toBeUndefined();
  });

  it("are found at once where one part stands in many places", () => {
    let value: unknown = ["lol"];
    for (let level = 0; level < 40; level++) value = [value, value, value, value, value, value, value, value, value, value];
    expect(excessOf(value)).toContain("larger than 1024 KiB");
  });

  it("are none for what is no object", () => {
    for (const value of [undefined, null, 1, "text", true]) expect(excessOf(value)).toBeUndefined();
  });

  it("are bytes of UTF-8 where a text is measured", () => {
    expect(excessOfText("x".repeat(MAX_RESOURCE_BYTES))).toBeUndefined();
    expect(excessOfText("x".repeat(MAX_RESOURCE_BYTES + 1))).toContain("larger than 1024 KiB");
    expect(excessOfText("\u20ac".repeat(MAX_RESOURCE_BYTES / 3 + 1))).toContain("larger than 1024 KiB");
  });
});
