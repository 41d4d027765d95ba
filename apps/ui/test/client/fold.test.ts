import type { ConsoleInsight } from "@isthmus/console/wire";
import { type Resource, type ResourceRef, refOf, snapshotOf } from "@isthmus/core";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Fleet } from "../../client/data/fleet.ts";
import { type FleetEvent, folded, NO_STREAM } from "../../client/data/fold.ts";
import { countsAfter, NO_OBJECTS } from "../../client/model/objectCounts.ts";

const KINDS = [
  { apiVersion: "v1", kind: "Service" },
  { apiVersion: "networking.istio.io/v1", kind: "VirtualService" },
] as const;

const anyResource = fc
  .record({ kind: fc.nat(1), name: fc.nat(5), cluster: fc.nat(2), version: fc.nat(9) })
  .map(({ kind, name, cluster, version }): Resource => {
    const clusterName = cluster === 0 ? {} : { clusterName: `c${cluster}` };
    return {
      ...(KINDS[kind] ?? KINDS[0]),
      metadata: { name: `o${name}`, namespace: "ns", ...clusterName, resourceVersion: String(version) },
    };
  });
const anyChange = fc.record({ put: fc.array(anyResource, { maxLength: 6 }), remove: fc.array(anyResource.map(refOf), { maxLength: 4 }) });
const anyEvent: fc.Arbitrary<FleetEvent> = fc.oneof(
  { weight: 5, arbitrary: anyChange.map((data) => ({ type: "change" as const, data })) },
  { weight: 3, arbitrary: anyChange.map((data) => ({ type: "generated" as const, data })) },
  {
    weight: 3,
    arbitrary: fc.tuple(anyResource, fc.nat(2)).map(([object, count]) => ({
      type: "insights" as const,
      data: {
        at: "2026-01-01T00:00:00Z",
        changed: [{ object: refOf(object), insights: insightsOf(refOf(object), count) }],
        unknown: [],
        forgotten: [],
      },
    })),
  },
  { weight: 1, arbitrary: fc.constant({ type: "reset" as const, data: SOURCE() }) },
  { weight: 1, arbitrary: fc.constant({ type: "ready" as const, data: {} }) },
);

function SOURCE() {
  return { kind: "server" as const, name: "test", version: "1", namespace: "gloo-mesh" };
}

function insightsOf(object: ResourceRef, count: number): readonly ConsoleInsight[] {
  return Array.from({ length: count }, (_, i) => ({
    code: "RTE1001",
    category: "RTE",
    severity: "error",
    object,
    cluster: object.clusterName,
    field: `spec.f${i}`,
    message: "wrong",
    remedy: { text: "mend it" },
    since: "2026-01-01T00:00:00Z",
  }));
}

function contentOf(fleet: Fleet) {
  // A kind whose last object is gone, and one that never had any, are the same.
  const list = (snapshot: Fleet["snapshot"]) =>
    [...snapshot.collections()]
      .filter(([, { size }]) => size > 0)
      .map(([kind, objects]) => [kind, [...objects]])
      .sort();
  return { objects: list(fleet.snapshot), generated: list(fleet.generated), insights: [...fleet.insights] };
}

it("gives the same for events one by one as for all at once", () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 25 }), (events) => {
      const oneByOne = events.reduce((stream, event) => folded(stream, [event]), NO_STREAM);
      const atOnce = folded(NO_STREAM, events);
      expect(contentOf(atOnce.shown)).toEqual(contentOf(oneByOne.shown));
      expect(atOnce.incoming && contentOf(atOnce.incoming)).toEqual(oneByOne.incoming && contentOf(oneByOne.incoming));
    }),
  );
});

it("holds what the last word about each object was", () => {
  fc.assert(
    fc.property(fc.array(anyChange, { maxLength: 20 }), (changes) => {
      const last = new Map<string, Resource>();
      for (const { put, remove } of changes) {
        for (const resource of put) last.set(JSON.stringify({ ...refOf(resource) }), resource);
        for (const ref of remove) last.delete(JSON.stringify({ ...ref }));
      }
      const { shown } = folded(
        NO_STREAM,
        changes.map((data) => ({ type: "change", data })),
      );
      const expected = snapshotOf(last.values());
      expect(contentOf(shown).objects).toEqual(contentOf({ ...shown, snapshot: expected }).objects);
    }),
  );
});

it("counts objects as from scratch, at the cost of what changed", () => {
  fc.assert(
    fc.property(fc.array(anyChange, { maxLength: 12 }), (changes) => {
      let [stream, counted] = [NO_STREAM, NO_OBJECTS];
      for (const data of changes) {
        stream = folded(stream, [{ type: "change", data }]);
        counted = countsAfter(counted, stream.shown.snapshot);
        const { byCluster, byKind } = countsAfter(NO_OBJECTS, stream.shown.snapshot);
        expect(counted.byCluster).toEqual(byCluster);
        expect(counted.byKind).toEqual(byKind);
      }
    }),
  );
});

it("keeps showing what it had while a stream that began again is incomplete", () => {
  const service: Resource = { apiVersion: "v1", kind: "Service", metadata: { name: "reviews", namespace: "bookinfo" } };
  const begun: readonly FleetEvent[] = [
    { type: "reset", data: SOURCE() },
    { type: "change", data: { put: [service], remove: [] } },
    { type: "ready", data: {} },
  ];
  const full = folded(NO_STREAM, begun);
  const resuming = folded(full, [{ type: "reset", data: SOURCE() }]);
  expect(contentOf(resuming.shown)).toEqual(contentOf(full.shown));
  expect(resuming.shown.isReady).toBe(true);
  const complete = folded(resuming, [{ type: "ready", data: {} }]);
  expect(contentOf(complete.shown).objects).toEqual([]);
  expect(complete.incoming).toBeUndefined();
});
