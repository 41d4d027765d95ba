import type { Resource } from "@isthmus/core";
import { expect, it } from "vitest";
import { type PhaseName, policyPhase } from "../../client/model/policyPhases.ts";

function phase(
  name: PhaseName,
  condition: object | undefined,
  { generation = 1, observedGeneration = 1, ...counts }: Record<string, number> = {},
) {
  const policy = {
    apiVersion: "networking.mesh.gloo.solo.io/v1",
    kind: "TrafficPolicy",
    metadata: { name: "p", namespace: "shop", generation },
    status: { observedGeneration, ...counts, conditions: condition === undefined ? undefined : [{ type: name, ...condition }] },
  } as unknown as Resource;
  const found = policyPhase(policy, name);
  return found && [found.isDone, found.tone, found.done, found.all];
}

it("says how far a policy is by its conditions and counts", () => {
  expect(phase("Translated", { status: "False", reason: "Refused" }, { targetCount: 3, acceptedCount: 2 })).toEqual([false, "bad", 2, 3]);
  expect(phase("Translated", { status: "False", reason: "NoTargets" }, { targetCount: 0 })).toEqual([false, "warning", 0, 0]);
  expect(phase("Delivered", { status: "False", reason: "Pending", message: "1 of 3 objects delivered to their clusters" })).toEqual([
    false,
    "progress",
    1,
    3,
  ]);
  expect(phase("Applied", { status: "False", reason: "WriteFailed", message: "2 of 3 objects applied, 1 refused" })).toEqual([
    false,
    "bad",
    2,
    3,
  ]);
  expect(phase("Applied", { status: "True", message: "1 of 1 object applied to their API servers; the mesh …" })).toEqual([
    true,
    "good",
    1,
    1,
  ]);
});

it("invents nothing", () => {
  expect(phase("Applied", undefined)).toBeUndefined();
  // Not reported since the server started.
  expect(phase("Applied", { status: "Unknown", message: "3 objects in clusters that have not responded" })).toBeUndefined();
  // Of another generation.
  expect(phase("Applied", { status: "True" }, { generation: 2 })).toBeUndefined();
  for (const message of [
    "",
    "not accepted, so nothing is written",
    "-1 of 2 objects",
    "1 of 2 targets",
    "1e3 of 9 objects",
    `${"9".repeat(20)} of 1 object`,
  ])
    expect(phase("Applied", { status: "False", reason: "Refused", message })).toEqual([false, "bad", undefined, undefined]);
});
