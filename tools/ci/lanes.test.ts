import { expect, it } from "vitest";
import { lanesOf } from "./lanes.ts";

const GIB = 1024 ** 3;

it("gives each lane as many as processors and memory allow, and at least one", () => {
  expect(lanesOf({ processors: 2, freeBytes: 22 * GIB })).toEqual({ waiting: 2, meshes: 1 });
  expect(lanesOf({ processors: 2, freeBytes: 9 * GIB })).toEqual({ waiting: 1, meshes: 1 });
  expect(lanesOf({ processors: 8, freeBytes: 64 * GIB })).toEqual({ waiting: 8, meshes: 4 });
  expect(lanesOf({ processors: 1, freeBytes: 2 * GIB })).toEqual({ waiting: 1, meshes: 1 });
});
