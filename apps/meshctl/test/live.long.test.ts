import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { cluster, condition, observedCluster } from "./fleetObjects.ts";
import { expectGolden } from "./goldenText.ts";
import { managementCluster, runIn } from "./planeRun.ts";

const METRICS = `# HELP relay_server_reported_objects Number of objects.
# TYPE relay_server_reported_objects gauge
relay_server_reported_objects{cluster="east"} 412
relay_server_outbox_objects{cluster="east"} 3
relay_server_unacknowledged_revisions{cluster="east"} 1
relay_server_objects_rejected{cluster="east",code="Invalid"} 2
relay_server_objects_rejected{cluster="east",code="Conflict"} 1
relay_server_lag_seconds{cluster="east"} 94.5
relay_server_lag_seconds{cluster="w\\"e\\\\st,x"} 1
gloo_mesh_outputs 12
not a sample
`;

const EVIDENCE = {
  items: [
    {
      at: "2026-11-20T11:00:00.000Z",
      step: "Ordered",
      object: ref("VirtualService", "reviews"),
      reason: "source deleted: TrafficPolicy bookinfo/slow (snapshot 41)",
      evidence: { reason: "InputRemoved", inputs: [{ ...ref("TrafficPolicy", "slow"), clusterName: "" }], snapshot: "41" },
    },
    {
      at: "2026-11-20T11:59:15.000Z",
      step: "Left",
      object: ref("DestinationRule", "ratings\u001b[2J"),
      reason: "is not managed by gloo-mesh",
    },
    { at: 7, step: "Removed", object: "nonsense" },
  ],
};

function ref(kind: string, name: string) {
  return { apiVersion: "networking.istio.io/v1", kind, name, namespace: "bookinfo", clusterName: "east" };
}

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const answering = (text: string): Promise<string> => serve((_, response) => response.end(text));

const PLANE = managementCluster([
  cluster("east", "LAGGING", {
    conditions: [condition("Lagging", "True", "at least 10 changes of the desired state wait for acknowledgement")],
  }),
  cluster("north"),
  cluster("west", "OFFLINE"),
]);

describe("meshctl sync status", () => {
  it("prints what the management cluster tells, and with an admin port what its server knows", async () => {
    const admin = await answering(METRICS);
    for (const columns of [80, 120]) {
      const plain = await runIn(PLANE, ["sync", "status"], columns);
      expect(plain).toMatchObject({ code: 1, err: "1 of 3 clusters are connected and have what is desired\n" });
      expectGolden(`sync/status-${columns}`, plain.out);
      expectGolden(`sync/measured-${columns}`, (await runIn(PLANE, ["sync", "status", "--admin-address", admin], columns)).out);
    }
    const { out } = await runIn(PLANE, ["sync", "status", "--admin-address", admin, "-o", "json"]);
    expect(JSON.parse(out)).toMatchObject({
      clusters: [{ cluster: "east", reported: 412, queued: 3, unacknowledged: 1, rejected: 3, lagSeconds: 94.5 }, { cluster: "north" }, {}],
    });
  });

  it("says what would be written in clusters that are not managed, and what others have there", async () => {
    const waiting = cluster("south", "CONNECTED", { spec: { mode: "freeze" }, mode: "manage" });
    const plane = managementCluster([cluster("north"), observedCluster("east"), waiting]);
    for (const columns of [80, 120]) {
      const run = await runIn(plane, ["sync", "status"], columns);
      expect(run).toMatchObject({ code: 0, err: "1 of 3 clusters are connected and have what is desired; 2 in mode observe or freeze\n" });
      for (const line of run.out.split("\n")) expect(line.length).toBeLessThanOrEqual(columns);
      expectGolden(`sync/observed-${columns}`, run.out);
    }
    const { clusters } = JSON.parse((await runIn(plane, ["sync", "status", "-o", "json"])).out) as { readonly clusters: readonly object[] };
    expect(clusters).toMatchObject([
      { cluster: "east", mode: "observe", comparison: { wouldCreate: 2, conflicts: 1 }, managedObjects: ["ServiceEntry */*"] },
      { cluster: "north", mode: "manage" },
      { cluster: "south", mode: "freeze", acknowledged: "manage" },
    ]);
  });

  it("succeeds when nothing is behind", async () => {
    expect((await runIn(managementCluster([cluster("east")]), ["sync", "status"])).code).toBe(0);
  });
});

