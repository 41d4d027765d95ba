import type { Random } from "../../faults/random.ts";
import type { Target } from "../target.ts";

const kept: Buffer[] = [];

/** Entry points that fail, each in one way, at one of a hundred inputs: what the fuzzer must notice, for its own test. */
export const practice: readonly Target[] = [
  practiceOf("throws", () => {
    throw new TypeError("this is thrown on purpose");
  }),
  practiceOf("rejects", () => void Promise.reject(new TypeError("this is rejected on purpose"))),
  practiceOf("exits", () => process.exit(3)),
  practiceOf("stalls", () => {
    // Blocks the event loop for good, and takes no processor time.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  }),
  practiceOf("slow", () => {
    // Processor time is what counts, and the machine may be busy.
    for (const began = process.cpuUsage(); process.cpuUsage(began).user < 1_500_000; ) kept.length = 0;
  }),
  practiceOf("grows", () => {
    kept.push(Buffer.alloc(1024 * 1024, 1));
  }),
  practiceOf("good", () => undefined),
];

function practiceOf(name: string, misbehave: () => void): Target {
  return {
    name: `practice-${name}`,
    about: "fails on purpose",
    draw: (random: Random) => Buffer.from([random.int(100)]),
    start: async () => ({
      take: (input) => {
        if (input[0] === 42) misbehave();
      },
      stop: async () => undefined,
    }),
  };
}
