import type { JsonObject } from "@isthmus/core";
import { describe, expect, it } from "vitest";
import { type ClusterStanding, clusterStatus, latenessOf } from "../src/server/clusterStatuses.ts";
import type { ClusterState } from "../src/server/snapshotStore.ts";

const cluster = { apiVersion: "multicluster.solo.io/v1alpha1", kind: "KubernetesCluster", metadata: { name: "a", namespace: "gloo-mesh" } };
const agent = { instance: "i", version: "1.0.0", agentNamespace: "gloo-mesh", clusterUid: "u", features: [] };
const connected: ClusterState = { phase: "synced", connected: true, agent, malformed: new Map(), isServed: true };
const away: ClusterState = { ...connected, phase: "stale", connected: false };
const since = Date.parse("2026-11-21T14:00:00Z");

function lagging(standing: Partial<ClusterStanding>): JsonObject | undefined {
  const { status } = clusterStatus(cluster, {
    state: undefined,
    held: 0,
    resumed: undefined,
    certificate: undefined,
    problem: undefined,
    isNameOpen: false,
    late: undefined,
    ...standing,
  });
  return (status["conditions"] as readonly JsonObject[]).find(({ type }) => type === "Lagging");
}

describe("the condition Lagging of a cluster", () => {
  it("says since when how much waits, and for whom", () => {
    expect(lagging({ state: connected })).toMatchObject({ status: "False", reason: "UpToDate" });
    expect(lagging({ state: away })).toMatchObject({ status: "Unknown", reason: "AgentAway" });
    expect(lagging({ state: connected, late: latenessOf(since, () => 234) })).toMatchObject({
      status: "True",
      reason: "NotAcknowledged",
      message: expect.stringContaining("100 objects or more wanted here since 2026-11-21T14:00:00Z wait for the agent's answer"),
    });
    expect(lagging({ state: away, late: latenessOf(since, () => 1) })).toMatchObject({
      status: "True",
      reason: "AgentAway",
      message: expect.stringContaining("something wanted here since 2026-11-21T14:00:00Z waits for an agent"),
    });
  });

  it("does not change with each object", () => {
    expect(latenessOf(since, () => 999)).toEqual(latenessOf(since, () => 100));
    expect(latenessOf(undefined, () => 999)).toBeUndefined();
  });
});
