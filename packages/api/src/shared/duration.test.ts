import { expect, test } from "vitest";
import { canonicalDuration, nanosecondsOf } from "./duration.ts";

test.each([
  ["5s", "5s"],
  ["100ms", "0.100s"],
  ["1h2m3.5s", "3723.500s"],
  ["1.5h", "5400s"],
  ["0.000000001s", "0.000000001s"],
  ["1us", "0.000001s"],
  ["1µs", "0.000001s"],
  [".5s", "0.500s"],
  ["0", "0s"],
  ["0s", "0s"],
  ["-1.5s", "-1.500s"],
  ["+2s", "2s"],
  ["1.1s", "1.100s"],
])("%s is written as %s", (text, written) => {
  expect(canonicalDuration(text)).toBe(written);
});

test.each(["", "5", "s", "5 s", "1d", "5s ", "abc"])("%j is no duration", (text) => {
  expect(nanosecondsOf(text)).toBeUndefined();
});
