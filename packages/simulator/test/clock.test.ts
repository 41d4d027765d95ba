import { expect, it } from "vitest";
import { virtualClock } from "../src/index.ts";

it("wakes sleepers in order of time, each after all that followed from the one before", async () => {
  const clock = virtualClock(0);
  const seen: string[] = [];
  const sleeper = async (name: string, ms: number) => {
    await clock.sleep(ms);
    seen.push(`${name}@${clock.now()}`);
  };
  void sleeper("late", 30);
  void sleeper("early", 10).then(() => sleeper("again", 10));
  void sleeper("also early", 10);
  await clock.advance(29);
  expect(seen).toEqual(["early@10", "also early@10", "again@20"]);
  expect(clock.now()).toBe(29);
  expect(clock.next).toBe(30);
  await clock.advance(1);
  expect(seen.at(-1)).toBe("late@30");
  expect(clock.next).toBeUndefined();
});

it("forgets a sleeper that is aborted", async () => {
  const clock = virtualClock(0);
  const abort = new AbortController();
  const sleep = clock.sleep(10, abort.signal);
  const reason = new Error("woken");
  abort.abort(reason);
  await expect(sleep).rejects.toBe(reason);
  expect(clock.next).toBeUndefined();
  await expect(clock.sleep(10, abort.signal)).rejects.toBe(reason);
});
