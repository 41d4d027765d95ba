import { emptyTable, type ResourceRef, resourceKeyOf, runToCompletion } from "@isthmus/core";
import { heldBy, longText, MEBIBYTE } from "@isthmus/testing";
import { expect, test } from "vitest";
import { historyAfter, type Insight, NO_HISTORY, type ObjectInsights, objectChanges } from "../src/index.ts";

const NOTHING = emptyTable<ObjectInsights>(({ object }) => resourceKeyOf(object));

function said(i: number): ObjectInsights {
  const object: ResourceRef = { apiVersion: "v1", kind: "Service", name: `s${i}`, namespace: "shop", clusterName: "east" };
  const about = { code: "RTE1001", category: "RTE", severity: "error", object, cluster: "east", remedy: { text: "" } } as const;
  const insight: Insight = { ...about, field: longText(i, 512 * 1024), message: longText(i) };
  return { object, all: [insight], shown: [insight], suppressed: [], problems: [] };
}

// Filled with the longest texts that it takes, beyond its bound. What is allowed is twice what the bound says, and the last texts, which V8 keeps for a while.
test("insights that have ended", async () => {
  // A hundred of each cluster, with 1,024 letters of a field, 2,048 of a message and five names.
  const bytes = 100 * (1_024 + 2_048 + 1_000);
  const held = await heldBy(() => {
    let [history, before] = [NO_HISTORY, NOTHING];
    for (let i = 0; i < 130; i++) {
      const one = said(i);
      const now = NOTHING.with([[resourceKeyOf(one.object), one]]);
      history = runToCompletion(historyAfter(history, objectChanges(now, before), { at: i, isKnown: () => true }));
      before = now;
    }
    history = runToCompletion(historyAfter(history, objectChanges(NOTHING, before), { at: 200, isKnown: () => true }));
    expect([...history.ended]).toHaveLength(100);
    return history;
  });
  expect(held).toBeLessThan(2 * bytes + 2 * MEBIBYTE);
});
