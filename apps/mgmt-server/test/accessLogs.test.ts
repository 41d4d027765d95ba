import type { Server } from "@isthmus/plane";
import { expect, it } from "vitest";
import { fleetAccessLogPage } from "../src/accessLogs.ts";

const states = { east: [true, true], west: [true, true], elsewhere: [true, false], gone: [false, false] } as const;
const clusters = new Map(Object.entries(states).map(([name, [connected, isServed]]) => [name, { connected, isServed }]));
const server = { store: { clusters } } as unknown as Pick<Server, "store">;

async function itemsOf(query: string, ask: Parameters<typeof fleetAccessLogPage>[1]): Promise<readonly object[]> {
  const text = [...(await fleetAccessLogPage(server, ask)(new URLSearchParams(query)))].join("");
  return (JSON.parse(text) as { readonly items: readonly object[] }).items;
}

const encoded = (value: object) => new TextEncoder().encode(JSON.stringify(value));

it("asks the agents that are connected here, and says which have no answer", async () => {
  const asked: [string, string, unknown][] = [];
  const items = await itemsOf("from=bookinfo/productpage-v1&status=5xx&limit=7", async (cluster, { topic, body }) => {
    asked.push([cluster, topic, JSON.parse(new TextDecoder().decode(body))]);
    if (cluster === "west") throw new Error("this agent does not support the query access-logs: upgrade it");
    return encoded({ entries: [], complete: true, received: 3, dropped: 1, cluster: "another" });
  });
  const query = { from: "bookinfo/productpage-v1", status: "5xx", limit: 7 };
  expect(asked).toEqual([
    ["east", "access-logs", query],
    ["west", "access-logs", query],
  ]);
  expect(items).toEqual([
    // Not the name that the agent gives.
    { cluster: "east", entries: [], complete: true, received: 3, dropped: 1 },
    { cluster: "west", problem: "this agent does not support the query access-logs: upgrade it" },
  ]);
});

it("asks one cluster alone when it is named, and none with a status that is none", async () => {
  const nothing = { entries: [], complete: false, received: 0, dropped: 0 };
  expect(await itemsOf("cluster=west", async () => encoded({ entries: [] }))).toEqual([{ cluster: "west", ...nothing }]);
  await expect(itemsOf("status=nonsense", async () => encoded({}))).rejects.toThrow("nonsense is no status");
});

// What one agent sends is never the reason why another one's entries are not shown.
it.each([
  ["no JSON", "{"],
  ["no list", '{"entries":{}}'],
  ["null", "null"],
  ["an entry without flags", '{"entries":[{"time":"2026-01-01T00:00:00Z","verified":true,"proxy":{},"source":{},"destination":{}}]}'],
  ["a name that is none", '{"entries":[{"time":"","verified":true,"flags":[],"proxy":{},"source":{"name":{"a":1}},"destination":{}}]}'],
  ["what is too deep", `{"entries":[{"requestHeaders":${"[".repeat(100_000)}${"]".repeat(100_000)}}]}`],
  ["too many entries", JSON.stringify({ entries: Array.from({ length: 501 }, () => ({})) })],
  ["too much", JSON.stringify({ entries: [], more: "x".repeat(2_000_000) })],
])("tells of a cluster whose agent answers with %s, and shows the others", async (_, text) => {
  const items = await itemsOf("", async (cluster) => (cluster === "west" ? new TextEncoder().encode(text) : encoded({ entries: [] })));
  expect(items).toEqual([
    { cluster: "east", entries: [], complete: false, received: 0, dropped: 0 },
    { cluster: "west", problem: expect.stringMatching(/^the agent's answer /) },
  ]);
});
