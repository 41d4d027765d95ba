import { expect, test } from "vitest";
import { heldBy, longText, MEBIBYTE } from "../src/index.ts";

test("what is held is measured, and what is not is not", async () => {
  for (let times = 0; times < 3; times++) {
    const held = await heldBy(() => Array.from({ length: 10 }, (_, i) => longText(i)));
    expect(held).toBeGreaterThan(9 * MEBIBYTE);
    expect(held).toBeLessThan(11 * MEBIBYTE);
    // What V8 compiles meanwhile is measured, too: some 200 KB on a busy machine.
    expect(await heldBy(() => Array.from({ length: 10 }, (_, i) => longText(i).length))).toBeLessThan(MEBIBYTE);
    expect(await heldBy(async () => Array.from({ length: 10 }, (_, i) => longText(i).slice(0, 20)))).toBeGreaterThan(9 * MEBIBYTE);
    expect(await heldBy(() => Array.from({ length: 10 }, () => new Uint8Array(MEBIBYTE)))).toBeGreaterThan(9 * MEBIBYTE);
  }
});
