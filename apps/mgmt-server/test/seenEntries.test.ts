import type { AccessLog } from "@isthmus/dataplane";
import { expect, it } from "vitest";
import { seenEntries } from "../src/seenEntries.ts";

const entries = (...paths: readonly string[]) => paths.map((path) => ({ path }) as AccessLog);

it("has each entry of a cluster once, and forgets those that were answered longest ago", () => {
  const seen = seenEntries(3);
  const fresh = (cluster: string, ...paths: readonly string[]) => seen.take(cluster, entries(...paths)).fresh.map(({ path }) => path);
  expect(fresh("east", "a", "b", "a")).toEqual(["a", "b"]);
  expect(fresh("west", "a", "c", "d", "e", "f", "g")).toEqual(["a", "c", "d", "e", "f", "g"]);
  expect(fresh("east", "a", "b")).toEqual([]);
  expect(fresh("east", "c", "d")).toEqual(["c", "d"]);
  expect(fresh("east", "b", "a")).toEqual(["a"]);
});
