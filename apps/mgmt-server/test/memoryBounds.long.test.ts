import { ApiDoc } from "@isthmus/api";
import { snapshotOf } from "@isthmus/core";
import { heldBy, longText, MEBIBYTE } from "@isthmus/testing";
import { expect, test } from "vitest";
import { apisPage } from "../src/apis.ts";
import { seenEntries } from "../src/seenEntries.ts";

// Filled with the longest texts that it takes. What is allowed is twice what the bound says.
test("what is said of APIs", async () => {
  const docs = 8;
  // Eight texts of 1,024 letters.
  const bytes = docs * 8 * 1_024;
  const snapshots = [0, 1].map((run) =>
    snapshotOf(
      Array.from({ length: docs }, (_, i) => {
        const info = { title: longText(i), version: longText(i) };
        const condition = { type: "SchemaRead", status: "False", reason: longText(i), message: longText(i) };
        return {
          apiVersion: ApiDoc.apiVersion,
          kind: ApiDoc.kind,
          metadata: { name: `api-${run}-${i}`, namespace: "shop", clusterName: "east" },
          spec: { openapi: { inlineString: JSON.stringify({ openapi: longText(i), info }) } },
          status: { conditions: [condition] },
        } as unknown as ApiDoc;
      }),
    ),
  );
  let run = 0;
  const held = await heldBy(() => {
    const snapshot = snapshots[run++];
    const page = apisPage({ store: { snapshot } } as never);
    const { length } = [...(page(new URLSearchParams()) as Iterable<string>)].join("");
    expect(length).toBeLessThan(bytes);
    return snapshot;
  });
  expect(held).toBeLessThan(2 * bytes + 2 * MEBIBYTE);
});

test("digests of entries that a reader has seen", async () => {
  const most = 1_000;
  const bytes = 20 * most * (40 + 60);
  const held = await heldBy(() => {
    const seen = seenEntries(most);
    for (let round = 0; round < 5; round++) {
      for (let cluster = 0; cluster < 20; cluster++) {
        seen.take(
          `cluster-${cluster}`,
          Array.from({ length: 500 }, (_, i) => ({ path: longText(round * 500 + i, 4_000) }) as never),
        );
      }
    }
    return seen;
  });
  expect(held).toBeLessThan(2 * bytes + MEBIBYTE);
});
