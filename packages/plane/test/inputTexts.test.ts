import { Service } from "@isthmus/api";
import { expect, test } from "vitest";
import { inputTexts } from "../src/replication/inputTexts.ts";
import { snapshotStore } from "../src/snapshots/snapshotStore.ts";
import { recordingLog } from "./recordingLog.ts";

test("what the store holds and is too much for an object is left out and reported of, and the others are read", () => {
  const log = recordingLog();
  const snapshots = snapshotStore({
    kindOf: (_, kind) => (kind === "Service" ? Service : undefined),
    isRegistered: () => true,
    log,
    changed: () => undefined,
  });
  const service = (name: string, extra: string) =>
    `{"apiVersion":"v1","kind":"Service","metadata":{"name":"${name}","namespace":"shop","clusterName":"a"},"extra":${extra}}`;
  const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
  const texts = {
    deep: service("deep", nested(9_000)),
    deeper: service("deeper", nested(100)),
    large: service("large", JSON.stringify("x".repeat(1024 * 1024))),
    nameless: '{"apiVersion":"v1","kind":"Service","metadata":{"name":{"toString":1},"clusterName":"a"}}',
    nothing: "null",
    good: service("good", "1"),
  };
  const put = Object.entries(texts).map(([name, text]) => ({ kindKey: "/Service", key: `${name}.shop.a`, text }));
  const reader = inputTexts({ snapshots, log });
  const after = reader.snapshotAfter("a", { erase: [], put, remove: [] });
  expect([...after.of(Service)].map(({ metadata }) => metadata.name)).toEqual(["good"]);
  // The first of each reason is said, and all are counted.
  expect(log.warnings.join("\n")).toContain("nested deeper than 64 levels");
  const counted = reader.metrics().map(({ labels, value }) => [labels["reason"], value]);
  expect(Object.fromEntries(counted)).toEqual({ Invalid: 4, OtherCluster: 1 });
});
