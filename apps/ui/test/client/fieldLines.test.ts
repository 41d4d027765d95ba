import fc from "fast-check";
import { expect, it } from "vitest";
import { excerptOf, fieldLines } from "../../client/model/lines/fieldLines.ts";

const object = {
  kind: "TrafficPolicy",
  metadata: { name: "p", annotations: { "a.b/c[0]": "x", a: "z" } },
  spec: { policy: { trafficShift: { destinations: [{ weight: 1 }, { weight: 2, kubeService: { name: "r" } }] } }, hosts: [] },
};

function linesOf(field: string) {
  const found = fieldLines(object, field);
  if (found === undefined) return undefined;
  const text = found.lines.slice(found.from, found.to).map(({ indent, key, value }) => `${indent}${key}${value}`.trim());
  return [found.isThere, ...text];
}

it("finds the lines of a field, below the policy of a spec too, and of names with dots and brackets", () => {
  expect(linesOf("spec.policy.trafficShift.destinations[1].kubeService")).toEqual([true, "kubeService:", "name:r"]);
  expect(linesOf("trafficShift.destinations[0]")).toEqual([true, "- weight:1"]);
  expect(linesOf("metadata.annotations.a.b/c[0]")).toEqual([true, '"a.b/c[0]":x']);
  expect(linesOf("metadata.annotations.a")).toEqual([true, "a:z"]);
  expect(linesOf("hosts")).toEqual([true, "hosts:[]"]);
});

it("shows what a field would be in where it is not there, and nothing where no part of it is", () => {
  expect(linesOf("metadata.labels")).toEqual([false, "metadata:", "name:p", "annotations:", '"a.b/c[0]":x', "a:z"]);
  expect(linesOf("spec.policy.trafficShift.destinations[7]")?.[0]).toBe(false);
  for (const none of ["", "nothing.here", "[0]", "constructor", "__proto__", "toString.name"]) expect(linesOf(none)).toBeUndefined();
});

it("has the keys above a field in its excerpt, and no more of its lines than are asked for", () => {
  const found = fieldLines(object, "spec.policy.trafficShift.destinations");
  const text = (most: number) =>
    found === undefined ? [] : excerptOf(found, most).map(({ line, isOfField }) => `${isOfField ? "*" : ""}${line.key}`);
  expect(text(2)).toEqual(["spec:", "policy:", "trafficShift:", "*destinations:", "*weight:"]);
});

it("is given any text and any object", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (value, field) => {
      const found = fieldLines(value, field);
      if (found !== undefined) expect(found.to).toBeGreaterThan(found.from);
    }),
  );
  expect(fieldLines({ a: 1 }, `a${"[0]".repeat(100_000)}`)?.isThere).toBe(false);
});
