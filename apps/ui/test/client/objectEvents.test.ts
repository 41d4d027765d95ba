import { LAST_WRITER, type Resource, refOf, resourceKeyOf } from "@isthmus/core";
import { expect, it } from "vitest";
import { emptyFleet, type Fleet } from "../../client/data/fleet.ts";
import { folded, NO_STREAM } from "../../client/data/fold.ts";
import { objectEvents } from "../../client/model/objectEvents.ts";

const policy = {
  apiVersion: "networking.mesh.gloo.solo.io/v1",
  kind: "TrafficPolicy",
  metadata: { name: "p", namespace: "shop", creationTimestamp: "2026-01-01T00:00:00Z" },
  status: {
    conditions: [
      { type: "Accepted", status: "False", reason: "Rejected", message: "no such service", lastTransitionTime: "2026-01-01T00:00:02Z" },
      { type: "Applied", status: "Unknown" },
    ],
  },
} as Resource;
const about = { object: refOf(policy), severity: "error", field: "spec", message: "broken" } as const;
const ended = { ...about, code: "RTE1001", since: "2026-01-01T00:00:01.000Z", until: "2026-01-01T00:00:03.000Z" } as const;
const other = { ...ended, object: { ...about.object, name: "other" } };

it("has the latest first, and nothing of other objects or without a time", () => {
  const insight = { ...about, code: "RTE1002", remedy: "mend it", since: "2026-01-01T00:00:04.000Z" } as never;
  const fleet: Fleet = {
    ...emptyFleet(),
    insights: emptyFleet().insights.with([[resourceKeyOf(about.object), { object: about.object, insights: [insight] }]]),
    ended: [ended, other],
  };
  expect(objectEvents(fleet, policy).map(({ what, code }) => [what, ...(code === undefined ? [] : [code])].join(" "))).toEqual([
    "Insight began RTE1002",
    "Insight ended RTE1001",
    "Accepted became False",
    "Insight began RTE1001",
    "Created",
  ]);
});

it("says by which field manager its spec was changed last, or by which it was created", () => {
  const of = (writer: string) => {
    const annotations = { [LAST_WRITER]: writer };
    const changed = { ...policy, metadata: { ...policy.metadata, annotations, generation: 3 } };
    return objectEvents(emptyFleet(), changed).map(({ what, message, time }) => [what, message, time]);
  };
  const accepted = ["Accepted became False", "no such service", "2026-01-01T00:00:02Z"];
  expect(of("2026-01-02T00:00:00Z kubectl-edit")).toEqual([
    ["Spec changed by kubectl-edit", "generation 3", "2026-01-02T00:00:00Z"],
    accepted,
    ["Created", "", "2026-01-01T00:00:00Z"],
  ]);
  expect(of("2026-01-01T00:00:00Z argocd-controller")).toEqual([accepted, ["Created", "by argocd-controller", "2026-01-01T00:00:00Z"]]);
});

it("adds what has ended to what had, begins again with the stream, and holds so many and no more", () => {
  const source = { kind: "file", name: "x", version: "0", namespace: "gloo-mesh" } as const;
  const many = Array.from({ length: 12_000 }, (_, i) => ({ ...ended, message: String(i) }));
  const stream = folded(NO_STREAM, [
    { type: "reset", data: source },
    { type: "ended", data: [ended] },
    { type: "ended", data: many },
    { type: "ready", data: {} },
  ]);
  expect(stream.shown.ended.length).toBe(10_000);
  expect(stream.shown.ended.at(-1)?.message).toBe("11999");
  const again = folded(stream, [
    { type: "reset", data: source },
    { type: "ended", data: [other] },
    { type: "ready", data: {} },
  ]);
  expect(again.shown.ended).toEqual([other]);
});
