import { expect, test } from "vitest";
import { semaphore } from "../src/index.ts";

function setUp(places: number) {
  const one = semaphore(places);
  const admitted: string[] = [];
  return { one, admitted, enter: (name: string) => one.enter(() => admitted.push(name)) };
}

test("places are given in order of coming, one for each that is given back", () => {
  const { one, admitted, enter } = setUp(2);
  const leave = ["a", "b", "c", "d"].map(enter);
  expect(admitted).toEqual(["a", "b"]);
  expect([one.taken, one.waiting]).toEqual([2, 2]);
  leave[1]?.();
  leave[1]?.();
  expect(admitted).toEqual(["a", "b", "c"]);
  leave[0]?.();
  expect(admitted).toEqual(["a", "b", "c", "d"]);
  for (const leaveIt of leave) leaveIt();
  expect([one.taken, one.waiting]).toEqual([0, 0]);
});

test("who leaves the line takes no place, and has none to give back", () => {
  const { one, admitted, enter } = setUp(1);
  const [leaveA, leaveB] = ["a", "b", "c"].map(enter);
  leaveB?.();
  leaveB?.();
  expect([one.taken, one.waiting]).toEqual([1, 1]);
  leaveA?.();
  expect(admitted).toEqual(["a", "c"]);
});

test("work begins at once where a place is free, and else when another ends, well or not", async () => {
  const one = semaphore(1);
  const begun: string[] = [];
  let fail: (error: Error) => void = () => undefined;
  const first = one.run(() => {
    begun.push("first");
    return new Promise<string>((_, reject) => {
      fail = reject;
    });
  });
  const second = one.run(async () => {
    begun.push("second");
    return "result";
  });
  const third = one.run(() => {
    throw new Error("at once");
  });
  expect(begun).toEqual(["first"]);
  expect([one.taken, one.waiting]).toEqual([1, 2]);
  fail(new Error("failed"));
  await expect(first).rejects.toThrow("failed");
  await expect(second).resolves.toBe("result");
  await expect(third).rejects.toThrow("at once");
  expect([one.taken, one.waiting]).toEqual([0, 0]);
});
