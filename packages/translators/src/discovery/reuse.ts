import { equalJson } from "@isthmus/core";

/** What a target was translated from, and to. */
interface Entry<I, T> {
  readonly inputs: I;
  readonly result: T;
}

/** Results of one kind of target by name, kept from one translation to the next. */
export type Results<I, T> = ReadonlyMap<string, Entry<I, T>>;

/**
 * Translates each target, by its name; takes the previous result where every input is the same object, and the previous
 * object where a new result says the same: what did not change keeps its identity, so nobody downstream needs to look at it.
 */
export function translateEach<I extends object, T>(
  targets: Iterable<readonly [string, I]>,
  translate: (inputs: I) => T,
  previous: Results<I, T> | undefined,
): Results<I, T> {
  const results = new Map<string, Entry<I, T>>();
  for (const [name, inputs] of targets) {
    const before = previous?.get(name);
    if (before !== undefined && isSameRecord(before.inputs, inputs)) {
      results.set(name, before);
      continue;
    }
    const result = translate(inputs);
    results.set(name, { inputs, result: before !== undefined && equalJson(before.result, result) ? before.result : result });
  }
  return results;
}

/** Whether two flat records hold the same values; lists are compared element by element. */
function isSameRecord(a: object, b: object): boolean {
  const [left, right] = [Object.entries(a), b as Readonly<Record<string, unknown>>];
  return left.length === Object.keys(b).length && left.every(([key, value]) => isSame(value, right[key]));
}

function isSame(a: unknown, b: unknown): boolean {
  if (!Array.isArray(a) || !Array.isArray(b)) return a === b;
  return a.length === b.length && a.every((element, i) => element === b[i]);
}
