import { LAST_WRITER, snapshotOf } from "@isthmus/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FleetMoment } from "../src/events/fleet.ts";
import { type MomentHistoryOptions, momentHistory } from "../src/events/history.ts";
import { momentOf, object } from "./consoleFixture.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const iso = (ms: number) => new Date(ms).toISOString();
const clockAt = (ms: number) => ({ now: iso(ms), at: iso(ms), clusters: [] });

function taken(times: readonly number[], options: MomentHistoryOptions = {}, momentAt: (i: number) => FleetMoment = () => momentOf([])) {
  const history = momentHistory(options);
  for (const [i, time] of times.entries()) history.add(momentAt(i), clockAt(time));
  return history;
}

describe("the history of a fleet", () => {
  it("has one moment a minute, and says since when it was so", () => {
    const history = taken([0, 59_999, MINUTE, MINUTE + 1, 2 * MINUTE]);
    expect(history.times).toEqual([0, MINUTE, 2 * MINUTE].map(iso));
  });

  it("gives the last moment that began before", () => {
    const moments = [momentOf([object("Service", "a")]), momentOf([object("Service", "b")])];
    const history = taken([MINUTE, 3 * MINUTE], {}, (i) => moments[i] as FleetMoment);
    expect([0, MINUTE - 1, MINUTE, 3 * MINUTE - 1, 3 * MINUTE, HOUR].map((ms) => history.at(iso(ms))?.moment)).toEqual([
      undefined,
      undefined,
      moments[0],
      moments[0],
      moments[1],
      moments[1],
    ]);
    for (const time of ["", "yesterday", "NaN", "9".repeat(1_000)]) expect(history.at(time)).toBeUndefined();
  });

  it("has nothing of what happens in the clusters, nor a moment because of it", () => {
    const fleet = momentOf([object("Service", "a")]);
    const activity = (at: string) => new Map([["cluster-1", { cluster: "cluster-1", at, sync: [], syncBounds: [] }]]);
    const history = taken([0, MINUTE, 2 * MINUTE], {}, (i) => ({ ...fleet, activity: activity(iso(i)) }));
    expect(history.times).toEqual([iso(0)]);
    expect(history.at(iso(2 * MINUTE))?.moment).toEqual(fleet);
  });

  it("takes nothing while nothing changes", () => {
    const same = momentOf([]);
    expect(taken([0, MINUTE, HOUR], {}, () => same).times).toEqual([iso(0)]);
  });

  it("has fewer of what is older than an hour, none of what is older than a day, and always few", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 * MINUTE }), { minLength: 1, maxLength: 300 }), (gaps) => {
        let now = 0;
        const times = gaps.map((gap) => (now += gap));
        const kept = taken(times).times.map((time) => Date.parse(time));
        expect(kept.length).toBeLessThanOrEqual(61 + 24 * 6 + 2);
        expect(new Set(kept).size).toBe(kept.length);
        for (const time of kept) expect(times).toContain(time);
        for (const [i, time] of kept.entries()) {
          if (i > 0) expect(now - time).toBeLessThanOrEqual(24 * HOUR);
          if (i > 0) expect(time - (kept[i - 1] ?? 0)).toBeGreaterThanOrEqual(MINUTE);
        }
        // What was last is never thinned out.
        expect(now - (kept.at(-1) ?? 0)).toBeLessThan(MINUTE);
      }),
    );
  });

  it("knows what was at the beginning of a day in which nothing changed", () => {
    const moments = [momentOf([object("Service", "a")]), momentOf([object("Service", "b")])];
    const history = taken([0, 25 * HOUR], {}, (i) => moments[i] as FleetMoment);
    expect(history.at(iso(24 * HOUR))?.moment).toBe(moments[0]);
    history.add(momentOf([]), clockAt(50 * HOUR));
    expect(history.at(iso(24 * HOUR))).toBeUndefined();
    expect(history.at(iso(49 * HOUR))?.moment).toBe(moments[1]);
  });

  it("never holds more objects than differ in its bound, after thinning, too", () => {
    const momentAt = (i: number) => momentOf(Array.from({ length: 10 }, (_, j) => object("Service", `s${i}-${j}`)));
    const history = taken(
      Array.from({ length: 300 }, (_, i) => i * MINUTE),
      { mostChanges: 500 },
      momentAt,
    );
    const held = new Set(
      history.times.flatMap((time) =>
        [...(history.at(time)?.moment.objects.get("cluster cluster-1")?.collections().values() ?? [])].flatMap((all) => [...all]),
      ),
    );
    // The first is there whole; each other differs in 20, of which 10 are objects of its own.
    expect(held.size).toBeLessThanOrEqual(10 + 500 / 2);
    expect(history.times.length).toBeGreaterThan(20);
  });

  it("says of which kinds and places something changed from one to the next, but nothing of a Secret", () => {
    const moments = [
      [object("Service", "a"), object("Service", "b"), object("Secret", "s")],
      [object("Service", "a", { spec: {} }), object("Pod", "p"), object("Secret", "s", { data: {} })],
    ];
    const history = taken([0, MINUTE], {}, (i) => momentOf(moments[i] ?? []));
    const place = { apiVersion: "v1", namespace: "bookinfo", clusterName: "cluster-1" };
    expect(history.changes.map(({ at }) => at)).toEqual(history.times);
    expect(history.changes.map(({ places }) => [...places].sort((a, b) => (a.kind < b.kind ? -1 : 1)))).toEqual([
      [],
      [
        { ...place, kind: "Pod", count: 1 },
        { ...place, kind: "Service", count: 2 },
      ],
    ]);
  });

  it("forgets the oldest first where much changes", () => {
    const momentAt = (i: number) => momentOf(Array.from({ length: 10 }, (_, j) => object("Service", `s${i}-${j}`)));
    // Each differs from the one before in 20 objects.
    const history = taken(
      [0, 1, 2, 3, 4].map((i) => i * MINUTE),
      { mostChanges: 45 },
      momentAt,
    );
    expect(history.times).toEqual([2, 3, 4].map((i) => iso(i * MINUTE)));
  });

  it("shares what did not change", () => {
    const part = snapshotOf([object("Service", "a")]);
    const moments = [0, 1].map((i) => ({
      ...momentOf([]),
      objects: new Map([
        ["x", part],
        ["y", snapshotOf([object("Pod", `p${i}`)])],
      ]),
    }));
    const history = taken([0, MINUTE], {}, (i) => moments[i] as FleetMoment);
    expect(history.at(iso(0))?.moment.objects.get("x")).toBe(history.at(iso(MINUTE))?.moment.objects.get("x"));
  });

  it("says by which tool a generation was written and why, as far as labels and annotations say so, or else the API server", () => {
    const versions: readonly object[] = [
      {
        annotations: { "argocd.argoproj.io/tracking-id": "shop:networking.mesh.gloo.solo.io/TrafficPolicy:bookinfo/p" },
        labels: { "app.kubernetes.io/managed-by": "Helm" },
      },
      { labels: { "kustomize.toolkit.fluxcd.io/name": "apps" }, annotations: { "kubernetes.io/change-cause": "git 3fa2c1" } },
      { labels: { "app.kubernetes.io/managed-by": "our-operator" } },
      { labels: { "app.kubernetes.io/managed-by": { evil: true } }, annotations: { "kubernetes.io/change-cause": "" } },
      { annotations: { [LAST_WRITER]: "2026-01-01T10:00:00Z kubectl-edit" } },
      { annotations: { "meta.helm.sh/release-name": "x".repeat(1_000), "kubernetes.io/change-cause": "y".repeat(1_000) } },
    ];
    const moments = versions.map((more, i) => {
      const one = object("TrafficPolicy", "p");
      return momentOf([{ ...one, metadata: { ...one.metadata, ...more, generation: i + 1 } } as typeof one]);
    });
    const history = taken(
      versions.map((_, i) => i * MINUTE),
      {},
      (i) => moments[i] as FleetMoment,
    );
    const name = { group: "", kind: "TrafficPolicy", name: "p", namespace: "bookinfo", clusterName: "cluster-1" };
    const origins = history.generationsOf(name)?.generations.map(({ manager, cause }) => [manager, cause]);
    expect(origins).toEqual([
      ["Argo CD application shop", undefined],
      ["Flux Kustomization apps", "git 3fa2c1"],
      ["our-operator", undefined],
      [undefined, undefined],
      ["kubectl-edit", undefined],
      [`Helm release ${"x".repeat(128)}`, "y".repeat(400)],
    ]);
  });
});
