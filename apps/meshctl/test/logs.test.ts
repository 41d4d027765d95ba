import type { AnyResource } from "@isthmus/core";
import type { ApiServer, LogOptions } from "@isthmus/kubernetes";
import { ClusterError } from "@isthmus/ports";
import { describe, expect, it } from "vitest";
import { deployment } from "./fleetObjects.ts";
import { managementCluster, runIn } from "./planeRun.ts";

function pod(name: string, app: string): AnyResource {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "gloo-mesh", labels: { app } },
    spec: {
      containers: [
        { name: "main", image: "image" },
        { name: "istio-proxy", image: "proxy" },
      ],
    },
  };
}

const plane = managementCluster([
  deployment("gloo-mesh-mgmt-server"),
  deployment("enterprise-agent"),
  pod("server-a", "gloo-mesh-mgmt-server"),
  pod("server-b", "gloo-mesh-mgmt-server"),
  pod("agent-a", "enterprise-agent"),
  pod("other", "other"),
]);

function apiServer(asked: LogOptions[], chunks: (pod: string) => readonly string[]) {
  return async (): Promise<ApiServer> => ({
    address: "https://mgmt.example",
    version: async () => "v1.31.0",
    clockAheadMs: async () => undefined,
    isAllowed: async () => true,
    connectToPod: () => Promise.reject(new Error("no pod was meant")),
    async *podLog(options) {
      asked.push(options);
      yield* chunks(options.pod);
    },
  });
}

describe("meshctl logs", () => {
  it("prints whole lines of each pod of the server, and who wrote them", async () => {
    const asked: LogOptions[] = [];
    const connectApiServer = apiServer(asked, (name) => [`one of ${name}\ntw`, "o\u001b[2J\r\nthree"]);
    const { code, out } = await runIn(plane, ["logs", "--tail", "3"], undefined, { connectApiServer });
    expect({ code, out }).toEqual({
      code: 0,
      out: ["server-a", "server-b"].map((name) => `${name}: one of ${name}\n${name}: two[2J\n${name}: three\n`).join(""),
    });
    const options = { namespace: "gloo-mesh", container: "main", follow: false, tailLines: 3 };
    expect(asked).toEqual([
      { ...options, pod: "server-a" },
      { ...options, pod: "server-b" },
    ]);
  });

  it("follows the agent, by the names of either generation", async () => {
    const asked: LogOptions[] = [];
    const { out } = await runIn(plane, ["logs", "--agent", "-f"], undefined, { connectApiServer: apiServer(asked, () => ["x\n"]) });
    expect(out).toBe("x\n");
    expect(asked).toMatchObject([{ pod: "agent-a", follow: true }]);
  });

  it("prints those of the agent of a cluster that is named", async () => {
    const asked: LogOptions[] = [];
    await runIn(plane, ["logs", "--cluster", "east"], undefined, { connectApiServer: apiServer(asked, () => ["x\n"]) });
    expect(asked).toMatchObject([{ pod: "agent-a", follow: false }]);
  });

  it("prints a line without an end in pieces", async () => {
    const chunk = "y".repeat(10_000);
    const { out } = await runIn(plane, ["logs", "--agent"], undefined, { connectApiServer: apiServer([], () => [chunk, chunk, chunk]) });
    expect(out).toBe(`${"y".repeat(16_383)}…\n${chunk}\n`);
  });

  it.each([
    [
      [],
      managementCluster([]),
      /^error: no Deployment of a management server in namespace gloo-mesh: --context selects the management cluster/,
    ],
    [["--agent"], managementCluster([deployment("gloo-mesh-agent")]), /^error: Deployment gloo-mesh\/gloo-mesh-agent has no pods: kubectl/],
    [["--tail", "many"], plane, /many is not a number of lines/],
  ])("says what is missing: %j", async (args, cluster, message) => {
    const run = await runIn(cluster, ["logs", ...args], undefined, { connectApiServer: apiServer([], () => []) });
    expect(run.code).toBe(2);
    expect(run.err).toMatch(message);
  });

  it("says why logs may not be read", async () => {
    const connectApiServer = async (): Promise<ApiServer> => ({
      ...(await apiServer([], () => [])()),
      // biome-ignore lint/correctness/useYield: it fails before it gives anything
      async *podLog() {
        throw new ClusterError("Forbidden", 'pods "agent-a" is forbidden: User "dev" cannot get resource "pods/log"');
      },
    });
    const run = await runIn(plane, ["logs", "--agent"], undefined, { connectApiServer });
    expect(run).toMatchObject({ code: 2 });
    expect(run.err).toContain('cannot get resource "pods/log". Use a kubeconfig whose user has these permissions');
  });
});
