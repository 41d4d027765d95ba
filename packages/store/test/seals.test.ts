import { createHmac, randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { hmacSha256, storeSeals } from "../src/seals.ts";

const key = randomBytes(32);
const seals = storeSeals({ key }, "gloo-mesh:");

it("signs by HMAC-SHA256, as Node has it", () => {
  for (const text of ["", "a", "ü漢😀", "x".repeat(10_000)]) {
    const secret = randomBytes(32).toString("hex");
    expect(hmacSha256(secret)(text)).toBe(createHmac("sha256", secret).update(text).digest("base64"));
  }
});

it("opens what was sealed for the same use and place, and nothing else", () => {
  const sealed = seals.seal("head", ["input", "a"], "{}");
  expect(seals.open("head", ["input", "a"], sealed)).toBe("{}");
  expect(seals.open("version", ["input", "a"], sealed)).toBeUndefined();
  expect(seals.open("head", ["input", "b"], sealed)).toBeUndefined();
  expect(seals.open("head", ["inputa"], sealed)).toBeUndefined();
  expect(seals.open("head", ["input", "a"], `${sealed} `)).toBeUndefined();
  for (const text of ["", "{}", "A".repeat(22), sealed.slice(1), sealed.slice(0, 21)])
    expect(seals.open("head", ["input", "a"], text)).toBeUndefined();
  expect(storeSeals({ key }, "other:").open("head", ["input", "a"], sealed)).toBeUndefined();
  expect(storeSeals({ key: randomBytes(32) }, "gloo-mesh:").open("head", ["input", "a"], sealed)).toBeUndefined();
  const rotated = storeSeals({ key: randomBytes(32), previous: key }, "gloo-mesh:");
  expect(rotated.open("head", ["input", "a"], sealed)).toBe("{}");
  expect(seals.open("head", ["input", "a"], rotated.seal("head", ["input", "a"], "{}"))).toBeUndefined();
});

it("binds an object to its place and name, and hashes it by what is not shown", () => {
  const pods = seals.objects(["input", "a", "/Pod"]);
  const sealed = pods.seal("web.shop.a", "{}");
  expect(pods.open("web.shop.a", sealed)).toEqual({ text: "{}", hash: pods.hashOf("web.shop.a", "{}") });
  expect(pods.open("db.shop.a", sealed)).toBeUndefined();
  expect(seals.objects(["input", "b", "/Pod"]).open("web.shop.a", sealed)).toBeUndefined();
  const hashes = Array.from({ length: 1_000 }, (_, i) => pods.hashOf(String(i), "{}"));
  for (const half of ["a", "b"] as const) {
    expect(new Set(hashes.map((hash) => hash[half])).size).toBeGreaterThan(990);
    // Each bit is set in about half of them.
    for (let bit = 0; bit < 32; bit++) {
      const ones = hashes.filter((hash) => ((hash[half] >>> bit) & 1) === 1).length;
      expect(Math.abs(ones - 500)).toBeLessThan(120);
    }
  }
});
