import { leastCpuMs } from "@isthmus/testing";
import { expect, test } from "vitest";
import { yamlDocuments, yamlValue } from "../src/yaml.ts";

const problems = (text: string) => yamlDocuments(text, { merge: true }).flatMap(({ errors }) => errors.map(({ message }) => message));

test("a key that a mapping holds twice is a mistake, at any depth, but for merge keys and where the reader says otherwise", () => {
  expect(problems("a: 1\nb:\n  - c: 1\n    c: 2\n")).toEqual([expect.stringContaining("Map keys must be unique: c is repeated")]);
  expect(problems("x: &x {a: 1}\ny: &y {b: 1}\nz:\n  <<: *x\n  <<: *y\n")).toEqual([]);
  expect(() => yamlValue("a: 1\na: 2\n", { maxBytes: 100 })).toThrow(/a is repeated at line 2/);
  expect(yamlValue("a: 1\na: 2\n", { maxBytes: 100, uniqueKeys: false })).toEqual({ a: 2 });
});

test("keys are compared in processor time that grows as they do", () => {
  const keys = (count: number) => Array.from({ length: count }, (_, i) => `k${i}: 1`).join("\n");
  const parseMs = (text: string) => leastCpuMs(() => void yamlDocuments(text, {}));
  // Four times as many: 4 where it is linear, 16 where each is compared with all.
  expect(parseMs(keys(16_000)) / parseMs(keys(4_000))).toBeLessThan(10);
});
