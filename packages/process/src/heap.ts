import { getHeapStatistics, setFlagsFromString } from "node:v8";

/**
 * Has V8 keep little memory beside what lives, for a program that reads much once and then seldom changes it: collections come sooner
 * and take more of the processor while much is read. To be called before anything large is.
 */
export function keepHeapSmall(): void {
  for (const flag of SMALL) setFlagsFromString(flag);
}

// V8 reads both each time that it decides: how far the young generation grows (it begins with 1 MiB, and would become 48), and by how
// much old objects may grow until they are looked through (else threefold and more). Measured on an agent of 20,000 Pods: 136 MiB
// of 194, for 8.4 s of processor instead of 6.3 until it is in sync.
const SMALL = ["--semi-space-growth-factor=1", "--heap-growing-percent=50"];

/** Memory of a program that reads so much that to keep it small meanwhile would cost too much. */
export interface GrowingHeap {
  /** Much has been read, and more may come. When nothing has for two minutes, V8 is told to give back what it took for it. */
  grew(): void;
  /** Nothing more is done. */
  stop(): void;
}

/** `setFlag` changes an option of V8; `usedMiB` says how much its objects take, what has died and is still there included. */
export function growingHeap(setFlag: (flag: string) => void = setFlagsFromString, usedMiB: () => number = heapUsedMiB): GrowingHeap {
  let timer: NodeJS.Timeout | undefined;

  function after(ms: number, act: () => void): void {
    clearTimeout(timer);
    timer = setTimeout(act, ms).unref();
  }

  function growBy(percent: number): void {
    const ofUsed = (mebibytes: number) => Math.ceil((100 * mebibytes) / Math.max(1, usedMiB()));
    setFlag(`--heap-growing-percent=${Math.max(Math.min(percent, ofUsed(MOST_GROWTH_MIB)), ofUsed(LEAST_GROWTH_MIB))}`);
  }

  function settle(): void {
    growBy(SETTLED_PERCENT);
    if (usedMiB() >= LARGE_MIB) setFlag(LOOK_OFTEN);
    after(TIDY_MS, () => {
      setFlag(LOOK_SELDOM);
      after(TIDY_AGAIN_MS, settle);
    });
  }

  return {
    grew() {
      growBy(GROWING_PERCENT);
      setFlag(LOOK_SELDOM);
      after(QUIET_MS, settle);
    },
    stop: () => clearTimeout(timer),
  };
}

function heapUsedMiB(): number {
  return getHeapStatistics().used_heap_size / 2 ** 20;
}

// By how much old objects may grow until V8 looks through them, else threefold: what dies meanwhile leaves holes among what lives, of
// which V8 closes few. A server that starts from a store reads first, and is not slower for it.
const [GROWING_PERCENT, SETTLED_PERCENT] = [50, 6];
// But not by much less than this: what V8 is told is a part of what is used, of which some has died already. To look through a heap
// takes two processors for a moment; with 9 MiB a second that do not die at once (100 pods replaced a second) a small server would do
// so once a second.
const LEAST_GROWTH_MIB = 100;
// Nor by more: half of what a large fleet takes is more than it needs beside it, and while V8 looks for what has died, the program goes on.
const MOST_GROWTH_MIB = 400;
const QUIET_MS = 120_000;
// While this is on, V8 looks through old objects every few seconds, in small steps, and moves some of what is left into fewer pages.
// That takes a third of a processor where 200 objects a second are written, so it is on for a minute now and then: in each minute in
// between, holes take 20 MiB more (100,000 services). What is not large has few of them.
const [LOOK_OFTEN, LOOK_SELDOM] = ["--optimize-for-size", "--no-optimize-for-size"];
const LARGE_MIB = 512;
const TIDY_MS = 60_000;
const TIDY_AGAIN_MS = 300_000;
