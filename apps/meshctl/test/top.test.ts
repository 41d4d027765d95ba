import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { trafficIn } from "../src/plane/trafficTable.ts";
import { expectGolden } from "./goldenText.ts";
import { managementCluster, runIn } from "./planeRun.ts";

const edge = (workload: string, service: string, more: object = {}) => ({
  source: { namespace: "bookinfo", workload },
  destination: { namespace: "bookinfo", service, workload: `${service}-v1`, cluster: "" },
  requests: 300,
  errors: 0,
  requestsPerSecond: 1,
  errorPercent: 0,
  p50Ms: 2.5,
  p90Ms: 8,
  p95Ms: 8,
  p99Ms: 40,
  requestBytesPerSecond: 100,
  responseBytesPerSecond: 5_000,
  ...more,
});
const EAST = {
  cluster: "east",
  seconds: 300,
  targets: 5,
  scraped: 5,
  controlPlanes: [],
  edges: [
    edge("productpage-v1", "reviews", { requests: 900, requestsPerSecond: 3, errors: 9, errorPercent: 1, p99Ms: 2_500 }),
    edge("reviews-v2", "ratings", {
      errors: 30,
      errorPercent: 10,
      destination: { namespace: "bookinfo", service: "ratings", workload: "ratings-v1", cluster: "west" },
    }),
    edge("\u001b[2Jevil", "details", {
      p50Ms: undefined,
      p90Ms: undefined,
      p95Ms: undefined,
      p99Ms: undefined,
      requestsPerSecond: 0,
      requests: 0,
    }),
  ],
};
const PAGE = { items: [EAST, { cluster: "west", problem: "its agent is not connected to this replica of the server" }] };

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function adminPort(page: object): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.end(JSON.stringify(page));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

const PLANE = managementCluster([]);

describe("meshctl top", () => {
  it.each([80, 120])("shows who calls whom, the most first, and of which clusters nothing is known (%i columns)", async (columns) => {
    const { url, asked } = await adminPort(PAGE);
    const run = await runIn(PLANE, ["top", "--admin-address", url, "--minutes", "10"], columns);
    expect(asked).toEqual(["/traffic?minutes=10"]);
    expect(run).toMatchObject({ code: 3, err: "warning: west: its agent is not connected to this replica of the server\n" });
    expectGolden(`top/traffic-${columns}`, run.out);
  });

  it("prints JSON, sorted by what is asked for", async () => {
    const { url, asked } = await adminPort({ items: [EAST] });
    const run = await runIn(PLANE, ["top", "--admin-address", url, "--cluster", "east", "--sort", "errors", "--limit", "1", "-o", "json"]);
    expect(asked).toEqual(["/traffic?cluster=east&minutes=5"]);
    expect(run.code).toBe(0);
    expect(JSON.parse(run.out)).toMatchObject({
      edges: [{ cluster: "east", source: { workload: "reviews-v2" }, errors: 30 }],
      problems: [],
    });
  });

  it("takes a cluster from the replica that knows it", () => {
    const other = {
      items: [
        { cluster: "east", problem: "its agent is not connected to this replica of the server" },
        { ...EAST, cluster: "west", edges: [] },
      ],
    };
    const { edges, problems } = trafficIn(
      [PAGE, other].map((page) => JSON.stringify(page)),
      { sort: "p99", limit: 20 },
    );
    expect(problems).toEqual([]);
    expect(edges.map(({ p99Ms }) => p99Ms)).toEqual([2_500, 40, undefined]);
  });

  it.each(["<!doctype html>", "null", "{}", '{"items": 1}'])("says so where %s is answered, as by a console", async (text) => {
    const server = createServer((_, response) => response.end(text));
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const args of [["top"], ["logs", "access"], ["cert", "list"]]) {
      const { code, err } = await runIn(PLANE, [...args, "--admin-address", address]);
      expect({ args, code, err }).toEqual({ args, code: 2, err: expect.stringMatching(/^error: .*(is it the admin port|is no list)/) });
    }
  });

  it.each([
    [["--minutes", "61"], "61 is not a number from 1 to 60"],
    [["--sort", "p50"], "p50"],
  ])("refuses %j", async (args, says) => {
    const run = await runIn(PLANE, ["top", ...args]);
    expect(run.code).toBe(2);
    expect(run.err).toContain(says);
  });
});
