import { type Clock, emptyOutputSet, outputSet } from "@isthmus/core";
import { describe, expect, it } from "vitest";
import { LAGGING_AFTER_MS, lags } from "../src/server/statuses/lag.ts";

const nothing = emptyOutputSet({ label: "owner.test", value: "test" });
const wishes = Array.from({ length: 40 }, (_, i) => {
  const resource = { apiVersion: "v1", kind: "Service", metadata: { name: `s-${i}`, namespace: "n", clusterName: "a" } };
  return outputSet(nothing.owner, [{ resource, parents: [] }]);
});
const [first = nothing, second = nothing, third = nothing] = wishes;

/** A clock that stands until it is set; who sleeps wakes then. */
function standingClock(): Clock & { set(now: number): Promise<void> } {
  let time = 0;
  const sleepers: { readonly until: number; wake(): void }[] = [];
  return {
    now: () => time,
    sleep: (ms) => new Promise((resolve) => sleepers.push({ until: time + ms, wake: resolve })),
    async set(now) {
      time = now;
      for (const sleeper of sleepers.splice(0)) {
        if (sleeper.until <= now) sleeper.wake();
        else sleepers.push(sleeper);
      }
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

function behindLog() {
  const clock = standingClock();
  const told: number[] = [];
  return { clock, told, behind: lags({ clock, late: () => told.push(clock.now()) }, new AbortController().signal) };
}

describe("how far a cluster is behind", () => {
  it("counts from the oldest that is not acknowledged", async () => {
    const { clock, behind } = behindLog();
    await clock.set(100);
    expect(behind.behindSince("a")).toBeUndefined();
    behind.setDesired("a", first);
    await clock.set(200);
    behind.setDesired("a", second);
    await clock.set(300);
    behind.setDesired("a", third);
    expect(behind.behindSince("a")).toBe(100);
    behind.acknowledged("a", first);
    expect(behind.behindSince("a")).toBe(200);
    behind.acknowledged("a", third);
    expect(behind.behindSince("a")).toBeUndefined();
    expect(behind.behindSince("b")).toBeUndefined();
  });

  it("is not renewed by the same again", () => {
    const { behind } = behindLog();
    behind.setDesired("a", first);
    behind.acknowledged("a", first);
    behind.setDesired("a", first);
    expect(behind.behindSince("a")).toBeUndefined();
  });

  it("takes a set that was made again for what it holds", () => {
    const { behind } = behindLog();
    const again = () => nothing.with(first.entries());
    behind.setDesired("a", first);
    behind.setDesired("a", again());
    behind.acknowledged("a", again());
    expect(behind.behindSince("a")).toBeUndefined();
    behind.setDesired("a", again());
    expect(behind.behindSince("a")).toBeUndefined();
  });

  it("keeps the oldest time, however much is desired meanwhile", async () => {
    const { clock, behind } = behindLog();
    for (const [i, wish] of wishes.entries()) {
      await clock.set(i + 1);
      behind.setDesired("a", wish);
    }
    expect(behind.behindSince("a")).toBe(1);
    behind.acknowledged("a", wishes.at(-1) ?? nothing);
    expect(behind.behindSince("a")).toBeUndefined();
  });

  it("is reported once it has lasted, not before, and not of what was answered in time", async () => {
    const { clock, told, behind } = behindLog();
    behind.setDesired("a", first);
    await clock.set(LAGGING_AFTER_MS - 1);
    behind.setDesired("a", second);
    behind.acknowledged("a", first);
    await clock.set(LAGGING_AFTER_MS + 10);
    expect(told).toEqual([]);
    expect(behind.lateSince("a")).toBeUndefined();
    await clock.set(2 * LAGGING_AFTER_MS);
    expect(told).toEqual([2 * LAGGING_AFTER_MS]);
    expect(behind.lateSince("a")).toBe(LAGGING_AFTER_MS - 1);
    behind.acknowledged("a", second);
    expect(behind.lateSince("a")).toBeUndefined();
    behind.setDesired("a", third);
    await clock.set(3 * LAGGING_AFTER_MS);
    expect(told).toHaveLength(2);
  });
});
