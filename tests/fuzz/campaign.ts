import { groupOf } from "./groups.ts";
import type { Block, Failure } from "./messages.ts";
import { runShift } from "./shift.ts";

export interface Campaign {
  readonly targets: readonly string[];
  readonly seed: number;
  readonly minutes: number;
  readonly jobs: number;
  /** Whether it continues after a failure. */
  readonly keepsGoing: boolean;
  /** How long a process may give no sign of life. */
  readonly stallMs: number;
  /** Only these inputs of the first target. */
  readonly only?: Block;
}

export interface Found {
  readonly target: string;
  readonly failure: Failure;
  /** How many inputs of its target came before. */
  readonly after: number;
  /** How often the same was found. */
  times: number;
}

/** What became of a target. */
export interface Tally {
  inputs: number;
  bytes: number;
  seconds: number;
  skipped: string | undefined;
}

export interface Outcome {
  readonly tallies: ReadonlyMap<string, Tally>;
  readonly found: readonly Found[];
}

export interface Reporting {
  readonly program: string;
  found(found: Found): void;
  progress(tallies: ReadonlyMap<string, Tally>): void;
}

// A process takes some seconds to start and to warm up; a longer turn finds more of what grows.
const [SHORTEST_TURN_S, LONGEST_TURN_S] = [1, 120];
const BLOCK_S = 2;
const FIRST_BLOCK = 64;
// A target that ends its process again and again only costs starts.
const MOST_ENDS = 20;

/** Gives each target its turns, in as many processes at a time as there are jobs, until the time is over. */
export async function runCampaign(campaign: Campaign, { program, found, progress }: Reporting): Promise<Outcome> {
  const { targets, seed, minutes, jobs, keepsGoing, stallMs, only } = campaign;
  const until = performance.now() + minutes * 60_000;
  const tallies = new Map(targets.map((target): [string, Tally] => [target, { inputs: 0, bytes: 0, seconds: 0, skipped: undefined }]));
  /** The next input of each target. */
  const upcoming = new Map(targets.map((target) => [target, only?.from ?? 0]));
  const groups = new Map<string, Found>();
  const ends = new Map<string, number>();
  let isOver = false;
  let turns = 0;

  const turnS = Math.min(LONGEST_TURN_S, Math.max(SHORTEST_TURN_S, (minutes * 60 * jobs) / targets.length));

  function blockOf(target: string, rate: number): Block {
    const from = upcoming.get(target) ?? 0;
    const count = Math.max(FIRST_BLOCK, Math.round(rate * BLOCK_S));
    upcoming.set(target, from + count);
    return { from, count };
  }

  function failedOne(target: string, failure: Failure): boolean {
    const group = groupOf(target, failure);
    const known = groups.get(group);
    if (known !== undefined) known.times++;
    else {
      const one: Found = { target, failure, after: failure.input, times: 1 };
      groups.set(group, one);
      found(one);
    }
    if (failure.type !== "threw" && failure.type !== "slow" && failure.type !== "grew") {
      ends.set(target, (ends.get(target) ?? 0) + 1);
      // What the process had still to take is taken by another one.
      upcoming.set(target, failure.input + 1);
    }
    if (!keepsGoing) isOver = true;
    return keepsGoing;
  }

  /** The failure with the input that it is due to, which is looked for among those that may be. */
  async function pinnedDown(target: string, failure: Failure): Promise<Failure> {
    const { since = failure.input, input } = failure;
    let block: Block | undefined = { from: since, count: input - since + 1 };
    let exact: Failure | undefined;
    await runShift({
      target,
      seed,
      program,
      stallMs,
      isExact: true,
      next() {
        const next = block;
        block = undefined;
        return next;
      },
      failed(found) {
        exact = found;
        return false;
      },
    });
    return exact ?? failure;
  }

  async function turn(target: string, tally: Tally): Promise<void> {
    const began = performance.now();
    // From its first input on: the time until then belongs to nobody.
    let end: number | undefined;
    let left = only;
    const failures: Failure[] = [];
    const { inputs, bytes, skipped } = await runShift({
      target,
      seed,
      program,
      stallMs,
      isExact: only !== undefined,
      next(rate) {
        if (only !== undefined) {
          const block = left;
          left = undefined;
          return block;
        }
        if (isOver || (end !== undefined && performance.now() > end)) return undefined;
        end ??= performance.now() + turnS * 1000;
        return blockOf(target, rate);
      },
      failed(failure) {
        if (failure.since === undefined || failure.since === failure.input) return failedOne(target, failure);
        // Its process ends with it.
        failures.push(failure);
        return keepsGoing;
      },
    });
    for (const failure of failures) failedOne(target, await pinnedDown(target, failure));
    tally.inputs += inputs;
    tally.bytes += bytes;
    tally.seconds += (performance.now() - began) / 1000;
    tally.skipped = skipped;
    progress(tallies);
  }

  const queue = [...targets];
  async function job(): Promise<void> {
    while (!isOver) {
      if (turns >= targets.length && (only !== undefined || performance.now() >= until)) return;
      const target = queue.shift();
      if (target === undefined) return;
      turns++;
      const tally = tallies.get(target);
      if (tally === undefined || tally.skipped !== undefined || (ends.get(target) ?? 0) > MOST_ENDS) continue;
      await turn(target, tally);
      if (tally.skipped === undefined) queue.push(target);
    }
  }
  await Promise.all(Array.from({ length: jobs }, job));
  return { tallies, found: [...groups.values()] };
}
