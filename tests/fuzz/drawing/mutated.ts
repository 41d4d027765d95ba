import type { Random } from "../../faults/random.ts";
import { deepValue, hostileKey, hostileText, hostileValue, wideValue } from "./hostile.ts";

/** JSON text of a value, with about so many places of it spoilt: replaced, left out, said twice, of another type, or moved elsewhere. */
export function mutatedText(value: unknown, random: Random, mutations: number): string {
  const chance = mutations / Math.max(1, placesIn(value));
  return written(value, random, chance);
}

/** How many values there are in a value. Valid objects are small, so that this costs little. */
function placesIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  let places = 1;
  for (const key in value) places += placesIn((value as Readonly<Record<string, unknown>>)[key]);
  return places;
}

function written(value: unknown, random: Random, chance: number): string {
  if (random.next() < chance) return spoilt(value, random, chance);
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map((element) => written(element, random, chance)).join(",")}]`;
  const members: string[] = [];
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const text = written(member, random, chance);
    const name = JSON.stringify(key);
    if (random.next() >= chance) members.push(`${name}:${text}`);
    else members.push(...strangeMembers(name, text, random));
  }
  return `{${members.join(",")}}`;
}

function strangeMembers(name: string, text: string, random: Random): readonly string[] {
  switch (random.int(6)) {
    case 0:
      return [];
    case 1:
      return [`${name}:${hostileValue(random)}`, `${name}:${text}`];
    case 2:
      return [`${name}:${text}`, `${name}:${hostileValue(random)}`];
    case 3:
      return [`${hostileKey(random)}:${text}`];
    default:
      return [`${name}:${text}`, `${hostileKey(random)}:${hostileValue(random)}`];
  }
}

function spoilt(value: unknown, random: Random, chance: number): string {
  const kept = () => written(value, random, chance / 4);
  switch (random.int(16)) {
    case 0:
      return "null";
    case 1:
      return `[${kept()}]`;
    case 2:
      return `{${hostileKey(random)}:${kept()}}`;
    case 3:
      return `[${kept()},${kept()}]`;
    case 4:
      return JSON.stringify(typeof value === "object" ? "[object Object]" : String(value).slice(0, 100));
    case 5:
      return random.int(16) === 0 ? deepValue(random) : "{}";
    case 6:
      return random.int(30) === 0 ? wideValue(random) : "[]";
    case 7:
    case 8:
    case 9:
      return hostileText(random);
    case 10:
      return typeof value === "number" ? String(value * random.pick([-1, 0, 1e9, 0.5])) : kept();
    default:
      return hostileValue(random);
  }
}

const BAD_BYTES: readonly Buffer[] = [
  Buffer.from([0xff]),
  Buffer.from([0xc0, 0x80]),
  Buffer.from([0xed, 0xa0, 0x80]),
  Buffer.from([0xef, 0xbb, 0xbf]),
  Buffer.from([0x00]),
  Buffer.from([0xf5, 0x80, 0x80, 0x80]),
];

/** Bytes with some of them cut out, said again and again, flipped, or replaced by what is no UTF-8. Often with none. */
export function mutatedBytes(bytes: Buffer, random: Random, most = 2): Buffer {
  let result = bytes;
  for (let left = random.int(most + 1); left > 0 && result.length > 0; left--) result = once(result, random);
  return result;
}

function once(bytes: Buffer, random: Random): Buffer {
  const at = random.int(bytes.length);
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (random.int(7)) {
    case 0:
      return before;
    case 1:
      return Buffer.concat([before, after.subarray(1 + random.int(16))]);
    case 2: {
      // The same few bytes many times: what regular expressions with two ways to read them stumble over.
      const piece = after.subarray(0, 1 + random.int(12));
      const times = random.pick([2, 10, 30, 60, 200, 2_000]);
      return Buffer.concat([before, ...new Array<Buffer>(times).fill(piece), after]);
    }
    case 3:
      return Buffer.concat([before, random.pick(BAD_BYTES), after]);
    case 4:
      return Buffer.concat([random.pick(BAD_BYTES), bytes]);
    case 5: {
      const flipped = Buffer.from(bytes);
      for (let left = 1 + random.int(8); left > 0; left--) flipped[random.int(flipped.length)] = random.int(256);
      return flipped;
    }
    default: {
      const from = random.int(bytes.length);
      return Buffer.concat([before, bytes.subarray(from, from + 1 + random.int(200)), after]);
    }
  }
}
