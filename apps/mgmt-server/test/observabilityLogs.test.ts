import { Pod } from "@isthmus/api";
import { snapshotOf } from "@isthmus/core";
import { type Server, systemClock } from "@isthmus/plane";
import { PageRefusal } from "@isthmus/process";
import { expect, it } from "vitest";
import { observabilityLogsPage } from "../src/observabilityLogs.ts";

const clusters = new Map(["east", "west"].map((name) => [name, { connected: true, isServed: true }]));
const pod = (name: string, clusterName: string, labels: Record<string, string>) =>
  Pod.parse({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "shop", clusterName, labels } });
const snapshot = snapshotOf([pod("cart-1", "east", { app: "cart" }), pod("cart-1", "west", { app: "other" })]);
const server = { store: { clusters, snapshot } } as unknown as Pick<Server, "store">;

function entry(second: number, more: object = {}): object {
  return {
    time: `2026-01-01T00:00:${String(second).padStart(2, "0")}.000Z`,
    protocol: "http",
    logName: "log",
    direction: "inbound",
    proxy: { namespace: "shop", workloadName: "cart", podName: "cart-1" },
    verified: true,
    source: {},
    destination: {},
    method: "GET",
    path: "/a",
    status: 503,
    flags: [{ code: "UH", meaning: "no healthy endpoint" }],
    durationMs: 12,
    receivedBytes: 0,
    sentBytes: 5,
    ...more,
  };
}

type Ask = Parameters<typeof observabilityLogsPage>[1];
const answering =
  (entries: Readonly<Record<string, readonly object[]>>): Ask =>
  async (cluster) => {
    const own = entries[cluster];
    if (own === undefined) throw new Error("no answer");
    return new TextEncoder().encode(JSON.stringify({ entries: own, complete: true }));
  };

async function lines(ask: Ask, content = "", query = "", signal = new AbortController().signal): Promise<Record<string, unknown>[]> {
  const texts: string[] = [];
  for await (const text of observabilityLogsPage(server, ask, systemClock)(new URLSearchParams(query), content, signal)) texts.push(text);
  return texts.map((text) => JSON.parse(text) as Record<string, unknown>);
}

const selecting = (kubeWorkloadMatcher: object) => JSON.stringify({ workloadSelectors: [{ kubeWorkloadMatcher }] });
const clustersOf = (found: readonly Record<string, unknown>[]) =>
  found.map((line) => (line["result"] as { workloadRef: { clusterName: string } } | undefined)?.workloadRef.clusterName ?? line);

it("gives the newest ten entries of all clusters, in Envoy's form, and says which cluster has no answer", async () => {
  const found = await lines(answering({ east: Array.from({ length: 12 }, (_, i) => entry(12 - i)) }));
  expect(found).toHaveLength(11);
  expect(found[0]).toEqual({
    result: {
      workloadRef: { name: "cart", namespace: "shop", clusterName: "east" },
      httpAccessLog: {
        commonProperties: { startTime: "2026-01-01T00:00:03.000Z", duration: "0.012000s", responseFlags: { noHealthyUpstream: true } },
        request: { requestMethod: "GET", path: "/a", requestBodyBytes: "0" },
        response: { responseCode: 503, responseBodyBytes: "5" },
      },
    },
  });
  expect(found.at(-1)).toEqual({ error: { clusterName: "west", message: "no answer" } });
});

it("asks the clusters that are selected, and shows the proxies with the namespace and the labels of their own cluster", async () => {
  const asked: string[] = [];
  const both = answering({ east: [entry(1)], west: [entry(2)] });
  const ask: Ask = (cluster, ...rest) => {
    asked.push(cluster);
    return both(cluster, ...rest);
  };
  expect(clustersOf(await lines(ask, selecting({ clusters: ["west"] })))).toEqual(["west"]);
  expect(asked).toEqual(["west"]);
  expect(clustersOf(await lines(ask, selecting({ labels: { app: "cart" } })))).toEqual(["east"]);
  expect(clustersOf(await lines(ask, selecting({ namespaces: ["shop"] })))).toEqual(["east", "west"]);
  for (const none of [{ namespaces: ["other"] }, { labels: { toString: "x" } }, { labels: { app: "cart" }, clusters: ["west"] }])
    expect(await lines(ask, selecting(none))).toEqual([]);
});

it.each([
  "{",
  "[]",
  '{"workloadSelectors":{}}',
  '{"selectors":[]}',
  selecting({ names: ["a"] }),
  selecting({ labels: { a: 1 } }),
  selecting({ clusters: "east" }),
  '{"workloadSelectors":[null]}',
])("refuses %s, which it might misunderstand", async (content) => {
  await expect(lines(answering({}), content)).rejects.toThrow(PageRefusal);
});

