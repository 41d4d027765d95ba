import { allKinds, TrafficPolicy } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import { systemClock } from "@isthmus/plane/clock";
import type { Cluster } from "@isthmus/ports";
import { afterEach, expect, it } from "vitest";
import { meshctl } from "../src/meshctl.ts";
import { approval, cluster, managed, trafficPolicy } from "./fleetObjects.ts";
import { managementCluster, type Run, runIn } from "./planeRun.ts";
import { recordedIo } from "./recordedIo.ts";

const applied = (status: string, generation = 1): object =>
  approval("ACCEPTED", {
    conditions: [{ type: "Applied", status, reason: "Pending", message: "1 object is not applied", observedGeneration: generation }],
  });

/** A management cluster in which time passes. */
function watchedCluster(objects: readonly AnyResource[]): Cluster {
  return managementCluster(objects, allKinds(), systemClock);
}

const open: AbortController[] = [];
afterEach(() => {
  for (const controller of open.splice(0)) controller.abort();
});

/** Begins a command line that continues until it is interrupted, or has what it waits for. */
function begin(plane: Cluster, args: readonly string[]): { readonly out: () => string; readonly end: () => Promise<Run> } {
  const io = recordedIo();
  const interrupt = new AbortController();
  open.push(interrupt);
  const run = meshctl(args, io, { connect: async () => plane, catchInterrupts: () => interrupt.signal });
  return {
    out: () => io.written.out,
    end: async () => {
      interrupt.abort(new Error("interrupted"));
      return { code: await run, ...io.written };
    },
  };
}

async function setStatus(plane: Cluster, name: string, status: object): Promise<void> {
  const ref = { name, namespace: "bookinfo" };
  const found = (await plane.get(TrafficPolicy, ref)) ?? expect.unreachable(`there is no ${name}`);
  await plane.updateStatus({ ...found, ...status } as AnyResource);
}

it("waits for a condition, which may come later, and says of each object that it is met", async () => {
  const plane = watchedCluster([trafficPolicy("slow", applied("False")), trafficPolicy("fast", applied("True"))]);
  const run = runIn(plane, ["wait", "tpol/slow", "trafficpolicy.networking.mesh.gloo.solo.io/bookinfo/fast", "--for=condition=Applied"]);
  await setStatus(plane, "slow", applied("True"));
  const { code, out, err } = await run;
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out.split("\n").toSorted()).toEqual(["", "trafficpolicy/fast condition met", "trafficpolicy/slow condition met"]);
});

it("ends with 124 after --timeout, with what each object says instead", async () => {
  const plane = watchedCluster([trafficPolicy("slow", applied("False")), trafficPolicy("old", applied("True", 0)), trafficPolicy("plain")]);
  const { code, out, err } = await runIn(plane, ["wait", "tpol", "slow", "old", "plain", "--for", "condition=applied", "--timeout", "0s"]);
  expect({ code, out }).toEqual({ code: 124, out: "" });
  expect(err).toContain("timed out waiting for condition applied on trafficpolicy/slow: it is False (Pending): 1 object is not applied\n");
  expect(err).toContain("trafficpolicy/old: the server has not seen its last change yet\n");
  expect(err).toContain("trafficpolicy/plain: it has no condition applied\n");
});

it("knows other values, jsonpath, --all, creation and deletion", async () => {
  const plane = watchedCluster([trafficPolicy("slow", applied("False")), cluster("east")]);
  const lines = async (...args: readonly string[]): Promise<string> => (await runIn(plane, ["wait", ...args])).out;
  expect(await lines("tpol/slow", "--for=condition=Applied=False")).toBe("trafficpolicy/slow condition met\n");
  expect(await lines("clusters", "--all", "--for", "jsonpath={.status.state}=CONNECTED")).toBe("kubernetescluster/east condition met\n");
  expect(await lines("clusters/east", "--for", "jsonpath={.status.state}")).toBe("kubernetescluster/east condition met\n");
  expect(await lines("tpol/none", "--for=delete")).toBe("trafficpolicy/none deleted\n");
  const created = runIn(plane, ["wait", "tpol/bookinfo/new", "--for=create"]);
  const gone = runIn(plane, ["wait", "tpol/slow", "--for=delete"]);
  await plane.create(managed(TrafficPolicy, "new", {}, "bookinfo"));
  await plane.delete({ apiVersion: TrafficPolicy.apiVersion, kind: "TrafficPolicy", name: "slow", namespace: "bookinfo", clusterName: "" });
  expect((await created).out).toBe("trafficpolicy/new created\n");
  expect((await gone).out).toBe("trafficpolicy/slow deleted\n");
});

