import type { Clock } from "@isthmus/core";
import { describe, expect, it } from "vitest";
import { startWorkQueue } from "../src/runtime/workQueue.ts";

/** A clock whose sleeps end when the test says so. */
function heldClock(): Clock & { release(): void } {
  let sleepers: (() => void)[] = [];
  return {
    now: () => 0,
    sleep: () => new Promise((resolve) => sleepers.push(resolve)),
    release() {
      const ready = sleepers;
      sleepers = [];
      for (const resolve of ready) resolve();
    },
  };
}

async function turns(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

describe("work queue", () => {
  it("does the latest item of a name, once", async () => {
    const stop = new AbortController();
    const done: string[] = [];
    const queue = startWorkQueue<string>(
      {
        workers: 1,
        retry: { firstMs: 1, lastMs: 1 },
        work: async (key, item) => {
          done.push(`${key}=${item}`);
          return "done";
        },
        clock: heldClock(),
        random: () => 0,
      },
      stop.signal,
    );
    queue.set("a", "1");
    queue.set("b", "1");
    queue.set("a", "2");
    await turns();
    expect(done).toEqual(["a=2", "b=1"]);
    expect(queue.isIdle).toBe(true);
    stop.abort();
    await queue.ended;
  });

  it("tries again what is refused, though its name was deleted in whatever moment an item before it was done", async () => {
    for (let moments = 0; moments < 6; moments++) {
      const stop = new AbortController();
      const clock = heldClock();
      const done: string[] = [];
      const queue = startWorkQueue<string>(
        {
          workers: 1,
          retry: { firstMs: 1, lastMs: 1 },
          work: (key, item) => {
            done.push(item);
            if (item !== "first") return Promise.resolve("again");
            const answer = Promise.resolve("done" as const);
            let moment: Promise<unknown> = answer;
            for (let i = 0; i < moments; i++) moment = moment.then(() => undefined);
            void moment.then(() => queue.delete(key));
            return answer;
          },
          clock,
          random: () => 0,
        },
        stop.signal,
      );
      queue.set("a", "first");
      await turns();
      queue.set("a", "second");
      await turns();
      clock.release();
      await turns();
      stop.abort(new Error("done"));
      expect(done, `after ${moments} moments`).toEqual(["first", "second", "second"]);
    }
  });

  it("does not try again what was deleted while it was worked on", async () => {
    const stop = new AbortController();
    const clock = heldClock();
    const done: string[] = [];
    const answers: (() => void)[] = [];
    const queue = startWorkQueue<string>(
      {
        workers: 1,
        retry: { firstMs: 1, lastMs: 1 },
        work: async (_, item) => {
          done.push(item);
          await new Promise<void>((resolve) => answers.push(resolve));
          return "again";
        },
        clock,
        random: () => 0,
      },
      stop.signal,
    );
    const refuse = async () => {
      answers.shift()?.();
      await turns();
      clock.release();
      await turns();
    };
    queue.set("a", "deleted");
    await turns();
    queue.delete("a");
    await refuse();
    expect(done).toEqual(["deleted"]);
    expect(queue.sizes).toEqual({ due: 0, running: 0, waiting: 0 });
    // The next one of that name is tried again as ever.
    queue.set("a", "new");
    await turns();
    await refuse();
    expect(done).toEqual(["deleted", "new", "new"]);
    stop.abort();
    await refuse();
    await queue.ended;
  });

  it("tries again what was refused, unless a newer item came", async () => {
    const stop = new AbortController();
    const clock = heldClock();
    const done: string[] = [];
    const queue = startWorkQueue<string>(
      {
        workers: 1,
        retry: { firstMs: 1, lastMs: 1 },
        work: async (_, item) => {
          done.push(item);
          return item === "good" || done.length > 2 ? "done" : "again";
        },
        clock,
        random: () => 0,
      },
      stop.signal,
    );
    queue.set("a", "bad");
    await turns();
    clock.release();
    await turns();
    expect(done).toEqual(["bad", "bad"]);
    queue.set("a", "good");
    await turns();
    clock.release();
    await turns();
    expect(done).toEqual(["bad", "bad", "good"]);
    stop.abort();
    await queue.ended;
  });

  it("lets no item hold up another", async () => {
    const stop = new AbortController();
    const done: string[] = [];
    const queue = startWorkQueue<string>(
      {
        workers: 2,
        retry: { firstMs: 1, lastMs: 1 },
        work: (key) => (key === "stuck" ? new Promise(() => undefined) : Promise.resolve(done.push(key)).then(() => "done" as const)),
        clock: heldClock(),
        random: () => 0,
      },
      stop.signal,
    );
    for (const key of ["stuck", "a", "b", "c"]) queue.set(key, key);
    await turns();
    expect(done).toEqual(["a", "b", "c"]);
    expect(queue.isIdle).toBe(false);
    stop.abort();
  });

  it("does bulk when nothing else is due, and an item that stops being bulk ahead of it", async () => {
    const stop = new AbortController();
    const done: string[] = [];
    const queue = startWorkQueue<string>(
      {
        workers: 1,
        retry: { firstMs: 1, lastMs: 1 },
        isBulk: (item) => item.startsWith("bulk"),
        work: async (key) => {
          done.push(key);
          return "done";
        },
        clock: heldClock(),
        random: () => 0,
      },
      stop.signal,
    );
    for (const key of ["a", "b", "c"]) queue.set(key, "bulk");
    queue.set("d", "asked");
    queue.set("c", "asked");
    await turns();
    expect(done).toEqual(["d", "c", "a", "b"]);
    stop.abort();
    await queue.ended;
  });

  it("comes back to a name that got a newer item while it was worked on", async () => {
    const stop = new AbortController();
    const clock = heldClock();
    const done: string[] = [];
    const queue = startWorkQueue<string>(
      {
        workers: 2,
        retry: { firstMs: 1, lastMs: 1 },
        work: async (key, item) => {
          await clock.sleep(1);
          done.push(`${key}=${item}`);
          return "done";
        },
        clock,
        random: () => 0,
      },
      stop.signal,
    );
    queue.set("a", "1");
    await turns();
    queue.set("a", "2");
    await turns();
    queue.set("a", "3");
    queue.set("b", "1");
    for (let i = 0; i < 3; i++) {
      clock.release();
      await turns();
    }
    expect(done).toEqual(["a=1", "b=1", "a=3"]);
    expect(queue.sizes).toEqual({ due: 0, running: 0, waiting: 0 });
    stop.abort();
    await queue.ended;
  });
});
