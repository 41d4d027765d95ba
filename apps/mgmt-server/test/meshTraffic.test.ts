import type { Clock } from "@isthmus/core";
import type { Server } from "@isthmus/plane";
import { afterEach, expect, it } from "vitest";
import { startMeshTraffic } from "../src/meshTraffic.ts";

type Ask = Parameters<typeof startMeshTraffic>[0]["ask"];

const stops: AbortController[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop.abort(new Error("the test is over"));
});

const NUMBERS = Array.from({ length: 20 }, () => 0);
/** Ten requests, one of them failed. */
const row = (service: string) => ["shop", "web", "books", service, "v1", "", ...NUMBERS.with(2, 9).with(5, 1).with(6, 10)];
const answer = (more: object = {}) => ({
  epoch: "e",
  sequence: 1,
  ageMs: 0,
  spanMs: 30_000,
  targets: 3,
  scraped: 3,
  edges: [row("reviews")],
  controlPlanes: [],
  ...more,
});
const encoded = (value: object) => new TextEncoder().encode(JSON.stringify(value));

/** A server that has asked `rounds` times. */
async function asked(states: Record<string, readonly [connected: boolean, isServed: boolean]>, ask: Ask, rounds = 1) {
  const stop = new AbortController();
  stops.push(stop);
  const clusters = new Map(Object.entries(states).map(([name, [connected, isServed]]) => [name, { connected, isServed }]));
  let left = rounds;
  let done: () => void = () => undefined;
  const isDone = new Promise<void>((resolve) => {
    done = resolve;
  });
  const clock: Clock = {
    now: () => 1_000_000 * 60_000,
    sleep: (_, signal) =>
      new Promise((resolve, reject) => {
        if (--left > 0) return resolve();
        done();
        signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      }),
  };
  const server = { store: { clusters }, syncDurations: () => [1] } as unknown as Pick<Server, "store" | "syncDurations">;
  const traffic = startMeshTraffic({ server, ask, clock }, stop.signal);
  await isDone;
  const items = (query = "") =>
    (JSON.parse([...traffic.page(new URLSearchParams(query))].join("")) as { readonly items: readonly object[] }).items;
  return {
    items,
    clusters,
    activity: traffic.activity,
    metrics: (query = "") => [...traffic.metricsPage(new URLSearchParams(query)).text].join(""),
  };
}

it("knows the clusters whose agents are connected here, and says of each other one why not", async () => {
  const states = { east: [true, true], west: [true, true], off: [true, true], elsewhere: [false, true], gone: [false, false] } as const;
  const { items, metrics } = await asked(states, async (cluster) => {
    if (cluster === "west") throw new Error("this agent does not support the query mesh-metrics: upgrade it");
    // Whatever it calls itself.
    return encoded(cluster === "off" ? { off: true } : answer({ cluster: "west" }));
  });
  expect(items()).toEqual([
    expect.objectContaining({
      cluster: "east",
      seconds: 30,
      edges: [expect.objectContaining({ requests: 10, errors: 1, errorPercent: 10 })],
    }),
    { cluster: "west", problem: "this agent does not support the query mesh-metrics: upgrade it" },
    { cluster: "off", problem: "its agent scrapes no proxies: set agentServices.metrics of the Settings to ENABLED" },
    { cluster: "elsewhere", problem: "its agent is not connected to this replica of the server" },
  ]);
  expect(items("cluster=east")).toHaveLength(1);
  expect(() => items("minutes=61")).toThrow("minutes: 61 is not a number from 1 to 60");
  const text = metrics();
  for (const [cluster, known] of Object.entries({ east: 1, west: 0, off: 0, elsewhere: 0 }))
    expect(text).toContain(`gloo_mesh_traffic_known{cluster="${cluster}"} ${known}\n`);
  expect(text).not.toContain("gone");
  expect(text).toContain('response_code_class="5xx"} 1\n');
});

it("says which answer it has, adds up what comes, and forgets a cluster that is connected elsewhere", async () => {
  const received: unknown[] = [];
  const { items, clusters } = await asked(
    { east: [true, true] },
    async (_, { body }) => {
      received.push(JSON.parse(new TextDecoder().decode(body)));
      return encoded(answer({ sequence: received.length }));
    },
    3,
  );
  expect(received).toEqual([{}, { received: { epoch: "e", sequence: 1 } }, { received: { epoch: "e", sequence: 2 } }]);
  expect(items()).toMatchObject([{ edges: [{ requests: 30 }] }]);
  clusters.set("east", { connected: false, isServed: true });
  expect(items()).toMatchObject([{ problem: "its agent is not connected to this replica of the server" }]);
});

it.each([
  ["no JSON", new TextEncoder().encode("{")],
  ["other numbers", encoded(answer({ edges: [["a"]] }))],
  ["too much", new Uint8Array(5 * 1024 * 1024)],
])("an agent that answers with %s is that cluster's problem alone", async (_, bytes) => {
  const { items } = await asked({ east: [true, true], evil: [true, true] }, async (cluster) =>
    cluster === "evil" ? bytes : encoded(answer()),
  );
  expect(items()).toMatchObject([
    { cluster: "east", edges: [{ requests: 10 }] },
    { cluster: "evil", problem: expect.stringMatching(/^the agent's answer /) },
  ]);
});

it("has activity of the clusters whose agents answered the last question: with numbers, or why there are none", async () => {
  const states = { east: [true, true], west: [true, true], off: [true, true], elsewhere: [false, true] } as const;
  const { activity, clusters } = await asked(states, async (cluster) => {
    if (cluster === "west") throw new Error("this agent does not support the query mesh-metrics: upgrade it");
    return encoded(cluster === "off" ? { off: true } : answer());
  });
  const [east, off, ...others] = activity();
  expect(others).toEqual([]);
  expect(east).toMatchObject({ clusterName: "east", at: 1_000_000 * 60_000, sync: [1], traffic: { targets: 3, scraped: 3, left: 0 } });
  expect(east?.traffic?.windows).toEqual([
    { minutes: 5, seconds: 30 },
    { minutes: 60, seconds: 30 },
  ]);
  expect(east?.traffic?.edges.map(({ edge, signals }) => [edge.service, ...signals.map((one) => [one[2], one[5]])])).toEqual([
    ["reviews", [9, 1], [9, 1]],
  ]);
  expect(off).toEqual({
    ...{ clusterName: "off", at: 1_000_000 * 60_000, sync: [1], traffic: undefined },
    problem: "its agent scrapes no proxies: set agentServices.metrics of the Settings to ENABLED",
  });
  // Another replica has it now.
  clusters.set("east", { connected: false, isServed: true });
  expect(activity().map(({ clusterName }) => clusterName)).toEqual(["off"]);
});
