import { describe, expect, it } from "vitest";
import { matchesLabels, matchesSelector } from "../src/index.ts";

describe("a selector", () => {
  it("takes nothing for a label that every object has", () => {
    for (const key of ["constructor", "toString", "__proto__"]) {
      expect(matchesSelector({ matchExpressions: [{ key, operator: "Exists" }] }, {})).toBe(false);
      expect(matchesSelector({ matchExpressions: [{ key, operator: "DoesNotExist" }] }, {})).toBe(true);
      expect(matchesLabels(JSON.parse(`{"${key}":"x"}`), {})).toBe(false);
      expect(matchesSelector({ matchExpressions: [{ key, operator: "Exists" }] }, JSON.parse(`{"${key}":"x"}`))).toBe(true);
    }
  });
});