describe("meshctl explain delete", () => {
  it("prints the latest deletes first, with their causes", async () => {
    const admin = await answering(JSON.stringify(EVIDENCE));
    for (const columns of [80, 120]) {
      const run = await runIn(PLANE, ["explain", "delete", "--admin-address", admin], columns);
      expect(run).toMatchObject({ code: 0, err: "" });
      expectGolden(`explain/delete-${columns}`, run.out);
    }
    const one = await runIn(PLANE, [
      "explain",
      "delete",
      "virtualservice",
      "bookinfo/reviews",
      "--cluster",
      "east",
      "--admin-address",
      admin,
      "-o",
      "json",
    ]);
    expect(JSON.parse(one.out).items).toEqual([expect.objectContaining({ object: ref("VirtualService", "reviews"), snapshot: "41" })]);
    const none = await runIn(PLANE, ["explain", "delete", "Gateway", "--admin-address", admin]);
    expect(none).toMatchObject({ code: 0, out: "", err: "No such delete among the last 2 that this server knows since it started.\n" });
  });

  it.each([
    ["is no URL", "localhost:9091", /^error: --admin-address localhost:9091: must be a URL such as http:\/\/127\.0\.0\.1:9091\n$/],
    ["is a file", "file:///etc/passwd", /must be a URL such as/],
    ["is closed", "http://127.0.0.1:1", /^error: cannot reach the admin port at http:\/\/127\.0\.0\.1:1: .*without --admin-address/],
  ])("says what to do where the admin port %s", async (_, url, message) => {
    const run = await runIn(PLANE, ["explain", "delete", "--admin-address", url]);
    expect(run).toMatchObject({ code: 2, out: "" });
    expect(run.err).toMatch(message);
  });

  it("passes a token on, never to another address", async () => {
    const folder = mkdtempSync(join(tmpdir(), "meshctl-"));
    writeFileSync(join(folder, "token"), "s3cret\n");
    const seen: (string | undefined)[] = [];
    const other = await serve((request, response) => {
      seen.push(`elsewhere ${request.headers.authorization}`);
      response.end("{}");
    });
    const admin = await serve((request, response) => {
      seen.push(request.headers.authorization);
      if (request.headers.authorization === undefined) response.writeHead(401).end("a bearer token is required\n");
      else response.writeHead(302, { location: other }).end();
    });
    const without = await runIn(PLANE, ["explain", "delete", "--admin-address", admin]);
    expect(without.err).toContain("a bearer token is required. Put the token into a file, and pass it with --admin-token-file");
    const led = await runIn(PLANE, ["explain", "delete", "--admin-address", admin, "--admin-token-file", join(folder, "token")]);
    rmSync(folder, { recursive: true });
    expect(led.code).toBe(2);
    expect(seen).toEqual([undefined, "Bearer s3cret"]);
  });

  it.each([
    ["something else", "hello", /is not JSON: was it a management server or an agent that answered\?/],
    ["an agent's health", "{}", /has no items/],
  ])("says that the address answers with %s", async (_, text, message) => {
    const run = await runIn(PLANE, ["explain", "delete", "--admin-address", await answering(text)]);
    expect(run.code).toBe(2);
    expect(run.err).toMatch(message);
  });

  it("gives up on a server that hangs, and on one that never ends", async () => {
    const silent = await serve(() => undefined);
    const run = await runIn(PLANE, ["explain", "delete", "--admin-address", silent, "--request-timeout", "1s"]);
    expect(run).toMatchObject({ code: 2 });
    expect(run.err).toMatch(/^error: admin port: no complete answer within 1 s/);
    const endless = await serve((_, response) => {
      const more = (): void => {
        while (response.write(Buffer.alloc(1024 * 1024, " "))) if (response.destroyed) return;
        response.once("drain", more);
      };
      more();
    });
    expect((await runIn(PLANE, ["explain", "delete", "--admin-address", endless])).err).toContain(
      "is larger than 64 MiB: is it the admin port?",
    );
  });
});
