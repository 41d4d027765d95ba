import { heldBytes } from "@isthmus/testing";
import { expect, it } from "vitest";
import { wrongTokens } from "../src/wrongTokens.ts";

const many = (times: number, take: () => unknown) => Array.from({ length: times }, take).filter((one) => one !== undefined).length;

it("wrong tokens of one address use up its budget, which fills again by the second", () => {
  let ms = 0;
  const wrong = wrongTokens({ now: () => ms, ofOne: 5, inAll: 100 });
  expect(many(20, () => wrong.take("203.0.113.1"))).toBe(5);
  expect(many(20, () => wrong.take("203.0.113.2"))).toBe(5);
  ms += 3_000;
  expect(many(20, () => wrong.take("203.0.113.1"))).toBe(3);
  ms += 3_600_000;
  expect(many(20, () => wrong.take("203.0.113.1"))).toBe(5);
});

it("right tokens cost nothing", () => {
  const wrong = wrongTokens({ now: () => 0, ofOne: 2, inAll: 3 });
  for (let i = 0; i < 100; i++) wrong.take("203.0.113.1")?.();
  expect(many(20, () => wrong.take("203.0.113.1"))).toBe(2);
});

it("wrong tokens of many addresses use up the budget of all, but not that of users who had a right one", () => {
  let ms = 0;
  const wrong = wrongTokens({ now: () => ms, ofOne: 5, inAll: 100 });
  wrong.take("203.0.113.1")?.();
  let i = 0;
  expect(many(1_000, () => wrong.take(`198.51.100.${i++}`))).toBe(100);
  expect(wrong.take("203.0.113.2")).toBeUndefined();
  expect(wrong.take("203.0.113.1")).toBeDefined();
  ms += 1_000;
  expect(many(1_000, () => wrong.take(`198.51.100.${i++}`))).toBe(9);
});

it("what is remembered of addresses is bounded", () => {
  const wrong = wrongTokens({ now: () => 0, inAll: Number.POSITIVE_INFINITY });
  const bytes = heldBytes((_, i) => {
    for (let j = 0; j < 1_000; j++) wrong.take(`address ${i} ${j}`)?.();
    return i;
  });
  expect(bytes).toBeLessThan(6 * 1024 * 1024);
});
