import type { Random } from "../../faults/random.ts";
import { KEYS } from "./hostile.ts";
import { mutatedBytes } from "./mutated.ts";

const SCALARS = [
  "a",
  "1",
  "true",
  "null",
  "~",
  "''",
  '"\\0"',
  "!!binary AAAA",
  "!!float .nan",
  "*a",
  "*missing",
  "&a b",
  "0x1f",
  "1e400",
  "|\n  x",
  ">-\n  y",
  "? k",
  "!<tag> x",
  "2001-01-01",
  "- -",
  "{",
  "]",
];

/** YAML text: right in large parts, with aliases, deep flows, many keys and what its grammar knows besides. */
export function hostileYaml(random: Random, seeds: readonly string[]): Buffer {
  switch (random.int(10)) {
    case 0:
      return Buffer.from(aliasBomb(random));
    case 1:
      return Buffer.from(deepYaml(random));
    case 2:
      return Buffer.from(wideYaml(random));
    case 3:
      return mutatedBytes(Buffer.from(randomYaml(random)), random);
    default:
      return mutatedBytes(Buffer.from(random.pick(seeds)), random, 4);
  }
}

/** Each line names the one before several times: so many values as no memory holds. */
function aliasBomb(random: Random): string {
  const [lines, width] = [random.pick([3, 9, 30]), random.pick([2, 9])];
  const isMap = random.int(2) === 0;
  let text = "a0: &a0 [x, x]\n";
  for (let line = 1; line < lines; line++) {
    const names = new Array<string>(width).fill(`*a${line - 1}`);
    text += `a${line}: &a${line} ${isMap ? `{${names.map((name, i) => `k${i}: ${name}`).join(", ")}}` : `[${names.join(", ")}]`}\n`;
  }
  return random.int(4) === 0 ? `${text}<<: [${`*a${lines - 1}, `.repeat(width)}*a0]\n` : text;
}

const DEPTHS = [10, 64, 65, 500, 2_000, 10_000];

function deepYaml(random: Random): string {
  const depth = random.pick(DEPTHS);
  switch (random.int(4)) {
    case 0:
      return "[".repeat(depth) + (random.int(2) === 0 ? "]".repeat(depth) : "");
    case 1:
      return `${"{a: ".repeat(depth)}1${"}".repeat(depth)}`;
    case 2:
      return `${"- ".repeat(depth)}x`;
    default: {
      let text = "";
      // Indented, each level takes more than the one before.
      for (let level = 0; level < Math.min(depth, 300); level++) text += `${" ".repeat(level)}k:\n`;
      return text;
    }
  }
}

function wideYaml(random: Random): string {
  const count = random.pick([10, 100, 1_000, random.int(10) === 0 ? 10_000 : 200]);
  const key = random.pick(["k", "&a k", "? k", '"k', "- k"]);
  const value = random.pick(SCALARS);
  let text = "";
  for (let i = 0; i < count; i++) text += `${key}${i}${key === '"k' ? '"' : ""}: ${value}\n`;
  return text;
}

function randomYaml(random: Random): string {
  let text = "";
  for (let left = 1 + random.int(20); left > 0; left--) {
    text += `${" ".repeat(random.int(4))}${random.pick(["", "- ", "? ", "--- ", "...\n", "%YAML 1.2\n", "# "])}${random.pick(KEYS)}: ${random.pick(SCALARS)}\n`;
  }
  return text;
}
