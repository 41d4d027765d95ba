import { heldBy, longText, MEBIBYTE } from "@isthmus/testing";
import { expect, test } from "vitest";
import { redisCapacity } from "../src/redisCapacity.ts";
import { rejectedEntries } from "../src/rejectedEntries.ts";

const nothing = () => undefined;
const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };

// Each is filled with the longest texts that it takes, beyond its bound. What is allowed is twice what the bound says, and the last texts, which V8 keeps for a while.

test("places of entries that nobody has signed", async () => {
  // 1,000 places of 300 letters.
  const bytes = 1_000 * (300 + 200);
  const held = await heldBy(() => {
    let minutes = 0;
    const refuse = rejectedEntries({ place: "Redis", refused: nothing, now: () => minutes * 60_000, log });
    for (let i = 0; i < 2_500; i++) {
      // Ten lines a minute.
      if (i % 10 === 0) minutes++;
      refuse("object", longText(i, i % 100 === 0 ? 1_048_576 : 400));
    }
    return refuse;
  });
  expect(held).toBeLessThan(2 * bytes + 2 * MEBIBYTE);
});

test("what Redis says of its memory", async () => {
  const info = (i: number) => `used_memory:1\r\nmaxmemory:2\r\nmaxmemory_policy:${longText(i)}\r\n`;
  expect(await heldBy(() => Array.from({ length: 20 }, (_, i) => redisCapacity(info(i))))).toBeLessThan(2 * MEBIBYTE);
});
