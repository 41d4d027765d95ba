import { anyText } from "@isthmus/testing";
import fc from "fast-check";
import { expect, it } from "vitest";
import { readPageSearch } from "../../client/components/frame/usePageSearch.ts";
import { formatFilter, matchesFilter, parseFilter } from "../../client/model/lines/tokens.ts";

const text = fc.string({ minLength: 1, maxLength: 12, unit: "grapheme" });
const anyToken = fc.record(
  {
    key: text.map((key) => key.toLowerCase()),
    values: fc.array(text, { minLength: 1, maxLength: 3 }),
    isNegated: fc.constant(true as const),
  },
  { requiredKeys: ["key", "values"] },
);
const anyFilter = fc.record(
  {
    tokens: fc.array(anyToken, { maxLength: 4 }),
    words: fc.array(text, { maxLength: 4 }),
    negatedWords: fc.array(text, { minLength: 1, maxLength: 4 }),
  },
  { requiredKeys: ["tokens", "words"] },
);

it("reads a filter back from the address that it was written to", () => {
  fc.assert(
    fc.property(anyFilter, (filter) => {
      const written = new URLSearchParams({ q: formatFilter(filter) }).toString();
      const { q = "" } = readPageSearch(Object.fromEntries(new URLSearchParams(written)));
      expect(parseFilter(q)).toEqual(filter);
    }),
  );
});

it("reads whatever a link holds without failing, and reads it as the same again", () => {
  fc.assert(
    fc.property(anyText(60), (given) => {
      const filter = parseFilter(given);
      expect(parseFilter(formatFilter(filter))).toEqual(filter);
    }),
  );
});

it("reads tokens, lists of values, words and quotes", () => {
  expect(parseFilter('cluster:c1 ns:bookinfo,batch "two words" reviews')).toEqual({
    tokens: [
      { key: "cluster", values: ["c1"] },
      { key: "ns", values: ["bookinfo", "batch"] },
    ],
    words: ["two words", "reviews"],
  });
  expect(parseFilter('-ns:a,b !"two words" -reviews "-plain" a-b ns:-x')).toEqual({
    tokens: [
      { key: "ns", values: ["a", "b"], isNegated: true },
      { key: "ns", values: ["-x"] },
    ],
    words: ["-plain", "a-b"],
    negatedWords: ["two words", "reviews"],
  });
  // What is being typed does not filter yet.
  expect(parseFilter("- ! -cluster: reviews")).toEqual({ tokens: [], words: ["reviews"] });
  expect(parseFilter("cluster: reviews")).toEqual({ tokens: [], words: ["reviews"] });
});

it("matches rows that have one value of each token, and all words", () => {
  const row = {
    fields: new Map([
      ["ns", ["bookinfo"]],
      ["cluster", ["East-1"]],
    ]),
    text: "reviews-v1\nbookinfo",
  };
  const matches = (filter: string) => matchesFilter(parseFilter(filter), row);
  expect(matches("ns:bookinfo,batch cluster:east*")).toBe(true);
  expect(matches("cluster:east-1 Reviews")).toBe(true);
  expect(matches("ns:batch")).toBe(false);
  expect(matches("ns:book")).toBe(false);
  expect(matches("reviews ratings")).toBe(false);
  expect(matches("-ns:batch !ns:default")).toBe(true);
  expect(matches("-ns:batch,book*")).toBe(false);
  expect(matches("cluster:east-1 !cluster:east-1")).toBe(false);
  expect(matches("-ratings")).toBe(true);
  expect(matches("!Reviews")).toBe(false);
  expect(matches('-"reviews-v1"')).toBe(false);
  // A key that no column answers matches nothing, rather than everything, and so does its negation.
  expect(matches("-nosuch:bookinfo")).toBe(false);
  expect(matches("!__proto__:bookinfo")).toBe(false);
  expect(matches("nosuch:bookinfo")).toBe(false);
  expect(matches("__proto__:bookinfo")).toBe(false);
});
