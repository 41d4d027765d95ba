import { heldBy, longText, MEBIBYTE } from "@isthmus/testing";
import { expect, test } from "vitest";
import { readOnce } from "../src/readOnce.ts";

// Filled with the longest texts that it takes, beyond its bound. What is allowed is twice what the bound says.
test("texts of certificates that were read", async () => {
  const bytes = 16 * MEBIBYTE;
  const held = await heldBy(() => {
    let reads = 0;
    const read = readOnce((text) => {
      reads++;
      return text.length;
    });
    for (let i = 0; i < 100; i++) read(longText(i, 512 * 1024));
    for (let i = 0; i < 3; i++) read("the same");
    expect(reads).toBe(101);
    return read;
  });
  expect(held).toBeLessThan(2 * bytes);
});
