import { describe, expect, it } from "vitest";
import { compact, parseCompact } from "../src/index.ts";

describe("compact values", () => {
  it("say the same", () => {
    const value = { text: "a", list: ["b", { deep: "c", none: null, number: 1.5, flag: false }], long: "x".repeat(1_000), "": "" };
    expect(compact(value)).toEqual(value);
    expect(compact(value)).not.toBe(value);
    expect(parseCompact(JSON.stringify(value))).toEqual(value);
  });

  it("take a member called __proto__ for data", () => {
    const value = parseCompact('{"__proto__": "a", "deep": {"__proto__": {"b": "c"}}}') as { readonly deep: object };
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(JSON.stringify(value)).toBe('{"__proto__":"a","deep":{"__proto__":{"b":"c"}}}');
  });

  it("stay right when more texts have come than are remembered", () => {
    const texts = Array.from({ length: 100_000 }, (_, i) => `text ${i % 70_000}`);
    expect(compact(texts)).toEqual(texts);
    expect(compact({ first: texts[0] })).toEqual({ first: "text 0" });
  });

  it("refuse what is not JSON", () => {
    expect(() => parseCompact("{")).toThrow(SyntaxError);
  });
});
