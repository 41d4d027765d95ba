import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { accessLogsIn, newEntries } from "../src/plane/accessLogText.ts";
import { managementCluster, runIn } from "./planeRun.ts";

const FAILED = {
  time: "2026-11-20T11:00:02.000Z",
  protocol: "http",
  logName: "accesslog.all.gloo-mesh",
  direction: "inbound",
  proxy: { namespace: "bookinfo", workloadName: "reviews-v1", podName: "reviews-v1-abc" },
  verified: false,
  source: { identity: "spiffe://cluster.local/ns/bookinfo/sa/productpage" },
  destination: { namespace: "bookinfo", name: "reviews-v1" },
  method: "GET",
  authority: "reviews:9080",
  path: "/reviews/0\u001b[2J",
  status: 503,
  flags: [{ code: "UF", meaning: "no connection to the service" }],
  failure: "delayed connect error: Connection refused",
  durationMs: 1.5,
  receivedBytes: 0,
  sentBytes: 91,
};
const FINE = { ...FAILED, time: "2026-11-20T11:00:01.000Z", status: 200, flags: [], verified: true, path: "/", failure: undefined };
const PAGE = {
  items: [
    { cluster: "east", entries: [FAILED, FINE], complete: true, received: 2, dropped: 0 },
    { cluster: "west", problem: "this agent does not support the query access-logs: upgrade it" },
  ],
};

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** An admin port that answers with `page`, and what it was asked for. */
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

describe("meshctl logs access", () => {
  it("prints the newest entries last, with the reason of a failure in words, and who did not answer", async () => {
    const { url, asked } = await adminPort(PAGE);
    const run = await runIn(PLANE, ["logs", "access", "--from", "bookinfo/productpage-v1", "--status", "5xx", "--admin-address", url]);
    expect(asked).toEqual(["/access-logs?from=bookinfo%2Fproductpage-v1&status=5xx&limit=50"]);
    const ends = "spiffe://cluster.local/ns/bookinfo/sa/productpage -> bookinfo/reviews-v1";
    expect(run.out.split("\n")).toEqual([
      `2026-11-20T11:00:01.000Z east 200 ${ends} GET reviews:9080/ 1.5 ms`,
      `2026-11-20T11:00:02.000Z east 503 ${ends} GET reviews:9080/reviews/0[2J 1.5 ms UF unverified`,
      "  UF: no connection to the service",
      "  failure: delayed connect error: Connection refused",
      "",
    ]);
    expect(run).toMatchObject({ code: 3, err: "warning: west: this agent does not support the query access-logs: upgrade it\n" });
  });

  it("prints JSON, and succeeds when all have answered", async () => {
    const { url } = await adminPort({ items: PAGE.items.slice(0, 1) });
    const run = await runIn(PLANE, ["logs", "access", "--admin-address", url, "-o", "json", "--limit", "1"]);
    expect(run.code).toBe(0);
    expect(JSON.parse(run.out)).toMatchObject({ entries: [{ cluster: "east", status: 503 }] });
  });

  it("warns of replicas that did not answer, in plain text, and exits with 3", async () => {
    const { url } = await adminPort({ items: [{ ...PAGE.items[0], otherReplicas: ["agent-2", "agent\u001b[2J-3"] }] });
    const run = await runIn(PLANE, ["logs", "access", "--admin-address", url]);
    const err =
      "warning: east: replicas of its agent that did not answer: agent-2, agent[2J-3; --agent reads all, in the cluster of --context\n";
    expect(run).toMatchObject({ code: 3, err });
    expect(run.out).toContain("503");
  });

  it.each([
    [["--status", "6xx"], "6xx is not a code such as 503, or a class such as 5xx"],
    [["--limit", "501"], "501 is not a number of entries from 1 to 500"],
  ])("refuses %j", async (args, says) => {
    const run = await runIn(PLANE, ["logs", "access", ...args]);
    expect(run.code).toBe(2);
    expect(run.err).toContain(says);
  });

  it("follows: each entry is printed once, and what it remembers is bounded", () => {
    const seen = newEntries();
    const { entries } = accessLogsIn([JSON.stringify(PAGE)], 50);
    expect(seen.add(entries).map(({ status }) => status)).toEqual([200, 503]);
    expect(seen.add(accessLogsIn([JSON.stringify(PAGE)], 50).entries)).toEqual([]);
    const [first] = entries;
    if (first === undefined) throw new Error("no entry");
    for (let i = 0; i < 6_000; i++) seen.add([{ ...first, durationMs: i }]);
    // The first was forgotten.
    expect(seen.add([first])).toHaveLength(1);
  });
});
