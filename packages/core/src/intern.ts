/**
 * A direct-mapped cache of values that came before. Whether one equals another, who asks compares: a comparison that is given to the cache would be
 * called, for each text of each object that is read, where V8 puts this one into the loop.
 */
export interface InternPool<T> {
  /** The value that was kept last under a `hash`, a number of 32 bits, signed: the same for equal values, and for few others. */
  withHash(hash: number): T | undefined;
  /** Keeps a value for those that come after it. It takes the place of another whose hash ends alike. */
  keep(value: T, hash: number): void;
}

/** A cache of `places` values, a power of two: what recurs is found at the place that its hash gives, until something else takes it. */
export function internPool<T>(places: number): InternPool<T> {
  const hashes = new Int32Array(places);
  const values: (T | undefined)[] = new Array<undefined>(places).fill(undefined);
  return {
    withHash(hash) {
      const place = hash & (places - 1);
      // What is far away in memory is looked at only where it is nearly always the same.
      return hashes[place] === hash ? values[place] : undefined;
    },
    keep(value, hash) {
      const place = hash & (places - 1);
      hashes[place] = hash;
      values[place] = value;
    },
  };
}

/**
 * The value itself, or one that says the same and was given before, so that what recurs is held once: a text (keys of objects are made
 * again wherever they are needed), or a JSON value that is made by the hundred thousand and has few forms. A JSON value must not be
 * changed afterwards.
 */
export function intern(text: string): string;
export function intern<T extends object>(value: T): T;
export function intern(value: string | object): string | object {
  if (typeof value === "string") return knownText(value, textHashOf(value)) ?? value;
  const text = JSON.stringify(value);
  // All of it: lists of one form begin alike.
  const hash = textHashOf(text, text.length);
  const known = forms.withHash(hash);
  if (known?.text === text) return known.value;
  forms.keep({ text, value }, hash);
  return value;
}

/** An equal text that was given before, by its `textHashOf`. Undefined: none is known, and this one is for those that come after it. */
export function knownText(text: string, hash: number): string | undefined {
  if (text.length > LONGEST) return undefined;
  const known = texts.withHash(hash);
  if (known === text) return known;
  texts.keep(text, hash);
  return undefined;
}

/** A number that equal texts have in common, of 32 bits: FNV-1a of a text, or of the beginning of one that is longer than `longest`. */
export function textHashOf(text: string, longest = LONGEST): number {
  // Not looked up on each text: V8 has a form of its own for joined, cut, internal … texts, and a method that it finds on more than four of them
  // takes five times as long for each character. And from here, where V8 knows what it is, and puts it into the loop: a constant of the module it calls.
  const codeAt = String.prototype.charCodeAt;
  let hash = text.length;
  const end = Math.min(text.length, longest);
  for (let i = 0; i < end; i++) hash = Math.imul(hash ^ (codeAt.call(text, i) as number), 0x01000193);
  return hash ^ (hash >>> 15);
}

/**
 * A list, or one of the same objects that came before: the policies and meshes of one Destination are those of many. One list is
 * known of each `origin` (by default what lists begin with; else what they were made of, say), and one of each end.
 */
export function internList<T extends object>(list: readonly T[], origin: object | undefined = list[0]): readonly T[] {
  const last = list[list.length - 1];
  if (origin === undefined || last === undefined) return list;
  for (const known of [listsByOrigin.get(origin), listsByEnd.get(last)]) {
    // Of the same objects, and so of the same type. What is found one way leaves the other to another list.
    if (known?.length === list.length && known.every((item, at) => item === list[at])) return known as readonly T[];
  }
  listsByOrigin.set(origin, list);
  listsByEnd.set(last, list);
  return list;
}

// Longer texts seldom recur, and would keep much alive.
const LONGEST = 128;
// About as many as one cluster of a thousand services has names and keys.
const texts = internPool<string>(1 << 17);
// Forms that recur do so soon: what is made of one cluster after the other has the same thousands in each.
const forms = internPool<{ readonly text: string; readonly value: object }>(1 << 12);
const listsByOrigin = new WeakMap<object, readonly object[]>();
const listsByEnd = new WeakMap<object, readonly object[]>();