it("refuses what is not there and what it cannot wait for, with the remedy", async () => {
  const plane = watchedCluster([trafficPolicy("slow")]);
  const error = async (...args: readonly string[]): Promise<string> => {
    const { code, err } = await runIn(plane, ["wait", ...args]);
    expect(code).toBe(2);
    return err;
  };
  expect(await error("tpol/slw", "--for=condition=Applied")).toContain("TrafficPolicy slw not found: did you mean slow?");
  expect(await error("tpols/slow", "--for=condition=Applied")).toContain("there is no kind tpols (did you mean tpol?)");
  expect(await error("tpol", "--for=condition=Applied")).toContain("tpol/NAME, or --all");
  expect(await error("tpol/a/b/c", "--for=condition=Applied")).toContain("write KIND/NAME or KIND/NAMESPACE/NAME");
  expect(await error("tpol/slow", "--for=applied")).toContain("Write condition=Applied");
  expect(await error("tpol/slow")).toContain("--for");
  expect(await error("clusters", "--all", "--for=condition=Connected")).toContain("no matching resources found");
});

it("watches: each object again when it changes, below the columns of before, until it is interrupted", async () => {
  const plane = watchedCluster([trafficPolicy("slow"), trafficPolicy("fast")]);
  const watch = begin(plane, ["get", "tpol", "--watch", "--output-watch-events"]);
  await expect.poll(watch.out).toContain("slow");
  await setStatus(plane, "slow", approval("INVALID", { errors: ["no"] }));
  await expect.poll(watch.out).toMatch(/MODIFIED +bookinfo +slow +INVALID/);
  await plane.delete({ apiVersion: TrafficPolicy.apiVersion, kind: "TrafficPolicy", name: "fast", namespace: "bookinfo", clusterName: "" });
  await expect.poll(watch.out).toContain("DELETED");
  await plane.create(managed(TrafficPolicy, "new", {}, "bookinfo"));
  await expect.poll(watch.out).toContain("ADDED      bookinfo    new");
  const { code, out, err } = await watch.end();
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const lines = out.trimEnd().split("\n");
  expect(lines.map((line) => line.split(/ +/).slice(0, 3).join(" "))).toEqual([
    "EVENT NAMESPACE NAME",
    "ADDED bookinfo fast",
    "ADDED bookinfo slow",
    "MODIFIED bookinfo slow",
    "DELETED bookinfo fast",
    "ADDED bookinfo new",
  ]);
  // One column below the other.
  expect(new Set(lines.slice(0, 4).map((line) => line.indexOf(line.includes("NAMESPACE") ? "NAMESPACE" : "bookinfo"))).size).toBe(1);
});

it("watches changes alone, as objects of their own, of those that were asked for", async () => {
  const plane = watchedCluster([trafficPolicy("slow"), trafficPolicy("fast")]);
  const watch = begin(plane, ["get", "tpol", "slow", "--watch-only", "-o", "json"]);
  // The watch begins some time after this line; each of these changes is one that it may see first.
  for (let i = 0; !watch.out().includes("slow"); i++) {
    await setStatus(plane, "fast", approval("ACCEPTED", { targetCount: i }));
    await setStatus(plane, "slow", approval("ACCEPTED", { targetCount: i }));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { code, out } = await watch.end();
  expect(code).toBe(0);
  expect(out).toMatch(/^\{\n {2}"apiVersion"/);
  expect(out).not.toContain("fast");
  expect(await runIn(plane, ["get", "tpol", "slw", "-w"])).toMatchObject({ code: 2, err: expect.stringContaining("did you mean slow?") });
  expect(await runIn(plane, ["get", "tpol", "--output-watch-events"])).toMatchObject({ code: 2 });
});
