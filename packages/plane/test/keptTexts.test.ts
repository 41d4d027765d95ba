import type { Resource } from "@isthmus/core";
import { heldBytes, MEBIBYTE } from "@isthmus/testing";
import { expect, test } from "vitest";
import { keptEnded, keptObject } from "../src/replication/keptInsights.ts";
import { snapshotStore } from "../src/snapshots/snapshotStore.ts";
import { recordingLog } from "./recordingLog.ts";

const object = { apiVersion: "v1", kind: "Service", name: "a", namespace: "b", clusterName: "c" };
const insight = (text: string) => ({ message: text, remedy: { text, command: text, patch: text } });

// What agents and Redis say is let go, whatever is kept of it.
test.each<[string, (text: string) => unknown]>([
  ["an insight that has ended", (message) => keptEnded({ code: "A", object, message, since: "", until: "" } as never)],
  ["an insight", (text) => keptObject({ object, insights: [{ insight: insight(text) }], problems: [text] } as never)],
])("of %s its bound is kept", (_, make) => {
  expect(heldBytes(make)).toBeLessThan(MEBIBYTE);
});

test("of objects that cannot be read the store keeps a message of bounded length", () => {
  const refusing = { apiVersion: "v1", kind: "Service", plural: "services", namespaced: true, parse };
  function parse({ spec }: { readonly spec?: string }): never {
    throw new TypeError(`spec is ${spec}`);
  }
  const log = { ...recordingLog(), warn: () => undefined };
  const store = snapshotStore({ kindOf: () => refusing as never, isRegistered: () => true, log, changed: () => undefined });
  const held = heldBytes((spec, i) => {
    const metadata = { name: `s${i}`, namespace: "b", clusterName: "c" };
    store.observed("c", { put: [{ apiVersion: "v1", kind: "Service", metadata, spec } as Resource], remove: [] });
    return i;
  });
  expect(store.clusters.get("c")?.malformed.size).toBe(20);
  expect(held).toBeLessThan(MEBIBYTE);
});
