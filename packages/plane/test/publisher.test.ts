import { Destination } from "@isthmus/api";
import { type Resource, type ResourceRef, refOf, resourceKeyOf, runToCompletion, SortedMap, snapshotOf, uptimeOf } from "@isthmus/core";
import { discoveryOwner } from "@isthmus/translators";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Applier } from "../src/apply/applier.ts";
import { type Publisher, publisher } from "../src/server/publisher.ts";
import { clock, quiet } from "./virtualTime.ts";

const owner = discoveryOwner({ namespace: "gloo-mesh" });
const ratings: Resource = {
  apiVersion: "discovery.mesh.gloo.solo.io/v1",
  kind: Destination.kind,
  metadata: { name: "ratings-bookinfo-east", namespace: "gloo-mesh", labels: { [owner.label]: owner.value } },
};
const desired = SortedMap.empty<Resource>().update([[resourceKeyOf(refOf(ratings)), ratings]]);
const nothing = SortedMap.empty<Resource>();
// Longer than the publisher waits before it deletes what returned.
const LONG = 3 * 60_000;

let stop: AbortController;
/** What was pruned. */
let pruned: ResourceRef[];
/** What bears our label in the cluster, as the applier sees it. */
let surplus: ResourceRef[];
let published: Publisher;
let undecided: number;

beforeEach(() => {
  stop = new AbortController();
  [pruned, surplus, undecided] = [[], [], 0];
  const applier = {
    put: () => undefined,
    remove: () => undefined,
    prune: (ref: ResourceRef) => void pruned.push(ref),
    surplus: () => surplus,
    desired: new Map(),
  } as unknown as Applier;
  const options = { applier, owners: [owner], isPublished: () => true, clock, undecided: () => void undecided++ };
  published = publisher(options, stop.signal);
});
afterEach(() => stop.abort());

/** Publishes what follows from a state of the management cluster that was taken at a time. */
function publish(wanted: SortedMap<Resource>, held: readonly Resource[], takenAt: number): void {
  const evidenceOf = () => ({ reason: "InputChanged" as const, inputs: [] });
  runToCompletion(published.publish(wanted, { management: snapshotOf(held), takenAt, evidenceOf }));
}

it("what returns waits for a publication by a state that is younger, however long that takes", async () => {
  publish(desired, [ratings], uptimeOf(clock));
  const before = uptimeOf(clock);
  await quiet(10);
  // Translation is held up with a state in which the object had not been deleted yet.
  published.observed({ put: [], remove: [refOf(ratings)] });
  published.observed({ put: [ratings], remove: [] });
  publish(nothing, [ratings], before);
  await quiet(LONG);
  expect(pruned).toEqual([]);
  expect(undecided).toBeGreaterThan(1);

  await quiet(10);
  publish(nothing, [ratings], uptimeOf(clock));
  await quiet(LONG);
  expect(pruned).toEqual([refOf(ratings)]);
});

it("what comes while the first state is translated waits as well; what was in it is pruned at once", async () => {
  const before = uptimeOf(clock);
  await quiet(10);
  const other = { ...ratings, metadata: { ...ratings.metadata, name: "stale" } };
  surplus = [refOf(ratings), refOf(other)];
  publish(nothing, [other], before);
  expect(pruned).toEqual([refOf(other)]);
  await quiet(LONG);
  expect(pruned).toEqual([refOf(other)]);

  await quiet(10);
  publish(nothing, [ratings], uptimeOf(clock));
  await quiet(LONG);
  expect(pruned).toEqual([refOf(other), refOf(ratings)]);
});
