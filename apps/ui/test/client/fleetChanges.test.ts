import { type Resource, runToCompletion, snapshotOf } from "@isthmus/core";
import { expect, it } from "vitest";
import { emptyFleet, type Fleet } from "../../client/data/fleet.ts";
import { fleetChanges } from "../../client/model/history/fleetChanges.ts";

function service(name: string, spec: object, metadata: object = {}): Resource {
  return { apiVersion: "v1", kind: "Service", metadata: { name, namespace: "a", clusterName: "c", ...metadata }, spec } as Resource;
}

const fleet = (objects: readonly Resource[], generated: readonly Resource[] = []): Fleet => ({
  ...emptyFleet(),
  snapshot: snapshotOf(objects),
  generated: snapshotOf(generated),
});

it("what differs between two times is what users see: objects that came, went, or changed", () => {
  const before = fleet(
    [service("kept", { a: 1 }, { resourceVersion: "1" }), service("gone", {}), service("changed", { a: 1 }, { resourceVersion: "1" })],
    [service("generated", {})],
  );
  const after = fleet([
    service("kept", { a: 1 }, { resourceVersion: "2", managedFields: [{}] }),
    service("changed", { a: 2 }, { resourceVersion: "2" }),
    service("new", {}),
  ]);
  const { objects, generated } = runToCompletion(fleetChanges(before, after));
  const named = (all: typeof objects) => all.map((change) => [change.before?.metadata.name, change.after?.metadata.name]);
  expect(named(objects)).toEqual([
    ["changed", "changed"],
    ["gone", undefined],
    [undefined, "new"],
  ]);
  expect(JSON.stringify(objects)).not.toContain("resourceVersion");
  expect(named(generated)).toEqual([["generated", undefined]]);
  expect(runToCompletion(fleetChanges(after, after))).toEqual({ objects: [], generated: [] });
});
