import { anyText } from "@isthmus/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { yamlText } from "../src/offline/yamlText.ts";

describe("yamlText", () => {
  it("writes blocks as people do", () => {
    const value = {
      apiVersion: "networking.istio.io/v1",
      metadata: { name: "a", labels: {}, gone: undefined },
      spec: { hosts: ["a.b.svc.cluster.local"], http: [{ timeout: "5s", route: [{ weight: 80 }, { weight: 20 }] }], exportTo: [] },
      matrix: [["x"], [], [[1]]],
    };
    expect(yamlText(value)).toBe(`apiVersion: networking.istio.io/v1
metadata:
  name: a
  labels: {}
spec:
  hosts:
    - a.b.svc.cluster.local
  http:
    - timeout: 5s
      route:
        - weight: 80
        - weight: 20
  exportTo: []
matrix:
  - - x
  - []
  - - - 1
`);
  });

  // What the two versions of YAML read differently, and what means something to either.
  const traps = fc.constantFrom(
    ..."on Off yes n NULL ~ 0o7 0777 0x1f 1e3 1_000 12:30 1:2:3 1.2.3 2024-01-01 .5 .inf -.inf .nan = << a:  :a a#b".split(" "),
    "a: b",
    "a #b",
    "- a",
    "a:",
    " a",
    "a ",
    "a, b",
    "a,",
    "\u0085\u2028\ufeff\u007f",
    "line\nbreak",
    '{"a": [1]}',
    "&a",
    "*a",
    "e0",
    "!a",
    "%a",
    "@a",
    "`a`",
    "---",
    "",
  );
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      traps,
      anyText(10),
      fc.string(),
      fc.integer(),
      fc.double({ noDefaultInfinity: true, noNaN: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(fc.oneof(traps, fc.string()), tie("value"), { maxKeys: 4 }),
    ),
  })).value;

  it.each(["1.1", "1.2"] as const)("is read as what it was by a reader of YAML %s", (version) => {
    fc.assert(
      fc.property(json, (value) => {
        expect(parse(yamlText(value), { version, merge: false })).toEqual(value);
      }),
      { numRuns: 500 },
    );
  });
});
