import { emptyTable, type ResourceRef, resourceKeyOf, runToCompletion, type Table } from "@isthmus/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type DatedObject,
  historyAfter,
  type Insight,
  type InsightHistory,
  NO_HISTORY,
  type ObjectInsights,
  objectChanges,
  withLastKnown,
} from "../src/index.ts";

function ref(name: string, clusterName = "east"): ResourceRef {
  return { apiVersion: "v1", kind: "Service", name, namespace: "shop", clusterName };
}

/** What is said of an object, in fields that have these names. */
function said(object: ResourceRef, ...fields: readonly string[]): ObjectInsights {
  const all = fields.map(
    (field): Insight => ({
      code: "RTE1001",
      category: "RTE",
      severity: "error",
      object,
      cluster: object.clusterName,
      field,
      message: `${field} is wrong`,
      remedy: { text: "correct it" },
    }),
  );
  return { object, all, shown: all, suppressed: [], problems: [] };
}

type Objects = Table<ObjectInsights>;
const NOTHING: Objects = emptyTable<ObjectInsights>(({ object }) => resourceKeyOf(object));
const tableOf = (...objects: readonly ObjectInsights[]) => NOTHING.with(objects.map((one) => [resourceKeyOf(one.object), one]));

function after(
  history: InsightHistory,
  before: Objects | undefined,
  now: Objects,
  at: number,
  isKnown = (_: string) => true,
): InsightHistory {
  return runToCompletion(historyAfter(history, objectChanges(now, before), { at, isKnown }));
}

const current = ({ current: rows }: InsightHistory) =>
  [...rows].flatMap(({ object, insights }) => insights.map(({ insight, since }) => `${object.name} ${insight.field} ${since}`));
const ended = (history: InsightHistory) =>
  [...history.ended].map(({ object, field, since, until }) => `${object.name} ${field} ${since}-${until}`);

test("an insight begins once, whatever its message says later, and ends once", () => {
  const [one, two] = [tableOf(said(ref("a"), "x", "y")), tableOf({ ...said(ref("a"), "y"), problems: ["changed"] })];
  const first = after(NO_HISTORY, undefined, one, 1);
  expect(current(first)).toEqual(["a x 1", "a y 1"]);
  const second = after(first, one, two, 2);
  expect(current(second)).toEqual(["a y 1"]);
  expect(ended(second)).toEqual(["a x 1-2"]);
  const third = after(second, two, NOTHING, 3);
  expect({ current: current(third), ended: ended(third) }).toEqual({ current: [], ended: ["a x 1-2", "a y 1-3"] });
});

test("what an earlier server knew began then, and ends only where all is known", () => {
  const kept: readonly DatedObject[] = [
    ...after(NO_HISTORY, undefined, tableOf(said(ref("a"), "x"), said(ref("b", "west"), "x")), 1).current,
  ];
  const now = tableOf(said(ref("a"), "x"));
  // In either order: what is found may be there before what was known is read.
  for (const start of [after(NO_HISTORY, undefined, now, 5), NO_HISTORY]) {
    const resumed = runToCompletion(withLastKnown(start, kept, []));
    const before = start === NO_HISTORY ? undefined : now;
    const unknown = after(resumed, before, now, 6, (cluster) => cluster !== "west");
    expect({ current: current(unknown), ended: ended(unknown) }).toEqual({ current: ["a x 1", "b x 1"], ended: [] });
    const known = after(unknown, now, now, 7);
    expect({ current: current(known), ended: ended(known), lastKnown: known.lastKnown.size }).toEqual({
      current: ["a x 1"],
      ended: ["b x 1-7"],
      lastKnown: 0,
    });
  }
});

test("a cluster in which much comes and goes takes no history from others", () => {
  let history = after(NO_HISTORY, undefined, tableOf(said(ref("a", "quiet"), "x")), 0);
  history = after(history, tableOf(said(ref("a", "quiet"), "x")), NOTHING, 1);
  for (let i = 0; i < 300; i++) {
    const there = tableOf(said(ref("b", "noisy"), `x${i}`));
    history = after(after(history, NOTHING, there, 2 * i), there, NOTHING, 2 * i + 1);
  }
  const kept = [...history.ended];
  expect(kept.filter(({ object }) => object.clusterName === "quiet")).toHaveLength(1);
  const noisy = kept.filter(({ object }) => object.clusterName === "noisy");
  expect(noisy).toHaveLength(100);
  expect(noisy.at(-1)).toMatchObject({ field: "x299", until: 599 });
});

test("much that ends at once is taken up in steps", () => {
  const many = tableOf(...Array.from({ length: 1_000 }, (_, i) => said(ref(`o${i}`), "x")));
  const there = after(NO_HISTORY, undefined, many, 1);
  const steps = historyAfter(there, objectChanges(NOTHING, many), { at: 2, isKnown: () => true });
  for (let count = 1; ; count++) {
    const step = steps.next();
    if (step.done !== true) continue;
    expect([...step.value.ended]).toHaveLength(100);
    // For each object one of its change, and one of what has ended.
    expect(count).toBeGreaterThan(2_000);
    break;
  }
});

test("at every moment the current ones are those that are found, each since it came last", () => {
  const objects = fc.uniqueArray(fc.nat(5), { maxLength: 5 });
  fc.assert(
    fc.property(fc.array(objects, { minLength: 1, maxLength: 12 }), (moments) => {
      let [history, before]: [InsightHistory, Objects | undefined] = [NO_HISTORY, undefined];
      const since = new Map<number, number>();
      for (const [at, present] of moments.entries()) {
        const now = tableOf(...present.map((i) => said(ref(`o${i}`), "x")));
        history = after(history, before, now, at);
        before = now;
        for (const i of [...since.keys()]) if (!present.includes(i)) since.delete(i);
        for (const i of present) if (!since.has(i)) since.set(i, at);
        expect(current(history)).toEqual([...since].map(([i, began]) => `o${i} x ${began}`).sort());
      }
    }),
  );
});
