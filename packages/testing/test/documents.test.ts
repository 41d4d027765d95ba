import { expect, test } from "vitest";
import { printDocuments, readInput } from "../src/index.ts";

const SERVICE = { apiVersion: "v1", kind: "Service", metadata: { name: "a" } };

test("an input is options and resources", () => {
  const input = readInput("# options\nnamespace: x\n---\napiVersion: v1\nkind: Service\nmetadata: { name: a }\n---\n");
  expect(input).toEqual({ options: { namespace: "x" }, resources: [SERVICE] });
});

test("an object that nobody would read is refused", () => {
  expect(() => readInput("apiVersion: v1\nkind: Potato\nmetadata: { name: a }\n")).toThrow("v1 Potato is no kind in roles.ts");
  expect(() => readInput("apiVersion: v1\nkind: Service\nmetadata: { name: a }\nspec: 5\n")).toThrow(
    "Service a: spec: must be an object, is 5",
  );
});

test("documents are printed with their keys in order", () => {
  expect(printDocuments([{ b: 1, a: [{ d: "x", c: true }] }, SERVICE])).toBe(
    "a:\n  - c: true\n    d: x\nb: 1\n---\napiVersion: v1\nkind: Service\nmetadata:\n  name: a\n",
  );
});
