import { describe, expect, test } from "vitest";
import { CLOCK_SKEW_MS } from "../src/agent/trust/controlPlaneReads.ts";
import { withWriteTimes } from "../src/agent/trust/trustTimes.ts";

const HOUR = 3_600_000;
const WRITTEN_AT = Date.parse("2026-01-02T03:04:05Z");

function secretWrittenBy(...managedFields: Record<string, string>[]) {
  return { apiVersion: "v1", kind: "Secret", metadata: { name: "cacerts", namespace: "istio-system", managedFields } };
}
const entry = (manager: string, time: string, extra: Record<string, string> = {}) => ({ manager, operation: "Update", time, ...extra });
const OURS = entry("gloo-mesh", "2026-01-02T03:04:05Z");

describe("what is noted beside a CA", () => {
  test.each([-HOUR, HOUR])("is dated by the API server, though the agent's clock is off by %i ms", (offBy) => {
    const own = WRITTEN_AT + offBy;
    const generations = [
      { roots: ["a"], signer: "a", installedAt: 7, since: 8 },
      { roots: ["b"], signer: "b", installedAt: own, dated: "installedAt" as const },
      { roots: ["b"], signer: "b", installedAt: 9, since: own, dated: "since" as const },
    ];
    const secret = secretWrittenBy(OURS, entry("kubectl", "2026-01-02T09:00:00Z"));
    expect(withWriteTimes(generations, secret)).toEqual([
      { roots: ["a"], signer: "a", installedAt: 7, since: 8 },
      { roots: ["b"], signer: "b", installedAt: WRITTEN_AT },
      { roots: ["b"], signer: "b", installedAt: 9, since: WRITTEN_AT + CLOCK_SKEW_MS },
    ]);
  });

  test.each([
    ["another hand's write is the only one with a time", [entry("kubectl", "2026-01-02T09:00:00Z")], Date.parse("2026-01-02T09:00:00Z")],
    [
      "the times of other subresources do not count",
      [OURS, entry("gloo-mesh", "2026-01-02T09:00:00Z", { subresource: "status" })],
      WRITTEN_AT,
    ],
    ["no write has a time", [], 5],
    ["a time is none", [entry("gloo-mesh", "soon")], 5],
  ])("is never dated too early: %s", (_, managedFields, expected) => {
    const [generation] = withWriteTimes(
      [{ roots: ["a"], signer: "a", installedAt: 5, dated: "installedAt" }],
      secretWrittenBy(...managedFields),
    );
    expect(generation?.installedAt).toBe(expected);
  });
});
