import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ExpositionLimits, type ExpositionResult, expositionParser, type MetricSample } from "../src/exposition.ts";

const LIMITS = { bytes: 1_000_000, samples: 1_000 };

/** What is read of a text that comes in parts of `size` bytes. */
function readText(
  text: string | Uint8Array,
  { names = ["a", "b"], size = 7, limits = LIMITS }: { names?: readonly string[]; size?: number; limits?: ExpositionLimits } = {},
): ExpositionResult & { readonly taken: readonly MetricSample[] } {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const taken: MetricSample[] = [];
  const parser = expositionParser(new Set(names), (sample) => taken.push(sample), limits);
  for (let at = 0; at < bytes.length; at += size) if (!parser.write(bytes.subarray(at, at + size))) break;
  return { taken, ...parser.end() };
}

const escaped = (text: string) => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
const samples = fc.array(
  fc.record({
    name: fc.constantFrom("a", "b", "c"),
    labels: fc.uniqueArray(fc.tuple(fc.constantFrom("x", "y", "le"), fc.string({ unit: "grapheme", maxLength: 8 })), {
      selector: ([name]) => name,
      maxLength: 3,
    }),
    value: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
  }),
  { maxLength: 20 },
);

describe("an exposition", () => {
  it("is read wherever it is cut: names, labels with anything in them, values", () => {
    fc.assert(
      fc.property(samples, fc.integer({ min: 1, max: 40 }), (given, size) => {
        const lines = given.map(({ name, labels, value }) => {
          const list = labels.map(([label, text]) => `${label}="${escaped(text)}"`).join(",");
          return `${name}${list === "" ? "" : `{${list}}`} ${value}\n`;
        });
        const { taken, malformed } = readText(`# TYPE a counter\n\n${lines.join("# HELP b a=\n")}`, { size });
        const expected = given.filter(({ name }) => name !== "c");
        expect(taken.map(({ name, labels, value }) => ({ name, labels: [...labels], value }))).toEqual(
          expected.map(({ name, labels, value }) => ({ name, labels, value })),
        );
        expect(malformed).toBe(0);
      }),
      { numRuns: 100 },
    );
  });

  it("reads a timestamp, an exemplar, infinities and spaces between labels", () => {
    const text = 'a{x="1", y="2",} +Inf 1700000000\nb{x="1"} 5 # {trace_id="a"} 1\na 1e3\nb{__proto__="p"} 1\n';
    expect(readText(text).taken.map(({ labels, value }) => [Object.fromEntries(labels), value])).toEqual([
      [{ x: "1", y: "2" }, Number.POSITIVE_INFINITY],
      [{ x: "1" }, 5],
      [{}, 1000],
      [Object.fromEntries([["__proto__", "p"]]), 1],
    ]);
  });

  it("gives no sample for what is none, and reads the next line", () => {
    const bad = ["a{", 'a{x="1" 1', 'a{x="1\\"} 1', 'a{="1"} 1', "a{x=1} 1", "a one", "a NaN", "a", "a "];
    const { taken, malformed } = readText(`${bad.join("\n")}\na 7\n`);
    expect(taken.map(({ value }) => value)).toEqual([7]);
    // The last two have no value, and one of them no end of its name: it is no metric that anybody asked for.
    expect(malformed).toBe(bad.length - 1);
  });

  it("does not take the beginning of a number for it", () => {
    expect(readText("a 1\na 12").taken.map(({ value }) => value)).toEqual([1]);
  });

  it("ends at its limits: bytes, samples, the length of a line", () => {
    expect(readText("a 1\n".repeat(100), { limits: { bytes: 40, samples: 1_000 } })).toMatchObject({
      bytes: 40,
      samples: 10,
      isTruncated: true,
    });
    expect(readText("a 1\n".repeat(100), { limits: { bytes: 1_000, samples: 3 } })).toMatchObject({ samples: 3, isTruncated: true });
    const long = `a{x="${"y".repeat(100_000)}"} 1\na 2\n`;
    for (const size of [1_000, 200_000]) expect(readText(long, { size })).toMatchObject({ samples: 1, malformed: 1, isTruncated: false });
  });

  it("takes any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.integer({ min: 1, max: 50 }), (bytes, size) => {
        const { bytes: count } = readText(Buffer.concat([Buffer.from("a{x"), bytes, Buffer.from("\na 3\n")]), { size });
        expect(count).toBe(bytes.length + 8);
      }),
      { numRuns: 200 },
    );
  });
});
