import { expect, test } from "vitest";
import { atMost } from "../src/atMost.ts";

test("so many run at once, the others in their order, also after one that fails", async () => {
  const inTurn = atMost(2);
  let running = 0;
  let most = 0;
  const begun: number[] = [];
  const work = (n: number) =>
    inTurn(async () => {
      begun.push(n);
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      if (n % 3 === 0) throw new Error(`no ${n}`);
      return n;
    });
  const results = await Promise.allSettled(Array.from({ length: 10 }, (_, n) => work(n)));
  expect(most).toBe(2);
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(results.map(({ status }) => status)).toEqual(results.map((_, n) => (n % 3 === 0 ? "rejected" : "fulfilled")));
  expect(await work(11)).toBe(11);
});
