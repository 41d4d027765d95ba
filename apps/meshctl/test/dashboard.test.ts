import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from "node:net";
import type { AnyResource } from "@isthmus/core";
import type { ApiServer, PodPort } from "@isthmus/kubernetes";
import { ClusterError } from "@isthmus/ports";
import { afterEach, describe, expect, it, vi } from "vitest";
import { meshctl } from "../src/meshctl.ts";
import { deployment } from "./fleetObjects.ts";
import { managementCluster } from "./planeRun.ts";
import { recordedIo } from "./recordedIo.ts";

const namespace = "gloo-mesh";
const servers: Server[] = [];
const stops: AbortController[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) stop.abort();
  for (const server of servers.splice(0)) server.close();
});

async function listening(server: Server): Promise<number> {
  servers.push(server.listen(0, "127.0.0.1"));
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

interface PodOptions {
  readonly isReady?: boolean;
  readonly createdAt?: string;
  readonly port?: number;
}

/** A pod of the console; its container has the port of the chart. */
function pod(name: string, { isReady = true, createdAt = "2026-11-11T10:00:00Z", port = 8090 }: PodOptions = {}): AnyResource {
  const ports = [
    { name: "stats", containerPort: 9091 },
    { name: "console", containerPort: port },
  ];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, labels: { app: "gloo-mesh-ui" }, creationTimestamp: createdAt },
    spec: { containers: [{ name: "ui", image: "image", ports }] },
    status: { phase: "Running", conditions: [{ type: "Ready", status: isReady ? "True" : "False" }] },
  } as unknown as AnyResource;
}

/** The ports on this machine that stand for those of pods, by the names of the pods, or why there is none. */
type Programs = Map<string, number | ClusterError>;

interface Started {
  readonly address: string;
  readonly asked: readonly PodPort[];
  readonly err: () => string;
  readonly end: () => Promise<number>;
}

function apiServer(programs: Programs, asked: PodPort[]) {
  return async (): Promise<ApiServer> => ({
    address: "https://mgmt.example",
    version: async () => "v1.31.0",
    clockAheadMs: async () => undefined,
    isAllowed: async () => true,
    async *podLog() {
      yield "";
    },
    async connectToPod(to, signal) {
      signal.throwIfAborted();
      asked.push(to);
      const port = programs.get(to.pod);
      if (typeof port !== "number") throw port ?? new ClusterError("NotFound", `no pod ${to.pod}`);
      return connect(port, "127.0.0.1");
    },
  });
}

async function start(plane: ReturnType<typeof managementCluster>, programs: Programs, args: readonly string[] = []): Promise<Started> {
  const io = recordedIo();
  const stop = new AbortController();
  stops.push(stop);
  const asked: PodPort[] = [];
  const outside = { connect: async () => plane, connectApiServer: apiServer(programs, asked), catchInterrupts: () => stop.signal };
  const ended = meshctl(["dashboard", "--port", "0", ...args], io, outside);
  await vi.waitFor(() => expect(io.written.out, io.written.err).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/.*\n$/), { timeout: 20_000 });
  const end = () => {
    stop.abort();
    return ended;
  };
  return { address: io.written.out.trim(), asked, err: () => io.written.err, end };
}

const console8090 = (name: string) => listening(createServer((_, response) => response.end(`${name} answers`)));

async function refused(
  args: readonly string[],
  objects: readonly AnyResource[] = [],
  programs: Programs = new Map(),
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const io = recordedIo();
  const plane = managementCluster(objects);
  const code = await meshctl(["dashboard", ...args], io, { connect: async () => plane, connectApiServer: apiServer(programs, []) });
  return { code, ...io.written };
}

