import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from "node:net";
import type { AnyResource } from "@isthmus/core";
import type { ApiServer, PodPort } from "@isthmus/kubernetes";
import { ClusterError } from "@isthmus/ports";
import { afterEach, describe, expect, it } from "vitest";
import { cluster, deployment } from "./fleetObjects.ts";
import { managementCluster, type Run, runIn } from "./planeRun.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function listening(server: Server): Promise<number> {
  servers.push(server.listen(0, "127.0.0.1"));
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const serving = (listener: RequestListener): Promise<number> => listening(createServer(listener));

/** A pod of the server; its container has the port of the charts. */
function pod(name: string, { app = "gloo-mesh-mgmt-server", phase = "Running", container = {} } = {}): AnyResource {
  const containers = [{ name: "main", image: "image", ports: [{ name: "stats", containerPort: 9095 }], ...container }];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "gloo-mesh", labels: { app } },
    spec: { containers },
    status: { phase },
  };
}

interface Plane {
  readonly pods?: readonly AnyResource[];
  /** The port on this machine that stands for that of a pod, or why there is none. */
  readonly ports?: Readonly<Record<string, number | ClusterError>>;
}

/** Runs a command against a plane whose pods are programs of this machine. Gives also which ports of pods were connected to. */
async function runWith(
  { pods = [pod("server-a"), pod("server-b")], ports = {} }: Plane,
  args: readonly string[],
): Promise<Run & { readonly asked: readonly PodPort[] }> {
  const asked: PodPort[] = [];
  const connectApiServer = async (): Promise<ApiServer> => ({
    address: "https://mgmt.example",
    version: async () => "v1.31.0",
    clockAheadMs: async () => undefined,
    isAllowed: async () => true,
    async *podLog() {
      yield "";
    },
    async connectToPod(to, signal) {
      asked.push(to);
      const port = ports[to.pod];
      if (typeof port !== "number") throw port ?? new Error(`nothing stands for ${to.pod}`);
      const socket = connect(port, "127.0.0.1");
      signal.addEventListener("abort", () => socket.destroy(signal.reason as Error), { once: true });
      return socket;
    },
  });
  const plane = managementCluster([
    deployment("gloo-mesh-mgmt-server"),
    deployment("gloo-mesh-agent"),
    cluster("east"),
    cluster("west"),
    ...pods,
  ]);
  return { ...(await runIn(plane, args, undefined, { connectApiServer })), asked };
}

const entry = (name: string, at: string) => ({
  at,
  step: "Removed",
  object: { apiVersion: "v1", kind: "VirtualService", name, namespace: "bookinfo", clusterName: "east" },
  reason: "source deleted",
});
const evidence = (...items: readonly object[]) =>
  serving((request, response) => response.end(request.url === "/evidence" ? JSON.stringify({ items }) : ""));
const refused = (code: ConstructorParameters<typeof ClusterError>[0], message: string) => new ClusterError(code, message);

