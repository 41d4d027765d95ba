import { expect, test } from "vitest";
import { re2Findings } from "./re2.ts";

test.each(["a+", "test-[0-9]{3}", "(?i)a|b", "[[:alpha:]-]+", "(a{100}){10}", "a{2,}b{1000}", "\\.\\d\\x41", "[\\w.-]*", "{", "\\pL"])(
  "RE2 takes %s",
  (regex) => {
    expect(re2Findings("spec.value", regex)).toEqual([]);
  },
);

test.each([
  ["(?:a{100}){11}", "repeated more than 1000 times"],
  ["a{1001}", "repeated more than 1000 times"],
  ["a{1,1001}", "repeated more than 1000 times"],
  ["((a{10}b){11}){10}", "repeated more than 1000 times"],
  ["\\cA", "not supported"],
  ["\\u0041", "not supported"],
  ["[\\b]", "not supported"],
  ["\\", "not supported"],
  ["[[:letter:]]", "unknown character class"],
  ["[a-\\d]", "no end of a range"],
  ["[]", "empty"],
  ["[^]", "empty"],
])("RE2 refuses %s", (regex, problem) => {
  expect(re2Findings("spec.value", regex)).toMatchObject([{ state: "INVALID", message: expect.stringContaining(problem) }]);
});
