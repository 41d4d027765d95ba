import { expect, test } from "vitest";
import { startTurns } from "../src/transport/turns.ts";

const SLICE_MS = 5;

/** Turns whose jobs take as long as they say, and what was done in each turn of the event loop. */
function working() {
  let now = 0;
  const turns: string[][] = [[]];
  const { take } = startTurns({ sliceMs: SLICE_MS, now: () => now });
  return {
    turns,
    take(name: string, ms: number, then: () => void = () => undefined): void {
      take(() => {
        now += ms;
        turns.at(-1)?.push(name);
        then();
      });
    },
    /** Lets the event loop turn until nothing waits. */
    async rest(): Promise<void> {
      for (let idle = 0; idle < 3; ) {
        turns.push([]);
        await new Promise((resolve) => setImmediate(resolve));
        idle = turns.at(-1)?.length === 0 ? idle + 1 : 0;
      }
    },
  };
}

test("a job is done at once while there is time, and later ones in turns, in order", async () => {
  const { take, rest, turns } = working();
  for (const name of ["a", "b", "c", "d", "e", "f"]) take(name, 3);
  expect(turns).toEqual([["a", "b"]]);
  await rest();
  expect(turns.filter((done) => done.length > 0)).toEqual([
    ["a", "b"],
    ["c", "d"],
    ["e", "f"],
  ]);
});

test("nobody overtakes who waits", async () => {
  const { take, rest, turns } = working();
  take("long", 9);
  take("waits", 4, () => take("from within", 1));
  take("waits, too", 1);
  await rest();
  take("short", 1);
  expect(turns.flat()).toEqual(["long", "waits", "waits, too", "from within", "short"]);
});

test("with the next turn there is time again", async () => {
  const { take, rest, turns } = working();
  take("a", 9);
  await rest();
  take("b", 1);
  expect(turns.flat()).toEqual(["a", "b"]);
});

test("a job that throws keeps no other from its turn", async () => {
  const { take, rest, turns } = working();
  expect(() =>
    take("throws", 9, () => {
      throw new Error("of this job");
    }),
  ).toThrow("of this job");
  take("next", 1);
  await rest();
  expect(turns.flat()).toEqual(["throws", "next"]);
});
