import { describe, expect, it } from "vitest";
import { lags } from "../src/server/lag.ts";

const wishes = Array.from({ length: 40 }, (_, number) => ({ number }));
const [first = {}, second = {}, third = {}] = wishes;

describe("how far a cluster is behind", () => {
  it("counts from the oldest that is not acknowledged", () => {
    let now = 100;
    const behind = lags(() => now);
    expect(behind.behindSince("a")).toBeUndefined();
    behind.wanted("a", first);
    now = 200;
    behind.wanted("a", second);
    now = 300;
    behind.wanted("a", third);
    expect(behind.behindSince("a")).toBe(100);
    behind.acknowledged("a", first);
    expect(behind.behindSince("a")).toBe(200);
    behind.acknowledged("a", third);
    expect(behind.behindSince("a")).toBeUndefined();
    expect(behind.behindSince("b")).toBeUndefined();
  });

  it("is not renewed by the same again", () => {
    let now = 100;
    const behind = lags(() => now);
    behind.wanted("a", first);
    behind.acknowledged("a", first);
    now = 200;
    behind.wanted("a", first);
    expect(behind.behindSince("a")).toBeUndefined();
  });

  it("keeps the oldest time, however much is wanted meanwhile", () => {
    let now = 0;
    const behind = lags(() => now);
    for (const wish of wishes) {
      now++;
      behind.wanted("a", wish);
    }
    expect(behind.behindSince("a")).toBe(1);
    behind.acknowledged("a", wishes.at(-1) ?? {});
    expect(behind.behindSince("a")).toBeUndefined();
  });
});
