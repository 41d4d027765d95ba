import { nanosecondsOf } from "@isthmus/api";
import { growthOf, LARGE_TEXT, leastCpuMs, MOST_GROWTH, PATIENCE_MS, repeated, SMALL_TEXT } from "@isthmus/testing";
import { describe, expect, it } from "vitest";
import { MAX_MESH_CONFIG_BYTES, meshConfigOf } from "../src/discovery/detectors/istioMeshConfig.ts";
import { imageVersion } from "../src/discovery/image.ts";
import { labelFindings, regexFindings } from "../src/policy/limits.ts";

// Regular expressions that are put together when the program runs; all others are in tests/security/harness/regularExpressions.ts.
const RUNS: readonly (readonly [string, (text: string) => unknown, readonly string[]])[] = [
  ["an image", imageVersion, ["a", "a.", "a-", "a/", "a_", "a.a-a/", "a:", "A", "a@a"]],
  ["a label's key", (text) => labelFindings("p", { [text]: "x" }), ["a", "a.", "a-", "a_"]],
  ["a label's value", (text) => labelFindings("p", { x: text }), ["a", "a.", "a-", "a_"]],
  ["a regular expression", (text) => regexFindings("p", text), ["(?:a|b)*", "a{1,9}", "[a-z]", "(?i)", "\\"]],
  ["a duration", nanosecondsOf, ["1ms", "1m", "1", "1.1s", ".1h"]],
];

describe("what others write costs its length", () => {
  it.each(RUNS.flatMap(([what, run, parts]) => parts.map((part) => [what, part, run] as const)))(
    "as %s: %j, over and over",
    (_, part, run) => {
      expect(growthOf((text) => void run(text), repeated(part, "!"))).toBeLessThan(MOST_GROWTH);
    },
    PATIENCE_MS,
  );

  // A mistake of each character, keys, anchors, aliases, comments: the library is run, and what we make of what it finds.
  it.each(["[,,,,,,", "a: ]\n", "? ", "- a\n", "&a x\n", "*a ", "# c\n", "1_0:2,", "!!str ", "a: 1\n", "---\n", '"\\x41'])(
    "as a mesh configuration: %j, over and over",
    (part) => {
      expect(LARGE_TEXT).toBe(MAX_MESH_CONFIG_BYTES);
      const took = [SMALL_TEXT, LARGE_TEXT].map((length) => {
        const mesh = part.repeat(length / part.length);
        // Another object each time: what was read of one is remembered.
        return leastCpuMs(() => void meshConfigOf({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "istio" }, data: { mesh } }));
      });
      const [small = 0, large = 0] = took;
      // Too short to be compared, and so nobody's concern.
      if (large > 20) expect(large / small).toBeLessThan(MOST_GROWTH);
    },
    PATIENCE_MS,
  );
});