describe("meshctl dashboard", () => {
  it("forwards to the newest pod that is ready, by its port of the name console, until it is ended", async () => {
    const pods = [
      pod("old"),
      pod("new", { createdAt: "2026-11-11T11:00:00Z", port: 8099 }),
      pod("starting", { isReady: false, createdAt: "2026-11-11T12:00:00Z" }),
    ];
    const plane = managementCluster([deployment("gloo-mesh-ui"), ...pods]);
    const { address, asked, end } = await start(plane, new Map([["new", await console8090("new")]]));
    expect(await (await fetch(address)).text()).toBe("new answers");
    expect(new Set(asked.map(({ pod: name, port }) => `${name}:${port}`))).toEqual(new Set(["new:8099"]));
    expect(await end()).toBe(0);
    await expect(fetch(address)).rejects.toThrow();
  });

  it("says and opens nothing once it was ended while it connected", async () => {
    const plane = managementCluster([deployment("gloo-mesh-ui"), pod("new")]);
    const programs = new Map([["new", await console8090("new")]]);
    const io = recordedIo();
    const stop = new AbortController();
    const connectApiServer = async () => {
      const api = await apiServer(programs, [])();
      return {
        ...api,
        connectToPod: (to: PodPort, signal: AbortSignal) => {
          stop.abort();
          return api.connectToPod(to, signal);
        },
      };
    };
    const outside = { connect: async () => plane, connectApiServer, catchInterrupts: () => stop.signal };
    expect(await meshctl(["dashboard", "--port", "0"], io, outside)).toBe(0);
    expect(io.written).toMatchObject({ out: "", err: "" });
  });

  it("ends at once when it is ended while an API server says nothing, and leaves what it waited for", async () => {
    const io = recordedIo();
    const stop = new AbortController();
    let hasLeft = false;
    const silent = (): Promise<never> => {
      stop.abort();
      return new Promise(() => undefined);
    };
    const outside = {
      connect: async () => ({ ...managementCluster([]), list: silent }),
      connectApiServer: apiServer(new Map(), []),
      catchInterrupts: () => stop.signal,
      leave: () => {
        hasLeft = true;
      },
    };
    expect(await meshctl(["dashboard", "--port", "0"], io, outside)).toBe(0);
    expect(io.written).toMatchObject({ out: "", err: "" });
    expect(hasLeft).toBe(true);
  });

  it("finds another pod once the one that it knows is gone, and says what is wrong while there is none, once", async () => {
    const plane = managementCluster([deployment("gloo-mesh-ui"), pod("a")]);
    const programs: Programs = new Map([["a", await console8090("a")]]);
    const { address, err } = await start(plane, programs);
    const answer = async () => (await fetch(address, { headers: { connection: "close" } })).text();
    expect(await answer()).toBe("a answers");
    programs.delete("a");
    await plane.delete({ apiVersion: "v1", kind: "Pod", name: "a", namespace, clusterName: "" });
    for (let i = 0; i < 3; i++) await expect(answer()).rejects.toThrow();
    expect(err().match(/warning: /g)).toHaveLength(1);
    expect(err()).toContain("warning: Deployment gloo-mesh/gloo-mesh-ui has no pods");
    programs.set("b", await console8090("b"));
    await plane.create(pod("b"));
    await plane.applyStatus(pod("b"), { fieldManager: "kubelet", force: true });
    expect(await answer()).toBe("b answers");
  });

  it("forwards 64 connections at a time, and closes one more", async () => {
    const accepted: Socket[] = [];
    const quiet = await listening(createTcpServer((socket) => accepted.push(socket.resume())));
    const plane = managementCluster([deployment("gloo-mesh-ui"), pod("a")]);
    const { address, asked } = await start(plane, new Map([["a", quiet]]));
    const port = Number(new URL(address).port);
    const clients = Array.from({ length: 70 }, () => connect(port, "127.0.0.1").on("error", () => undefined));
    let closed = 0;
    for (const client of clients) client.once("close", () => closed++);
    await vi.waitFor(() => expect(closed).toBe(6));
    // With the one that was opened first, to find out whether that is permitted.
    expect(asked).toHaveLength(65);
    const open = () => accepted.filter(({ readyState }) => readyState === "open").length;
    await vi.waitFor(() => expect(open()).toBe(64));
    for (const client of clients) client.destroy();
    await vi.waitFor(() => expect(open()).toBe(0));
    expect(await new Promise((resolve) => connect(port, "127.0.0.1").once("connect", () => resolve("connected")))).toBe("connected");
    for (const socket of accepted) socket.destroy();
  });

  it.each([
    [["Destination", "reviews-bookinfo-east"], "discovery.mesh.gloo.solo.io/Destination/_/gloo-mesh/reviews-bookinfo-east"],
    [["dest", "other/reviews"], "discovery.mesh.gloo.solo.io/Destination/_/other/reviews"],
    [["trafficpolicies", "bookinfo/slow"], "networking.mesh.gloo.solo.io/TrafficPolicy/_/bookinfo/slow"],
    [["VirtualService", "bookinfo/reviews", "--cluster", "east"], "networking.istio.io/VirtualService/east/bookinfo/reviews"],
    [["services", "bookinfo/reviews", "--cluster", "east"], "_/Service/east/bookinfo/reviews"],
    [["mesh", "m"], "discovery.mesh.gloo.solo.io/Mesh/_/gloo-mesh/m"],
    [["mesh.appmesh.k8s.aws", "m", "--cluster", "east"], "appmesh.k8s.aws/Mesh/east/_/m"],
    [["Node", "n", "--cluster", "east"], "_/Node/east/_/n"],
    [["Destination", "a?b#c\u001b[2J/d e"], "discovery.mesh.gloo.solo.io/Destination/_/a%3Fb%23c%1B%5B2J/d%20e"],
  ])("prints the address of an object's page: %j", async (args, page) => {
    const plane = managementCluster([deployment("gloo-mesh-ui"), pod("a")]);
    const { address } = await start(plane, new Map([["a", await console8090("a")]]), args);
    expect(address.replace(/:\d+/, "")).toBe(`http://127.0.0.1/object/${page}`);
  });

  it.each([
    [["Thing", "a"], /Thing is not a kind that the console has/],
    [["policies", "a"], /policies is more than one kind: use one of TrafficPolicy\.networking\.mesh\.gloo\.solo\.io, AccessPolicy\./],
    [["Destination"], /the name of an object must follow its kind/],
    [["Destination", "a/b/c"], /a\/b\/c is not the name of an object/],
    [["Destination", "/c"], /\/c is not the name of an object/],
    [["--cluster", "east"], /--cluster has no effect without/],
    [["--port", "65536"], /65536 is not a port number/],
  ])("refuses %j before it asks a cluster", async (args, message) => {
    expect(await refused(args)).toMatchObject({ code: 2, out: "", err: expect.stringMatching(message) });
  });

  it.each([
    ["no console", [], /^error: no Deployment gloo-mesh-ui in namespace gloo-mesh: .* installs the console with glooUi\.enabled: true/],
    ["no pod", [deployment("gloo-mesh-ui")], /Deployment gloo-mesh\/gloo-mesh-ui has no pods/],
    [
      "a pod that starts",
      [deployment("gloo-mesh-ui"), pod("a", { isReady: false })],
      /no pod of .* is ready: it starts once a management server/,
    ],
  ])("says what is wrong: %s", async (_, objects, message) => {
    expect(await refused([], objects)).toMatchObject({ code: 2, out: "", err: expect.stringMatching(message) });
  });

  it("says that a permission is missing before it prints an address", async () => {
    const forbidden = new ClusterError("Forbidden", 'pods "a" is forbidden: cannot create resource "pods/portforward"');
    const answer = await refused([], [deployment("gloo-mesh-ui"), pod("a")], new Map([["a", forbidden]]));
    expect(answer).toMatchObject({ code: 2, out: "", err: expect.stringMatching(/pods\/portforward".*Use a kubeconfig whose user/s) });
  });

  it("says that its port is in use", async () => {
    const taken = await console8090("another program");
    const programs: Programs = new Map([["a", await console8090("a")]]);
    const answer = await refused(["-p", String(taken)], [deployment("gloo-mesh-ui"), pod("a")], programs);
    expect(answer).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining(`port ${taken} on 127.0.0.1 is already in use: set another --port`),
    });
  });
});