describe("an admin port behind the API server", () => {
  it("is asked in each pod of the server, and the deletes are printed in one order", async () => {
    const ports = {
      "server-a": await evidence(entry("first", "2026-11-20T11:00:00Z"), entry("third", "2026-11-20T11:30:00Z")),
      "server-b": await evidence(entry("second", "2026-11-20T11:15:00Z")),
    };
    const { code, out, err, asked } = await runWith({ ports }, ["explain", "delete", "-o", "json"]);
    const { items } = JSON.parse(out) as { readonly items: readonly { readonly object: { readonly name: string } }[] };
    expect(items.map(({ object }) => object.name)).toEqual(["third", "second", "first"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(asked).toEqual(["server-a", "server-b"].map((name) => ({ namespace: "gloo-mesh", pod: name, port: 9095 })));
    const none = await runWith({ ports }, ["explain", "delete", "Gateway"]);
    expect(none.err).toBe("No such delete among the last 3 that these 2 servers know since they started.\n");
  });

  it("is that of the agent with --agent, at the programs' own port where the pod names none", async () => {
    const pods = [pod("server-a"), pod("agent-a", { app: "gloo-mesh-agent", container: { ports: [] } })];
    const { asked, code } = await runWith({ pods, ports: { "agent-a": await evidence() } }, ["explain", "delete", "--agent"]);
    expect({ asked, code }).toEqual({ asked: [{ namespace: "gloo-mesh", pod: "agent-a", port: 9091 }], code: 0 });
  });

  it("gives sync status what each replica measures of its agents", async () => {
    const metrics = (name: string) => serving((_, response) => response.end(`relay_server_reported_objects{cluster="${name}"} 4\n`));
    const ports = { "server-a": await metrics("east"), "server-b": await metrics("west") };
    const { code, out } = await runWith({ ports }, ["sync", "status", "--metrics", "-o", "json"]);
    expect(JSON.parse(out)).toMatchObject({
      clusters: [
        { cluster: "east", reported: 4 },
        { cluster: "west", reported: 4 },
      ],
    });
    expect(code).toBe(0);
    expect((await runWith({}, ["sync", "status"])).asked).toEqual([]);
  });

  it("that does not answer leaves the others, and the exit code 3", async () => {
    const ports = {
      "server-a": refused("Unavailable", "port 9095 of Pod gloo-mesh/server-a: connection refused"),
      "server-b": await evidence(),
    };
    for (const args of [
      ["explain", "delete"],
      ["sync", "status", "--metrics"],
    ]) {
      const run = await runWith({ ports }, args);
      expect(run).toMatchObject({
        code: 3,
        err: expect.stringContaining("warning: port 9095 of Pod gloo-mesh/server-a: connection refused\n"),
      });
    }
  });

  it("is asked in one pod of the server for what all of them know, and in the next one where it does not answer", async () => {
    const items = [
      { apiVersion: "multicluster.solo.io/v1alpha1", kind: "KubernetesCluster", metadata: { name: "west", namespace: "gloo-mesh" } },
    ];
    const snapshot = await serving((_, response) => response.end(JSON.stringify({ apiVersion: "v1", kind: "List", items, metadata: {} })));
    const args = ["what-if", "--live", "--without", "west", "-o", "json"];
    const both = await runWith({ ports: { "server-a": snapshot, "server-b": snapshot } }, args);
    expect(both.asked.map(({ pod: name }) => name)).toEqual(["server-a"]);
    expect(both).toMatchObject({ code: 3, err: expect.stringContaining("the server knows nothing of west") });
    const second = await runWith({ ports: { "server-a": refused("Unavailable", "connection refused"), "server-b": snapshot } }, args);
    expect(second.asked.map(({ pod: name }) => name)).toEqual(["server-a", "server-b"]);
    expect(second.err).toMatch(/^warning: connection refused\n/);
    expect(second.out).toBe(both.out);
  });

  it("is left out of pods that do not run", async () => {
    const pods = [pod("server-a", { phase: "Pending" }), pod("server-b")];
    expect(await runWith({ pods, ports: { "server-b": await evidence() } }, ["explain", "delete"])).toMatchObject({ code: 0 });
    expect(await runWith({ pods: pods.slice(0, 1) }, ["explain", "delete"])).toMatchObject({
      code: 2,
      err: "error: no pod of it runs: kubectl -n gloo-mesh describe pod server-a\n",
    });
  });

  it.each([
    [
      "the right to it is missing",
      { ports: { "server-a": refused("Forbidden", 'User "u" cannot get resource "pods/portforward"') } },
      /^error: management cluster: User "u" cannot get resource "pods\/portforward". Use a kubeconfig whose user has these permissions/,
    ],
    [
      "no node answers",
      { pods: [pod("server-a")], ports: { "server-a": refused("Unavailable", "dial tcp 10.0.0.1:10250: connection refused") } },
      /^error: management cluster: dial tcp 10.0.0.1:10250: connection refused/,
    ],
    [
      "the port serves TLS",
      { pods: [pod("server-a", { container: { args: ["--admin-tls-cert=/tls.crt"] } })] },
      /Pod gloo-mesh\/server-a serves TLS only: pass an address/,
    ],
    ["there is no server", { pods: [] }, /Deployment gloo-mesh\/gloo-mesh-mgmt-server has no pods/],
  ] as const)("says what to do where %s", async (_, plane, message) => {
    const run = await runWith(plane, ["explain", "delete"]);
    expect(run).toMatchObject({ code: 2, out: "" });
    expect(run.err).toMatch(message);
  });

  it.each([
    ["is not HTTP", () => listening(createTcpServer((socket) => socket.end("SSH-2.0-x\r\n"))), /Parse Error.*: is it the admin port\?/],
    ["ends at once", () => listening(createTcpServer((socket) => socket.destroy())), /is it the admin port\?/],
    [
      "refuses",
      () => serving((_, response) => response.writeHead(503).end("not ready\n")),
      /Pod gloo-mesh\/server-a: HTTP status 503: not ready/,
    ],
    [
      "never ends",
      () =>
        listening(
          createTcpServer((socket) => {
            socket.write("HTTP/1.1 200 OK\r\n\r\n");
            const more = (): void => {
              while (socket.write(Buffer.alloc(1024 * 1024, " "))) if (socket.destroyed) return;
              socket.once("drain", more);
            };
            socket.on("error", () => undefined);
            more();
          }),
        ),
      /is larger than 64 MiB/,
    ],
  ])("whose answer %s is no page", async (_, start, message) => {
    const run = await runWith({ pods: [pod("server-a")], ports: { "server-a": await start() } }, ["explain", "delete"]);
    expect(run).toMatchObject({ code: 2, out: "" });
    expect(run.err).toMatch(message);
  });

  it("is not waited for longer than --request-timeout", async () => {
    const ports = { "server-a": await serving(() => undefined) };
    const run = await runWith({ pods: [pod("server-a")], ports }, ["explain", "delete", "--request-timeout", "1s"]);
    expect(run).toMatchObject({ code: 2, err: expect.stringMatching(/^error: management cluster: no complete answer within 1 s/) });
  });

  it.each([
    [["explain", "delete", "--admin-token-file", "f"], "--admin-token-file needs --admin-address"],
    [["sync", "status", "--admin-token-file", "f"], "--admin-token-file needs --admin-address"],
    [["explain", "delete", "--admin-address", "http://127.0.0.1:1", "--agent"], "--admin-address and --agent are mutually exclusive"],
    [
      ["explain", "delete", "--admin-address", "http://127.0.0.1:1", "--context", "c"],
      "--admin-address and --context are mutually exclusive",
    ],
  ])("is not asked with %j", async (args, message) => {
    expect(await runWith({}, args)).toMatchObject({ code: 2, out: "", err: expect.stringContaining(message), asked: [] });
  });
});
