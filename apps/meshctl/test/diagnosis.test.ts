import { KubernetesCluster } from "@isthmus/api";
import { describe, expect, it } from "vitest";
import { cluster, condition, managed } from "./fleetObjects.ts";
import { expectGolden } from "./goldenText.ts";
import { managementCluster, runIn } from "./planeRun.ts";

const unprocessed = managed(KubernetesCluster, "east");

describe("meshctl cluster diagnose", () => {
  it("finds nothing in a cluster that is well", async () => {
    const run = await runIn(managementCluster([cluster("east")]), ["cluster", "diagnose", "east"]);
    expect(run).toMatchObject({ code: 0, err: "cluster east is CONNECTED, and nothing stops it\n" });
    expectGolden("diagnose/connected", run.out);
  });

  it.each([
    ["unprocessed", unprocessed],
    ["registered", cluster("east", "REGISTERED", { agent: {} })],
    ["revoked", cluster("east", "REVOKED")],
    ["unreachable", cluster("east", "UNREACHABLE")],
    ["offline", cluster("east", "OFFLINE")],
    ["expired", cluster("east", "OFFLINE", { agent: { version: "0.1.0", certificateNotAfter: "2026-11-19T00:00:00Z" } })],
    ["unsynced", cluster("east", "SYNCING", { isSynced: false })],
    [
      "over-quota",
      cluster("east", "CONNECTED", { conditions: [condition("OverQuota", "True", "the agent reports more than 10 objects")] }),
    ],
    ["lagging", cluster("east", "LAGGING", { conditions: [condition("Lagging", "True", "a change waits for acknowledgement")] })],
    ["paused", cluster("east", "CONNECTED", { conditions: [condition("DeletesPaused", "True", "mass deletion on hold")] })],
  ])("stops at the first gate that is not passed: %s", async (name, object) => {
    const run = await runIn(managementCluster([object]), ["cluster", "diagnose", "east"], 80);
    expect(run).toMatchObject({ code: 1, err: "" });
    expect(run.out.split("❌")).toHaveLength(2);
    expectGolden(`diagnose/${name}`, run.out);
  });
});
