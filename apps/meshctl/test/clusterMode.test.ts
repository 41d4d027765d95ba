import { KubernetesCluster } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { describe, expect, it } from "vitest";
import { cluster } from "./fleetObjects.ts";
import { managementCluster, runIn } from "./planeRun.ts";

const ref = { name: "east", namespace: "gloo-mesh" };
const east = (state: string, status: object = {}): Cluster => managementCluster([cluster("east", state, status) as AnyResource]);
const specIn = async (plane: Cluster) => (await plane.get(KubernetesCluster, ref))?.spec;

/** An agent that acknowledges each mode, with this comparison. */
function acknowledging(plane: Cluster, comparison: object = {}): Cluster {
  return {
    ...plane,
    async update(resource, signal) {
      const written = await plane.update(resource, signal);
      const found = await plane.get(KubernetesCluster, ref);
      const { mode } = found?.spec ?? {};
      await plane.updateStatus({
        ...found,
        status: { ...found?.status, mode, comparison: { mode, ...comparison } },
      } as unknown as AnyResource);
      return written;
    },
  } as Cluster;
}

describe("meshctl cluster pause and resume", () => {
  it.each([
    [["pause"], "freeze", "; 40 objects are as desired, 3 are not"],
    [["pause", "--observe"], "observe", "; 40 objects are as desired, 3 are not"],
    [["resume"], "manage", ""],
  ])("%j sets the mode, and says that the agent has acknowledged it", async ([verb = "", ...flags], mode, compared) => {
    const plane = acknowledging(east("CONNECTED"), { same: 40, wouldCreate: 1, wouldDelete: 2 });
    const { code, err, out } = await runIn(plane, ["cluster", verb, "east", ...flags]);
    expect(await specIn(plane)).toMatchObject({ mode });
    expect(err).toContain(`east: mode ${mode} is set: `);
    expect(err).toContain(`east: the agent has acknowledged mode ${mode}${compared}\n`);
    expect({ code, out }).toEqual({ code: 0, out: "" });
  });

  it("says before a cluster is resumed what will be written", async () => {
    const comparison = { mode: "freeze", wouldCreate: 1, wouldChange: 2, wouldDelete: 3, conflicts: 4 };
    const { err } = await runIn(acknowledging(east("CONNECTED", { mode: "freeze", comparison })), ["cluster", "resume", "east"]);
    expect(err).toMatch(/^east: objects to create 1, to change 2, to delete 3; 4 managed by others stay as they are\n/);
  });

  it("ends with 124 where the agent does not answer, and with 0 where nobody waits", async () => {
    const waited = await runIn(east("CONNECTED", { mode: "manage" }), ["cluster", "pause", "east", "--timeout", "1s"]);
    expect(waited.code).toBe(124);
    expect(waited.err).toContain("has not acknowledged mode freeze within 1 s (--timeout): until it does, its agent continues as before");
    expect((await runIn(east("CONNECTED"), ["cluster", "pause", "east", "--no-wait"])).code).toBe(0);
  });

  it.each([
    ["OFFLINE", 3, "east is OFFLINE: its agent continues as before until it is connected again"],
    ["UNREACHABLE", 3, "east is UNREACHABLE: "],
    ["REGISTERED", 0, "no agent has connected yet; the first one starts in mode freeze"],
  ])("does not wait for a cluster that is %s", async (state, expected, message) => {
    const plane = east(state, { mode: "manage" });
    const { code, err } = await runIn(plane, ["cluster", "pause", "east"]);
    expect(code).toBe(expected);
    expect(err).toContain(message);
    expect(await specIn(plane)).toMatchObject({ mode: "freeze" });
  });

  it("warns of a program that applies the mode, too", async () => {
    const plane = east("CONNECTED");
    const { apiVersion, kind } = KubernetesCluster;
    await plane.apply({ apiVersion, kind, metadata: ref, spec: { mode: "manage" } } as KubernetesCluster, { fieldManager: "argocd" });
    const { err } = await runIn(plane, ["cluster", "pause", "east", "--no-wait"]);
    expect(err).toContain("warning: spec.mode of KubernetesCluster gloo-mesh/east is also applied by argocd, which may set it again");
  });

  it("names the nearest cluster for a name that is none, and changes nothing", async () => {
    const plane = east("CONNECTED");
    const { code, err } = await runIn(plane, ["cluster", "pause", "eats"]);
    expect(code).toBe(2);
    expect(err).toContain("cluster eats is not registered: KubernetesCluster gloo-mesh/eats not found: did you mean east?");
    expect(await specIn(plane)).not.toHaveProperty("mode");
  });

  describe("with --only", () => {
    const observed = (managedObjects?: readonly object[]): Cluster => {
      const east = cluster("east") as AnyResource & { spec: object };
      return managementCluster([
        { ...east, spec: { ...east.spec, mode: "observe", ...(managedObjects === undefined ? {} : { managedObjects }) } },
      ]);
    };
    const REVIEWS = { kind: "VirtualService", namespace: "bookinfo", name: "reviews" };
    const ANY = { kind: "DestinationRule", namespace: "*", name: "*" };

    it("has single objects written, and takes them back, while the mode remains observe", async () => {
      const plane = observed();
      const add = ["cluster", "resume", "east", "--only", "virtualservices/bookinfo/reviews", "--only", "DestinationRule/*/*"];
      const { code, err } = await runIn(plane, add);
      expect({ code, err }).toEqual({
        code: 0,
        err: "east: mode observe, and written is VirtualService/bookinfo/reviews, DestinationRule/*/*. To see what remains: meshctl cluster describe east\n",
      });
      expect(await specIn(plane)).toMatchObject({ mode: "observe", managedObjects: [REVIEWS, ANY] });
      // What is named already is not named again, also by another entry.
      await runIn(plane, [...add, "--only", "DestinationRule/bookinfo/ratings"]);
      expect(await specIn(plane)).toMatchObject({ managedObjects: [REVIEWS, ANY] });
      await runIn(plane, ["cluster", "pause", "east", "--only", "DestinationRule/*/*"]);
      expect(await specIn(plane)).toMatchObject({ mode: "observe", managedObjects: [REVIEWS] });
      const { err: last } = await runIn(plane, ["cluster", "pause", "east", "--only", "VirtualService/bookinfo/reviews"]);
      expect(last).toContain("written is nothing.");
      expect(await specIn(plane)).not.toHaveProperty("managedObjects");
    });

    it("is over when everything is resumed, or nothing is written any more", async () => {
      for (const verb of ["resume", "pause"]) {
        const plane = observed([REVIEWS]);
        await runIn(plane, ["cluster", verb, "east", "--no-wait"]);
        expect(await specIn(plane)).not.toHaveProperty("managedObjects");
      }
      const plane = observed([REVIEWS]);
      await runIn(plane, ["cluster", "pause", "east", "--observe", "--no-wait"]);
      expect(await specIn(plane)).toMatchObject({ managedObjects: [REVIEWS] });
    });

    it.each([
      [
        "resume",
        "VirtualService/reviews",
        "--only VirtualService/reviews: must be KIND/NAMESPACE/NAME, such as VirtualService/bookinfo/reviews",
      ],
      ["resume", "VirtualServce/a/b", "VirtualServce is no kind that is written in clusters: did you mean VirtualService?"],
      ["resume", "VirtualService/a/B_", "--only VirtualService/a/B_: B_ is no name of a Kubernetes object, and not * for any"],
      ["pause", "VirtualService/a/b", "cluster east: VirtualService/a/b is not in spec.managedObjects"],
      ["pause", "DestinationRule/a/b", "DestinationRule/a/b is written because of the entry DestinationRule/*/*: name that"],
    ])("refuses %s of %s, and changes nothing", async (verb, object, message) => {
      const plane = observed([ANY]);
      const { code, err } = await runIn(plane, ["cluster", verb, "east", "--only", object]);
      expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) });
      expect(await specIn(plane)).toMatchObject({ managedObjects: [ANY] });
    });

    it.each([
      [
        "manage",
        "cluster east is managed, so everything is written in it: --only is for mode observe (meshctl cluster pause east --observe)",
      ],
      ["freeze", "cluster east is frozen, so nothing is written in it: --only is for mode observe"],
    ])("refuses a cluster in mode %s", async (mode, message) => {
      const plane = east("CONNECTED");
      await runIn(plane, ["cluster", mode === "manage" ? "resume" : "pause", "east", "--no-wait"]);
      const { code, err } = await runIn(plane, ["cluster", "resume", "east", "--only", "VirtualService/a/b"]);
      expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) });
      expect(await specIn(plane)).not.toHaveProperty("managedObjects");
    });
  });
});
