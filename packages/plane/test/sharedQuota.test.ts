import { runs } from "@isthmus/testing";
import fc from "fast-check";
import { expect, it } from "vitest";
import { sharedQuota } from "../src/server/sharedQuota.ts";

const OWN = { objects: 1_000, bytes: 400 };

it("leaves each agent its own quota while all together are within the bound", () => {
  const shared = sharedQuota();
  for (const [i, bytes] of [400, 300, 300].entries()) shared.booked(`c${i}`, bytes);
  expect(shared.of(OWN, 1_000)).toBe(OWN);
});

it("gives the largest no more, and the others up to an equal share", () => {
  const shared = sharedQuota();
  for (const [name, bytes] of [
    ["small", 100],
    ["middle", 350],
    ["large", 700],
  ] as const)
    shared.booked(name, bytes);
  // 1,000 without the small one's 100, for two.
  expect(shared.of({ objects: 1_000, bytes: 800 }, 1_000)).toEqual({ objects: 1_000, bytes: 550, isShared: true });
  expect(shared.of(OWN, 1_000)).toBe(OWN);
  shared.forget("large");
  expect(shared.of({ objects: 1_000, bytes: 800 }, 1_000)).toEqual({ objects: 1_000, bytes: 800 });
});

it("keeps all together below twice the bound, in whatever order agents report and leave", () => {
  const step = fc.record({
    agent: fc.integer({ min: 0, max: 9 }),
    bytes: fc.integer({ min: 1, max: 300 }),
    goes: fc.integer({ min: 0, max: 19 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const most = 1_000;
      const [shared, sizes] = [sharedQuota(), new Map<string, number>()];
      for (const { agent, bytes, goes } of steps) {
        const name = `c${agent}`;
        if (goes === 0) {
          shared.forget(name);
          sizes.delete(name);
          continue;
        }
        const next = (sizes.get(name) ?? 0) + bytes;
        if (next > shared.of({ objects: 1, bytes: 600 }, most).bytes) continue;
        sizes.set(name, next);
        shared.booked(name, next);
      }
      const together = [...sizes.values()].reduce((sum, size) => sum + size, 0);
      // One report more may come while there is room.
      expect(together).toBeLessThan(2 * most + 300);
    }),
    { numRuns: runs(400) },
  );
});
