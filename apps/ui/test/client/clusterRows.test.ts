import type { ClusterClock, ConsoleSource } from "@isthmus/console/wire";
import { snapshotOf } from "@isthmus/core";
import { expect, it } from "vitest";
import { emptyFleet, type Fleet } from "../../client/data/fleet.ts";
import { KubernetesCluster } from "../../client/data/kinds.ts";
import { clusterRows, freeName } from "../../client/model/clusters/clusterRows.ts";

const NOW = "2026-01-01T12:00:00.000Z";
const SINCE = "2026-01-01T11:59:22.000Z";

function lagIn(kind: ConsoleSource["kind"], clock: Partial<ClusterClock>, more: { status?: object; insightsAt?: string } = {}) {
  const { apiVersion, kind: registration } = KubernetesCluster;
  const cluster = { apiVersion, kind: registration, metadata: { name: "c1", namespace: "gloo-mesh" }, spec: {}, status: more.status ?? {} };
  const fleet: Fleet = {
    ...emptyFleet(),
    source: { kind, name: "s", version: "1", namespace: "gloo-mesh" },
    snapshot: snapshotOf([cluster]),
    insightsAt: more.insightsAt ?? null,
    clock: { now: NOW, at: NOW, clusters: [{ name: "c1", at: NOW, phase: "synced", connected: true, ...clock }] },
  };
  return clusterRows(fleet)[0]?.lag;
}

it("says since when a cluster is behind, as far as the source knows", () => {
  expect(lagIn("server", { behindSince: SINCE })).toEqual({ since: SINCE });
  expect(lagIn("server", {})).toBe("none");
  const status = { lag: { since: SINCE, changes: 10 } };
  expect(lagIn("store", {}, { status })).toEqual({ since: SINCE });
  // A server that runs would have said so.
  expect(lagIn("store", {}, { insightsAt: "2026-01-01T11:59:10.000Z" })).toBe("short");
  expect(lagIn("store", {}, { insightsAt: "2026-01-01T11:40:00.000Z" })).toBe("unknown");
  expect(lagIn("store", {})).toBe("unknown");
});

it("does not say of a cluster that is not connected, or not known, that it has everything", () => {
  for (const kind of ["server", "store"] as const) {
    expect(lagIn(kind, { connected: false, phase: "stale" }, { insightsAt: NOW })).toBe("unknown");
    expect(lagIn(kind, { phase: "unknown" }, { insightsAt: NOW })).toBe("unknown");
  }
  // What waits for it does.
  expect(lagIn("server", { connected: false, phase: "stale", behindSince: SINCE })).toEqual({ since: SINCE });
});

it("proposes for one more cluster a name that none has", () => {
  expect(freeName([])).toBe("cluster-1");
  expect(freeName(["cluster-1", "east", "cluster-2"])).toBe("cluster-3");
});