it("watches what comes, each entry once, and lets eight readers do so", async () => {
  let second = 0;
  const now = () => new Date(Date.now() + 10_000 + second++).toISOString();
  const entries: object[] = [entry(1, { time: now() })];
  const stop = new AbortController();
  const ask: Ask = async (cluster, ...rest) => answering({ east: [...entries], west: [] })(cluster, ...rest);
  const page = observabilityLogsPage(server, ask, systemClock);
  const watch = () => page(new URLSearchParams("watch=1"), "", stop.signal)[Symbol.asyncIterator]();
  const readers = Array.from({ length: 8 }, watch);
  for (const reader of readers) expect((await reader.next()).value).toContain("httpAccessLog");
  await expect(watch().next()).rejects.toThrow("8 readers watch already");
  entries.unshift(entry(1, { time: now(), path: "/later" }));
  expect((await readers[0]?.next())?.value).toContain("/later");
  stop.abort(new Error("the reader has gone"));
  for (const reader of readers) await reader.return?.();
  const again = page(new URLSearchParams("watch=1"), "", new AbortController().signal)[Symbol.asyncIterator]();
  expect((await again.next()).value).toContain("httpAccessLog");
  await again.return?.();
});

it("names the replicas of an agent that did not answer, as far as they are names", async () => {
  const ask: Ask = async (cluster) =>
    new TextEncoder().encode(
      JSON.stringify({ entries: [], complete: true, otherReplicas: cluster === "east" ? ["agent-2", 7] : { length: 9 } }),
    );
  const message = "entries of these replicas of its agent, which did not answer, are not among them: agent-2";
  expect(await lines(ask)).toEqual([{ error: { clusterName: "east", message } }]);
  const many: Ask = async () =>
    new TextEncoder().encode(JSON.stringify({ entries: [], complete: true, otherReplicas: Array(1_000).fill("x".repeat(500)) }));
  expect(JSON.stringify(await lines(many)).length).toBeLessThan(2 * 21 * 260);
});

it("says where older entries of a selected workload may be missing, and not where the newest ten are known", async () => {
  const quiet = { proxy: { namespace: "quiet", workloadName: "q", podName: "q-1" } };
  const answer = (entries: readonly object[], complete: boolean): Ask => {
    const body = new TextEncoder().encode(JSON.stringify({ entries, complete }));
    const none = new TextEncoder().encode(JSON.stringify({ entries: [], complete: true }));
    return async (cluster) => (cluster === "east" ? body : none);
  };
  const busy = Array.from({ length: 499 }, () => entry(2));
  const missing = { clusterName: "east", message: expect.stringContaining("older ones that are selected may be missing") as string };
  const only = selecting({ namespaces: ["quiet"] });
  expect(await lines(answer(busy, false), only)).toEqual([{ error: missing }]);
  expect(clustersOf(await lines(answer([...busy, entry(1, quiet)], false), only))).toEqual(["east", { error: missing }]);
  expect(clustersOf(await lines(answer([...busy, entry(1, quiet)], true), only))).toEqual(["east"]);
  expect(clustersOf(await lines(answer(busy, false), selecting({ namespaces: ["shop"] })))).toEqual(Array(10).fill("east"));
  expect(clustersOf(await lines(answer(busy.slice(0, 10), false)))).toEqual(Array(10).fill("east"));
});

it("says to those who watch that entries came faster than they are answered, and shows none again by the doing of another cluster", async () => {
  const at = (ms: number) => new Date(Date.now() + 60_000 + ms).toISOString();
  const once = entry(1, { time: at(0), path: "/once" });
  let polls = 0;
  const ask: Ask = async (cluster) => {
    const crowd = () => Array.from({ length: 500 }, (_, i) => entry(1, { time: at(i), path: `/${polls}/${i}` }));
    if (cluster === "east") polls++;
    const own = cluster === "east" ? { entries: crowd(), complete: false } : { entries: [once], complete: true };
    return new TextEncoder().encode(JSON.stringify(own));
  };
  let time = Date.now();
  const stop = new AbortController();
  const clock = {
    now: () => time,
    sleep: async (ms: number) => {
      time += ms;
      if (polls >= 4) stop.abort(new Error("enough"));
    },
  };
  const found: string[] = [];
  for await (const text of observabilityLogsPage(server, ask, clock)(new URLSearchParams("watch=1"), "", stop.signal)) found.push(text);
  expect(found.filter((text) => text.includes("/once"))).toHaveLength(1);
  expect(found.filter((text) => text.includes("httpAccessLog"))).toHaveLength(4 * 500 + 1);
  const errors = found.filter((text) => text.includes('"error"'));
  expect(errors).toEqual([expect.stringContaining("more entries than its agent answers with")]);
});
