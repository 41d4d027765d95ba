import { heldBy, longText, MEBIBYTE } from "@isthmus/testing";
import { expect, test } from "vitest";
import { redisCapacity } from "../src/redisCapacity.ts";
import { noticeReader, noticeSender } from "../src/redisNotices.ts";
import { rejectedEntries } from "../src/rejectedEntries.ts";
import { storeSeals } from "../src/seals.ts";

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

test("servers whose notices were read", async () => {
  // 1,000 ids of 12 letters, each with a number.
  const bytes = 1_000 * 200;
  const seals = storeSeals({ key: Buffer.alloc(32, 7) }, "gloo-mesh:");
  const held = await heldBy(() => {
    const read = noticeReader(seals);
    for (let i = 0; i < 3_000; i++) {
      const { signature, texts } = noticeSender(seals)(["raised", longText(i, i % 100 === 0 ? MEBIBYTE : 2_000), "1", "me"]);
      const bodies = texts.map((text) => `${Buffer.byteLength(text)}:${text}`).join("");
      expect(read(Buffer.from(`${signature}${bodies}`))?.type).toBe("raised");
    }
    return read;
  });
  expect(held).toBeLessThan(2 * bytes + 2 * MEBIBYTE);
});
