import { snapshotOf } from "@isthmus/core";
import { expect, test } from "vitest";
import { SUPPRESS_ANNOTATION, suppressionApplied } from "../src/index.ts";
import { fixture, insightsIn, OPTIONS } from "./fixtures.ts";

function evaluatedWith(annotation: string) {
  const annotated = fixture("BP0001", "finds").map((object) => ({
    ...object,
    metadata: { ...object.metadata, annotations: { [SUPPRESS_ANNOTATION]: annotation } },
  }));
  const known = snapshotOf(annotated);
  const { shown, suppressed, problems } = suppressionApplied(insightsIn(known).all, known, OPTIONS.now);
  return {
    shown: shown.map(({ code }) => code),
    suppressed: suppressed.map(({ insight, reason }) => `${insight.code} ${reason}`),
    problems,
  };
}

test.each([
  ["BP0001: shared by all teams", "shared by all teams"],
  ["RTE1001: other\nBP0001 until 2026-02-01: until the move", "until the move"],
  ["RTE1001: other; BP*: no best practice here", "no best practice here"],
])("what %j suppresses is kept apart, with its reason", (annotation, reason) => {
  expect(evaluatedWith(annotation)).toEqual({ shown: [], suppressed: [`BP0001 ${reason}`], problems: [] });
});

test.each([
  ["BP0001 until 2026-01-31: until the move", "the suppression of BP0001 has ended on 2026-01-31: remove it, or extend it"],
  ["BP0001", '"BP0001" is not of the form "CODE until YYYY-MM-DD: reason", so it suppresses nothing'],
  ["BP0001 until tomorrow: x", '"BP0001 until tomorrow: x" is not of the form "CODE until YYYY-MM-DD: reason", so it suppresses nothing'],
  ["*: all", '"*: all" is not of the form "CODE until YYYY-MM-DD: reason", so it suppresses nothing'],
])("%j suppresses nothing, and that is said", (annotation, problem) => {
  const message = `VirtualService bookinfo/reviews in cluster-1: annotation ${SUPPRESS_ANNOTATION}: ${problem}`;
  expect(evaluatedWith(annotation)).toEqual({ shown: ["BP0001"], suppressed: [], problems: [message] });
});

test("a suppression of another code, or on another object, suppresses nothing", () => {
  expect(evaluatedWith("BP0002: other")).toEqual({ shown: ["BP0001"], suppressed: [], problems: [] });
});
