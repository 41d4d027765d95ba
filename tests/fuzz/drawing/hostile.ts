import type { Random } from "../../faults/random.ts";

/** Keys that mean something to JavaScript, sort elsewhere than they were written, or cannot be printed. As JSON texts. */
export const KEYS: readonly string[] = [
  ...["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf", "toJSON", "then", "length", "size"],
  ...["0", "1", "-1", "4294967295", "1e3", "", " ", ".", "..", "/", "*", "a.b.c", "a|b", "null", "undefined", "NaN", "$ref", "<<"],
  ...["metadata", "spec", "status", "name", "namespace", "clusterName", "labels", "kind", "apiVersion", "items", "data"],
]
  .map((key) => JSON.stringify(key))
  .concat('"\\u0000"', '"\\ud800"', '"\\udfff\\ud800"', '"\\u202e"', `"${"k".repeat(300)}"`);

/** Texts as JSON. */
const TEXTS: readonly string[] = [
  ...KEYS,
  ...[
    "true",
    "5s",
    "1h0m",
    "-1s",
    "9".repeat(40),
    "1e400",
    "127.0.0.1",
    "::1",
    "256.1.1.1",
    "10.0.0.0/8",
    "http://[",
    "%REQ(x)%",
    "(a+)+$",
  ],
  ...["*.global", "a..b", "-a-", "A_B", "cluster-1", "good.", ".good", "istio-system", "gloo-mesh", "kube-system", "2026-13-45T99:99:99Z"],
  ...["1970-01-01T00:00:00Z", "spiffe://", "cluster.local", "-----BEGIN CERTIFICATE-----", "\ud83d\ude00", "e\u0301", "\u2028", "\ufeff"],
].map((text, index) => (index < KEYS.length ? text : JSON.stringify(text)));

const NUMBERS: readonly string[] = [
  ...["0", "-0", "1", "-1", "0.1", "1.5", "65535", "65536", "2147483648", "4294967296", "9007199254740993", "1e21", "1e400", "-1e400"],
  ...["5e-324", "1E+2", "123456789012345678901234567890", "3.141592653589793238462643383279"],
];

const SIMPLE: readonly string[] = ["null", "true", "false", "{}", "[]", '""', "[[]]", "[{}]", "[null]", '{"":null}'];

/** A key as JSON. */
export function hostileKey(random: Random): string {
  return random.int(200) === 0 ? longText(random) : random.pick(KEYS);
}

/** A text as JSON. */
export function hostileText(random: Random): string {
  return random.int(100) === 0 ? longText(random) : random.pick(TEXTS);
}

// Up to what a label, a name or an annotation may hold at most, and beyond.
const LENGTHS = [63, 64, 253, 254, 1_000, 10_240, 65_536, 262_144];
const UNITS = ["a", "a-", "a.", "-", "\\u0000", "\u00e9", "\\ud800", "1", " ", "\\n", "(a", "*", "%", ":", '\\"'];

export function longText(random: Random): string {
  // The longest are rare: inputs are to be many.
  const most = random.int(20) === 0 ? LENGTHS.length : 5;
  return `"${random.pick(UNITS).repeat(LENGTHS[random.int(most)] ?? 63)}"`;
}

/** Any value as JSON; `depth` is how deep it may be nested in earnest. */
export function hostileValue(random: Random, depth = 3): string {
  switch (random.int(depth > 0 ? 12 : 7)) {
    case 0:
    case 1:
      return random.pick(SIMPLE);
    case 2:
    case 3:
      return random.pick(NUMBERS);
    case 4:
    case 5:
    case 6:
      return hostileText(random);
    case 7:
      return random.int(12) === 0 ? deepValue(random) : random.pick(SIMPLE);
    case 8:
      return `[${list(random, () => hostileValue(random, depth - 1))}]`;
    default:
      return `{${list(random, () => `${hostileKey(random)}:${hostileValue(random, depth - 1)}`)}}`;
  }
}

function list(random: Random, element: () => string): string {
  const parts: string[] = [];
  for (let left = random.int(5); left > 0; left--) parts.push(element());
  return parts.join(",");
}

const NESTINGS: readonly (readonly [string, string])[] = [
  ["[", "]"],
  ['{"a":', "}"],
  ['{"labels":', "}"],
  ['[{"a":1,"b":', "}]"],
  ['{"__proto__":', "}"],
];
const DEPTHS = [8, 63, 64, 65, 128];
// Where stacks end, which depends on who recurses.
const [SHALLOWEST, DEEPEST] = [500, 20_000];

/** Nested deeper than anybody means, in few bytes. */
export function deepValue(random: Random): string {
  const [open, close] = random.pick(NESTINGS);
  const depth = random.int(2) === 0 ? random.pick(DEPTHS) : SHALLOWEST + random.int(DEEPEST - SHALLOWEST);
  return open.repeat(depth) + random.pick(SIMPLE) + close.repeat(depth);
}

/** Many members or elements, none of them large. */
export function wideValue(random: Random): string {
  const count = random.pick([100, 1_000, 5_000]);
  const members: string[] = [];
  const element = random.pick(SIMPLE);
  if (random.int(2) === 0) return `[${`${element},`.repeat(count)}${element}]`;
  const key = random.pick(["k", "", "app.kubernetes.io/k", "4"]);
  for (let i = 0; i < count; i++) members.push(`"${key}${i}":${element}`);
  return `{${members.join(",")}}`;
}
