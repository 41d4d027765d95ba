import { EnvoyFilter, Pod, WasmDeployment, WasmFilterReport } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentOptions } from "../src/index.ts";
import { demoFleet, type Fleet, register, statusOf } from "./fleet.ts";
import { clock, eventually, quiet } from "./virtualTime.ts";

type Start = NonNullable<AgentOptions["wasmFilters"]>;
type Sources = Parameters<Start>[0];
type Outcome = ReturnType<ReturnType<Start>["outcomes"]>[number];

const deployment = {
  apiVersion: WasmDeployment.apiVersion,
  kind: WasmDeployment.kind,
  metadata: { name: "headers", namespace: "gloo-mesh" },
  spec: {
    workloadSelector: [{ kubeWorkloadMatcher: { labels: { app: "ratings" }, namespaces: ["bookinfo"], clusters: ["cluster-1"] } }],
    filters: [{ wasmImageSource: { wasmImageTag: "registry.example.com/header:v1" } }],
  },
} as AnyResource;

let fleet: Fleet;
/** What the proxies of cluster-1 have answered. */
let outcomes: Outcome[];
let sources: Sources | undefined;

/** Serves version `v1` of everything, to nobody: the port of an agent. */
const start: Start = (given) => {
  sources = given;
  // As when something is known at once.
  given.changed();
  return { changed: () => undefined, stateOf: () => ({ version: "v1" }), outcomes: () => outcomes, ended: Promise.resolve() };
};

beforeEach(async () => {
  outcomes = [];
  fleet = demoFleet();
  await register(fleet);
  fleet.startServer();
});
afterEach(() => fleet.stop());

const here = () => fleet.clusters["cluster-1"] as Fleet["management"];
const ordered = () => (sources?.orders() ?? []).map(({ namespace, filters }) => [namespace, filters[0]?.image]);

async function status(): Promise<{ readonly states: readonly string[]; readonly error?: string; readonly applied?: string }> {
  const { workloadStates = {}, error, conditions } = (await statusOf(fleet, deployment)) as NonNullable<WasmDeployment["status"]>;
  const applied = conditions?.find(({ type }) => type === "Applied")?.reason;
  return {
    states: Object.values(workloadStates),
    ...(error === undefined ? {} : { error }),
    ...(applied === undefined ? {} : { applied }),
  };
}

/** All pods of the workload answer so. */
async function answer(outcome: Outcome["outcome"]): Promise<void> {
  const { items } = await here().list(Pod, {}, new AbortController().signal);
  const pods = items.filter(({ metadata }) => metadata.labels?.["app"] === "ratings");
  expect(pods).not.toEqual([]);
  outcomes = pods.map(({ metadata: { name, namespace = "" } }) => ({
    pod: { name, namespace },
    filter: "wasm.headers.gloo-mesh.0",
    outcome,
  }));
  sources?.changed();
}

/** Has other modules run; gives the generation. */
async function change(tag: string): Promise<number> {
  const live = await fleet.management.get(WasmDeployment, { name: "headers", namespace: "gloo-mesh" });
  const filters = [{ wasmImageSource: { wasmImageTag: `registry.example.com/header:${tag}` } }];
  const { metadata } = await fleet.management.update({ ...live, spec: { ...live?.spec, filters } } as AnyResource);
  return metadata.generation ?? expect.fail("it has no generation");
}

const known = async () => (await statusOf(fleet, deployment)) as NonNullable<WasmDeployment["status"]>;
const observed = async () => (await known()).observedGeneration;
const deployed = async () => (await known()).conditions?.find(({ type }) => type === "FiltersDeployed")?.message;

