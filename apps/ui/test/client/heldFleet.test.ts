import { type Resource, snapshotOf } from "@isthmus/core";
import { expect, it } from "vitest";
import { emptyFleet, type Fleet } from "../../client/data/fleet.ts";
import { heldFleet } from "../../client/data/heldFleet.ts";
import { freshnessOf } from "../../client/model/clusters/freshness.ts";

const service = (name: string): Resource => ({ apiVersion: "v1", kind: "Service", metadata: { name, namespace: "a", clusterName: "c" } });
const AT = "2026-01-01T12:00:00.000Z";
const before: Fleet = {
  ...emptyFleet(),
  source: { kind: "server", name: "s", version: "1", namespace: "gloo-mesh" },
  snapshot: snapshotOf([service("a"), service("b")]),
  isReady: true,
  clock: { now: AT, at: AT, clusters: [] },
};
const start = { since: 1_000, serverNow: Date.parse(AT) };

it("counts what differs from what is held, and stops counting when all was sent again", () => {
  const held = heldFleet(before, start);
  expect(held.beside(before, false)).toEqual({ ...start, changes: 0 });
  const after = { ...before, snapshot: before.snapshot.apply({ put: [service("c")], remove: [{ ...service("a").metadata, ...KIND }] }) };
  expect(held.beside(after, false).changes).toBe(2);
  expect(held.beside({ ...after, generated: snapshotOf([service("x")]) }, false).changes).toBe(3);
  expect(held.fleet).toBe(before);
  expect(held.beside(after, true).changes).toBeUndefined();
  expect(held.beside(after, false).changes).toBeUndefined();
});

const KIND = { apiVersion: "v1", kind: "Service", name: "a", namespace: "a", clusterName: "c" };

it("says since when it is paused, and still says when the connection is lost, or a cluster", () => {
  const paused = { since: 1_000, changes: 2 };
  const state = { fleet: before, live: before, paused, connection: { isConnected: true, since: 0 }, clockAt: 1_000 };
  expect(freshnessOf(state, 2_000)).toMatchObject({
    isStale: true,
    tone: "warning",
    text: expect.stringMatching(/^paused since .* · 2 changes wait$/),
  });
  expect(freshnessOf({ ...state, paused: { since: 1_000, changes: undefined } }, 2_000).text).toContain("everything was loaded again");
  const cut = freshnessOf({ ...state, connection: { isConnected: false, since: 1_500 } }, 2_000);
  expect(cut.text).toMatch(/^paused since .*disconnected since/);
  const live: Fleet = { ...before, clock: { now: AT, at: AT, clusters: [{ name: "c", at: AT, phase: "stale" }] } };
  expect(freshnessOf({ ...state, live }, 2_000).frozen).toHaveLength(1);
  // An earlier moment stands still anyway.
  expect(freshnessOf({ ...state, fleet: { ...before, past: AT } }, 2_000).text).not.toContain("paused");
});
