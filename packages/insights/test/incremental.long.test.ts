import { Settings } from "@isthmus/api";
import { type Resource, refOf, resourceKeyOf, snapshotOf } from "@isthmus/core";
import { runs, soundTranslation } from "@isthmus/testing";

import fc from "fast-check";
import { expect, test } from "vitest";
import { insightsOf, RULES, SUPPRESS_ANNOTATION } from "../src/index.ts";
import { codesWithFixtures, fixture, insightsIn, OPTIONS, offlineIn } from "./fixtures.ts";

const GIVEN: readonly Resource[] = codesWithFixtures().flatMap((code) => [...fixture(code, "finds"), ...fixture(code, "quiet")]);

function annotatedWith(text: string) {
  return (object: Resource): Resource => ({
    ...object,
    metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, [SUPPRESS_ANNOTATION]: text } },
  });
}

const SUPPRESSING = [
  [{ code: "RTE*", reason: "routes" }],
  [{ code: "BP0001", object: { namespace: "book*" }, reason: "shared", until: "2026-02-02" }, { code: "FED*" }],
].map((suppressions) =>
  Settings.parse({
    apiVersion: Settings.apiVersion,
    kind: Settings.kind,
    metadata: { name: "settings", namespace: OPTIONS.namespace },
    spec: { insights: { suppressions } },
  }),
);

// What one fixture has under a name, another one has with another content: a put is often a change.
const OBJECTS: readonly Resource[] = [
  ...GIVEN,
  ...GIVEN.filter((_, i) => i % 4 === 0).map(annotatedWith("RTE*: routes; BP0001 until 2026-02-01: shared; SEC*: access")),
  ...GIVEN.filter((_, i) => i % 8 === 0).map(annotatedWith("CFG0001")),
  ...SUPPRESSING,
];

const some = (max: number) => fc.array(fc.nat(OBJECTS.length - 1), { maxLength: max });
const wholeFixtures = fc
  .subarray([...codesWithFixtures()], { maxLength: 12 })
  .map((codes) => codes.flatMap((code) => fixture(code, "finds")));
const objectsAt = (indexes: readonly number[]) => indexes.flatMap((i) => OBJECTS[i] ?? []);
const step = fc.record({ put: some(8), remove: some(8), hours: fc.constantFrom(0, 0, 0, 1, 48) });
const translated = { namespace: OPTIONS.namespace, stage: "all", ages: "CREATED" } as const;

test("after every step of a trace, what follows from the change is what follows from scratch", () => {
  fc.assert(
    fc.property(wholeFixtures, some(20), fc.array(step, { minLength: 1, maxLength: 6 }), (whole, others, steps) => {
      let given = snapshotOf([...whole, ...objectsAt(others)]);
      let world = soundTranslation(given, translated);
      let { now } = OPTIONS;
      let insights = insightsOf(world, OPTIONS);
      for (const { put, remove, hours } of steps) {
        given = given.apply({ put: objectsAt(put), remove: objectsAt(remove).map(refOf) });
        world = soundTranslation(given, translated, world);
        now += hours * 3_600_000;
        insights = insightsOf(world, { ...OPTIONS, now }, insights);
        const scratch = insightsOf(soundTranslation(given, translated), { ...OPTIONS, now });
        expect(insights.all).toEqual(scratch.all);
        expect([...insights.byObject]).toEqual([...scratch.byObject]);
        expect(insights.counts).toEqual(scratch.counts);
      }
    }),
    { numRuns: runs(100) },
  );
});

test.each(codesWithFixtures())("%s comes and goes with what it is about", (code) => {
  const [quiet, finds] = [snapshotOf(fixture(code, "quiet")), snapshotOf(fixture(code, "finds"))];
  let world = soundTranslation(quiet, translated);
  let insights = insightsOf(world, OPTIONS);
  for (const [given, side] of [
    [finds, "finds"],
    [quiet, "quiet"],
    [finds, "finds"],
  ] as const) {
    const offline = offlineIn(code, side);
    world = soundTranslation(given, { ...translated, offline }, world);
    insights = insightsOf(world, OPTIONS, insights);
    expect(insights.all).toEqual(insightsIn(given, offline).all);
    expect(insights.all.some((insight) => insight.code === code)).toBe(side === "finds");
  }
});

test("a rule is not asked again for objects that a change does not concern", () => {
  const given = snapshotOf(fixture("CFG0001", "finds"));
  const world = soundTranslation(given, translated);
  const before = insightsOf(world, OPTIONS);
  const other = fixture("HLT0011", "finds");
  const after = insightsOf(soundTranslation(given.apply({ put: other, remove: [] }), translated, world), OPTIONS, before);
  const changed = RULES.filter((_, i) => after.cache.rows[i] !== before.cache.rows[i]).map(({ code }) => code);
  expect(changed).toEqual(["HLT0011"]);
});

test("the kinds that a rule does not declare do not change what it finds", () => {
  for (const [i, { code, reads }] of RULES.entries()) {
    const resources = fixture(code, "finds");
    const world = soundTranslation(snapshotOf(resources), translated);
    const kinds = new Set(reads.map(({ kind }) => kind));
    // Of what translation has left: statuses of Destinations and Meshes included.
    const rest = [...world.attached.collections().values()].flatMap((objects) => [...objects]).filter(({ kind }) => !kinds.has(kind));
    const without = { ...world, attached: world.attached.apply({ put: [], remove: rest.map(refOf) }) };
    expect(insightsOf(without, OPTIONS).cache.rows[i]?.size, code).toBe(insightsOf(world, OPTIONS).cache.rows[i]?.size);
  }
});

test("what the management plane writes itself is not judged", () => {
  const judged = fixture("BP0001", "finds");
  const ours = judged.map((object) => ({
    ...object,
    metadata: { ...object.metadata, labels: { "owner.networking.mesh.gloo.solo.io": "gloo-mesh" } },
  }));
  expect(insightsIn(snapshotOf(judged)).all.map(({ object }) => resourceKeyOf(object)).length).toBeGreaterThan(0);
  expect(insightsIn(snapshotOf(ours)).all.filter(({ code }) => code === "BP0001")).toEqual([]);
});