describe("the Wasm filters of a WasmDeployment", () => {
  it("are ordered in the cluster, and its status says what became of them", async () => {
    fleet.startAgent("cluster-1", { wasmFilters: start });
    await fleet.management.create(deployment);
    await eventually(() => expect(ordered()).toEqual([["bookinfo", "registry.example.com/header:v1"]]));
    await eventually(async () => expect(await status()).toEqual({ states: ["DEPLOYMENT_PENDING"], applied: "Applied" }));
    await answer({ state: "ACCEPTED", version: "v1" });
    await eventually(async () => expect((await status()).states).toEqual(["FILTERS_DEPLOYED"]));
    await answer({ state: "REFUSED", version: "v1", error: "no plugin" });
    await eventually(async () =>
      expect(await status()).toMatchObject({ states: ["DEPLOYMENT_FAILED"], error: expect.stringContaining("no plugin") }),
    );
    await fleet.management.delete({ ...WasmDeployment, name: "headers", namespace: "gloo-mesh", clusterName: "" });
    await eventually(() => expect(ordered()).toEqual([]));
    await eventually(() => expect([...fleet.server().store.snapshotIn("cluster-1").of(WasmFilterReport)]).toEqual([]));
  });

  it("are never said to run in a spec whose order the agent has not answered, also where it is one that was answered before", async () => {
    fleet.startAgent("cluster-1", { wasmFilters: start });
    await fleet.management.create(deployment);
    await eventually(() => expect(ordered()).toHaveLength(1));
    await answer({ state: "ACCEPTED", version: "v1" });
    await eventually(async () => expect((await status()).states).toEqual(["FILTERS_DEPLOYED"]));

    await fleet.stopAgent("cluster-1");
    for (const tag of ["v2", "v1"]) {
      const generation = await change(tag);
      await eventually(async () => expect(await observed()).toBe(generation));
      await quiet(5_000);
      expect((await status()).states).toEqual(["DEPLOYMENT_PENDING"]);
      expect(await deployed()).toMatch(/: the agent of cluster-1 has not answered this order yet$/);
    }

    fleet.startAgent("cluster-1", { wasmFilters: start });
    await eventually(async () => expect((await status()).states).toEqual(["FILTERS_DEPLOYED"]));
    // Twice within one round of reports.
    await change("v3");
    const last = await change("v4");
    await eventually(async () => expect([await observed(), (await status()).states]).toEqual([last, ["FILTERS_DEPLOYED"]]));
    expect(ordered()).toEqual([["bookinfo", "registry.example.com/header:v4"]]);
  });

  it("are served after a restart without a server, and what was reported stays until there are proxies to count", async () => {
    fleet.startAgent("cluster-1", { wasmFilters: start });
    await fleet.management.create(deployment);
    await eventually(() => expect(ordered()).toHaveLength(1));
    await answer({ state: "ACCEPTED", version: "v1" });
    await eventually(async () => expect((await status()).states).toEqual(["FILTERS_DEPLOYED"]));

    await fleet.stopAgent("cluster-1");
    fleet.route("cluster-1", "nowhere");
    [sources, outcomes] = [undefined, []];
    fleet.startAgent("cluster-1", { wasmFilters: start });
    await eventually(() => expect(ordered()).toHaveLength(1));
    fleet.route("cluster-1", "server");
    await eventually(() => expect(fleet.agent("cluster-1").linkState).toBe("connected"));
    const until = clock.now() + 10_000;
    while (clock.now() < until) {
      await quiet(1_000);
      expect((await status()).states).toEqual(["FILTERS_DEPLOYED"]);
    }
    await answer({ state: "ACCEPTED", version: "v1" });
    await quiet(30_000);
    expect((await status()).states).toEqual(["FILTERS_DEPLOYED"]);
  });

  it("are not written where the operator of an agent does not allow it, and its status says so", async () => {
    fleet.startAgent("cluster-1");
    await fleet.management.create(deployment);
    await eventually(async () => expect((await status()).applied).toBe("WriteFailed"));
    expect(JSON.stringify(await statusOf(fleet, deployment))).toContain("--wasm-filters");
    const { items } = await here().list(EnvoyFilter, {}, new AbortController().signal);
    expect(items).toEqual([]);
  });
});
