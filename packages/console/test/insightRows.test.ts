import { emptyTable, refOf, resourceKeyOf } from "@isthmus/core";
import type { DatedObject, Insight } from "@isthmus/insights";
import { describe, expect, it } from "vitest";
import { NO_INSIGHTS } from "../src/events/fleet.ts";
import { insightRows } from "../src/sources/insightRows.ts";
import { object } from "./consoleFixture.ts";

const NOTHING = emptyTable<DatedObject>((dated) => resourceKeyOf(dated.object));

function dated(name: string, message: string, more: Partial<DatedObject["insights"][number]> = {}): DatedObject {
  const ref = refOf(object("Service", name));
  const insight = { code: "RTE1001", severity: "error", object: ref, field: "", message, remedy: { text: "" } } as unknown as Insight;
  return { object: ref, insights: [{ insight, since: 1_000, ...more }], problems: [] };
}

const tableOf = (...objects: readonly DatedObject[]) => NOTHING.with(objects.map((one) => [resourceKeyOf(one.object), one] as const));

describe("the rows of insights", () => {
  it("say since when, why one is suppressed, and what was probably meant", () => {
    const suppressed = dated("b", "two", { suppression: { reason: "known", until: "2027-01-01", by: "annotation" } });
    const rows = insightRows(NO_INSIGHTS, {
      now: tableOf(dated("a", "one"), suppressed),
      before: NOTHING,
      withNearMiss: (insight) => ({ ...insight, nearMiss: "reviews" }),
    });
    expect([...rows].flatMap(({ insights }) => insights)).toMatchObject([
      { message: "one", since: "1970-01-01T00:00:01.000Z", nearMiss: "reviews" },
      { message: "two", suppressed: { reason: "known", until: "2027-01-01" } },
    ]);
  });

  it.each(["tables", "lists"])("keep what did not change, of %s", (form) => {
    const shape = (...objects: readonly DatedObject[]) => (form === "tables" ? tableOf(...objects) : objects);
    const [a, b] = [dated("a", "one"), dated("b", "two")];
    const first = shape(a, b);
    const rows = insightRows(NO_INSIGHTS, { now: first, before: form === "tables" ? NOTHING : [] });
    // A list that was read again has equal objects, which are others.
    const second = shape(form === "tables" ? a : dated("a", "one"), dated("c", "three"));
    const next = insightRows(rows, { now: second, before: first });
    const [before, after] = [[...rows], [...next]];
    expect(after[0]).toBe(before[0]);
    expect(after.map(({ object: { name } }) => name)).toEqual(["a", "c"]);
  });

  it("look for what was meant of a hundred at most", () => {
    let asked = 0;
    const many = tableOf(...Array.from({ length: 300 }, (_, i) => dated(`s${i}`, "x")));
    insightRows(NO_INSIGHTS, { now: many, before: NOTHING, withNearMiss: (insight) => ({ ...insight, nearMiss: `${++asked}` }) });
    expect(asked).toBe(100);
  });
});
