import { describe, expect, it } from "vitest";
import { compact, MAX_RESOURCE_BYTES, parseCompact, ResourceExcess } from "../src/index.ts";

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
    for (let from = 0; from < texts.length; from += 10_000) {
      const part = texts.slice(from, from + 10_000);
      expect(compact(part)).toEqual(part);
    }
    expect(compact({ first: texts[0] })).toEqual({ first: "text 0" });
  });

  it("hold parts that recur once", () => {
    const pod = (name: string) => ({
      name,
      labels: { app: "cart", version: "v1" },
      owners: [{ kind: "ReplicaSet", name: "cart-7d9c" }],
      status: { loadBalancer: {} },
    });
    const [, , third, fourth] = ["a", "b", "c", "d"].map((name) => compact(pod(name)));
    expect(third).toEqual(pod("c"));
    expect(third?.labels).toBe(fourth?.labels);
    expect(third?.owners).toBe(fourth?.owners);
    expect(third?.status).toBe(fourth?.status);
  });

  it("keep the order of their fields", () => {
    const [one, other] = ['{"ports":{"http-admin":1,"http-proxy":1}}', '{"ports":{"http-proxy":1,"http-admin":1}}'];
    for (let times = 0; times < 3; times++) {
      for (const text of [one, other]) {
        expect(JSON.stringify(parseCompact(text))).toBe(text);
      }
    }
  });

  it("do not take one part for another", () => {
    const parts = [
      { a: "b", c: "d" },
      { 'a:1"b,1"c': "d" },
      { a: 'b,1"c:1"d' },
      { a: ["b", "c"] },
      { a: ["b,c"] },
      { a: "1" },
      { a: 1 },
      { a: "null" },
      { a: null },
      { a: [] },
      { a: {} },
      { a: "" },
      { a: true },
      { a: { 0: "b" } },
      { a: ["b"] },
    ];
    for (let times = 0; times < 3; times++) for (const part of parts) expect(compact({ part })).toEqual({ part });
  });

  it("refuse what is not JSON", () => {
    expect(() => parseCompact("{")).toThrow(SyntaxError);
  });

  it("refuse what is too much for a resource", () => {
    expect(() => parseCompact(`${"[".repeat(50_000)}${"]".repeat(50_000)}`)).toThrow(ResourceExcess);
    expect(() => parseCompact(JSON.stringify({ text: "x".repeat(MAX_RESOURCE_BYTES) }))).toThrow(ResourceExcess);
  });
});
