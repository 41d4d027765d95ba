import { KubernetesCluster, writeModeOf } from "@isthmus/api";
import { snapshotOf } from "@isthmus/core";
import { describe, expect, test } from "vitest";
import type { Informer } from "../src/informer/informer.ts";
import { agentModes } from "../src/server/agentModes.ts";
import { writesPaused } from "../src/server/statuses/writesPaused.ts";
import type { ClusterState } from "../src/snapshots/snapshotStore.ts";

const namespace = "gloo-mesh";

function connected(features: readonly string[]): ClusterState {
  const agent = { instance: "agent", version: "1.0.0", agentNamespace: namespace, clusterUid: "uid", features };
  return { phase: "synced", connected: true, isServed: true, malformed: new Map(), agent };
}

/** Why the agent of a cluster in some mode is disconnected. */
function disconnections(mode: string | undefined, state: ClusterState): readonly string[] {
  const { apiVersion, kind } = KubernetesCluster;
  const cluster = KubernetesCluster.parse({
    apiVersion,
    kind,
    metadata: { name: "east", namespace },
    spec: mode === undefined ? {} : { mode },
  });
  const reasons: string[] = [];
  agentModes({
    view: { snapshot: snapshotOf([cluster]) } as Partial<Informer> as Informer,
    store: { clusters: new Map([["east", state]]) },
    namespace,
    registration: KubernetesCluster,
    modeOf: (registration) => writeModeOf(registration as KubernetesCluster),
    link: { disconnect: (name, reason, code) => void reasons.push(`${name} ${code}: ${reason}`) },
  }).check();
  return reasons;
}

describe("an agent that does not know modes", () => {
  test.each(["observe", "freeze", "obsrve"])("is disconnected where the mode is %s, with the reason", (mode) => {
    const [reason, ...more] = disconnections(mode, connected(["notices"]));
    expect(reason).toMatch(
      /^east Refused: spec\.mode of KubernetesCluster gloo-mesh\/east is (observe|freeze), which version 1\.0\.0 .* upgrade the agent$/,
    );
    expect(more).toEqual([]);
  });

  test.each([undefined, "manage"])("stays where the mode is %s", (mode) => {
    expect(disconnections(mode, connected(["notices"]))).toEqual([]);
  });

  test("is named by the status of its cluster", () => {
    const [condition] = writesPaused({ mode: "observe", acknowledged: undefined, comparison: undefined }, connected(["notices"]));
    expect(condition).toMatchObject({ type: "WritesPaused", status: "True", reason: "AgentTooOld" });
  });
});

test("an agent that knows modes stays, and until it has acknowledged its mode the status says that it may still write", () => {
  const state = connected(["notices", "modes"]);
  expect(disconnections("freeze", state)).toEqual([]);
  const [condition] = writesPaused({ mode: "freeze", acknowledged: "manage", comparison: undefined }, state);
  expect(condition).toMatchObject({ status: "Unknown", reason: "NotAcknowledged" });
});
