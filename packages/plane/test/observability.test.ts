import { Service, VirtualService } from "@isthmus/api";
import { formatRef } from "@isthmus/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bookinfoMesh, demoFleet, type Fleet, register, statusOf, timeoutPolicy } from "./fleet.ts";
import { eventually, quiet } from "./virtualTime.ts";

let fleet: Fleet;
beforeEach(() => {
  // Ids of changes are drawn from it.
  fleet = demoFleet({ random: Math.random });
});
afterEach(() => fleet.stop());

async function federated(): Promise<void> {
  await register(fleet);
  fleet.startServer();
  fleet.startAgent("cluster-1");
  fleet.startAgent("cluster-2");
  await fleet.management.create(bookinfoMesh);
  await eventually(async () => {
    const { conditions = [] } = await statusOf(fleet, bookinfoMesh);
    expect(conditions.some(({ type, status }) => type === "Applied" && status === "True")).toBe(true);
  });
  // Nothing is on its way any more.
  await quiet();
  fleet.log.steps.length = 0;
}

function ids(message: string): readonly (readonly string[])[] {
  return fleet.log.steps.filter((step) => step.message === message).map(({ fields }) => (fields["traces"] ?? []) as readonly string[]);
}

/** The messages of the steps that bear an id, each once, in order. */
function stepsOf(id: string): readonly string[] {
  const messages = fleet.log.steps.filter(({ fields }) => ((fields["traces"] ?? []) as readonly string[]).includes(id));
  return [...new Set(messages.map(({ message }) => message))];
}

describe("one id of a change", () => {
  it("is found in the logs of server and agent, from a policy to its status", async () => {
    await federated();
    await fleet.management.create(timeoutPolicy);
    await eventually(() => expect(ids("received").length).toBeGreaterThan(0));
    const [[id = ""] = []] = ids("received");
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    await eventually(() => expect(stepsOf(id)).toContain("status written"));
    await eventually(() =>
      expect(stepsOf(id)).toEqual(expect.arrayContaining(["received", "translated", "sent", "desired", "applied", "acknowledged"])),
    );
    const order = ["received", "sent", "desired", "applied", "acknowledged"].map((message) => stepsOf(id).indexOf(message));
    expect(order).toEqual([...order].sort((a, b) => a - b));
    const clusters = fleet.log.steps.filter(({ message, fields }) => message === "sent" && (fields["traces"] as string[]).includes(id));
    expect(clusters.map(({ fields }) => fields["cluster"]).sort()).toEqual(["cluster-1", "cluster-2"]);
  });

  it("comes from the agent that saw the change first, and goes to the clusters that it concerns", async () => {
    await federated();
    const { apiVersion, kind } = Service;
    await fleet.clusters["cluster-1"]?.delete({ apiVersion, kind, name: "details", namespace: "bookinfo", clusterName: "cluster-1" });
    await eventually(() => expect(ids("observed").length).toBeGreaterThan(0));
    const [[id = ""] = []] = ids("observed");
    await eventually(() =>
      expect(stepsOf(id)).toEqual(
        expect.arrayContaining(["observed", "received", "translated", "sent", "desired", "applied", "acknowledged"]),
      ),
    );
  });

  it("is not spent on what is at rest", async () => {
    await federated();
    await quiet();
    expect(ids("received")).toEqual([]);
    expect(ids("sent")).toEqual([]);
  });
});

describe("a removal", () => {
  it("is kept with its evidence by the server that ordered it and the agent that carried it out", async () => {
    await federated();
    await fleet.management.create(timeoutPolicy);
    const cluster = fleet.clusters["cluster-1"];
    const reviews = { name: "reviews", namespace: "bookinfo" };
    await eventually(async () => expect(await cluster?.get(VirtualService, reviews)).toBeDefined());
    const { apiVersion, kind } = timeoutPolicy;
    const policy = { apiVersion, kind, name: "timeout", namespace: "bookinfo", clusterName: "" };
    await fleet.management.delete(policy);
    await eventually(async () => expect(await cluster?.get(VirtualService, reviews)).toBeUndefined());

    const ordered = fleet.server().removals.entries.find(({ object }) => object.clusterName === "cluster-1" && object.name === "reviews");
    expect(ordered).toMatchObject({ step: "Ordered", evidence: { reason: "InputRemoved", inputs: [policy] } });
    expect(ordered?.evidence?.snapshot).toBeGreaterThan(0);
    expect(ordered?.traces?.length).toBeGreaterThan(0);
    const removed = fleet.agent("cluster-1").removals.entries.find(({ object }) => object.name === "reviews");
    expect(removed).toMatchObject({ step: "Removed", evidence: ordered?.evidence });
    expect(fleet.log.infos).toContain(`deleted VirtualService bookinfo/reviews in cluster-1: ${removed?.reason}`);
    expect(removed?.reason).toBe(`source deleted: ${formatRef(policy)} (snapshot ${ordered?.evidence?.snapshot})`);
  });
});
