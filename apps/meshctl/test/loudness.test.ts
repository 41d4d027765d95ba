import { Mesh } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import type { ApiServer } from "@isthmus/kubernetes";
import { ClusterError } from "@isthmus/ports";
import { describe, expect, it } from "vitest";
import { adjustableIo } from "../src/commands/commandLine/loudness.ts";
import { verboseConnections } from "../src/commands/verboseConnections.ts";
import { deployment, mesh, NOW } from "./fleetObjects.ts";
import { managementCluster, runIn } from "./planeRun.ts";
import { recordedIo } from "./recordedIo.ts";

const ts = new Date(NOW).toISOString();
const plane = managementCluster([
  mesh("east"),
  { apiVersion: Mesh.apiVersion, kind: Mesh.kind, metadata: { name: "odd" }, spec: 7 } as never,
]);

/** A pod that is ready. */
function podOf(app: string): AnyResource {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `${app}-1`, namespace: "gloo-mesh", labels: { app } },
    spec: { containers: [{ name: "main", image: "image", ports: [{ name: "console", containerPort: 8090 }] }] },
    status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
  } as unknown as AnyResource;
}

function records(err: string): readonly unknown[] {
  return err
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
}

describe("-v", () => {
  const asked = "debug: objects are read and written in context mgmt of the kubeconfig of KUBECONFIG or the home directory\n";
  const ended = "debug: ended with exit code 0 after 0 ms\n";
  const list = "debug: list meshes: 1 objects, 0 ms\n";

  it.each([
    [["-v"], asked + ended],
    [["-v", "1"], asked + ended],
    [["-v=2"], asked + list + ended],
    [["-v2"], asked + list + ended],
    [["--verbose", "2"], asked + list + ended],
    [["--verbose=0"], ""],
    [[], ""],
  ])("%j says on standard error what is done, and changes no data", async (flags, expected) => {
    const args = ["get", "meshes", "--context", "mgmt", "-o", "name"];
    const run = await runIn(managementCluster([mesh("east")]), [...args, ...flags]);
    expect(run).toEqual({ code: 0, out: (await runIn(plane, args)).out, err: expected });
  });

  it("names requests that failed, and nothing of an object but its kind and name", async () => {
    const args = ["cluster", "token", "create", "--cluster", "east", "-v2"];
    const refused = await runIn(managementCluster([]), args);
    expect(refused.err).toMatch(/^debug: (create|apply) Secret .*: NotFound, 0 ms$/m);
    const run = await runIn(managementCluster([mesh("east")]), args);
    expect(run.code).toBe(0);
    const token = /[\w-]{30,}/.exec(run.out)?.[0] ?? expect.unreachable();
    expect(run.err).toMatch(/^debug: (create|apply) Secret .*: done, 0 ms$/m);
    expect(run.err.split("\n").filter((line) => line.startsWith("debug:") && line.includes(token))).toEqual([]);
  });

  it("names what else an API server is asked for, and nothing of what it answers", async () => {
    const objects = ["gloo-mesh-ui", "gloo-mesh-mgmt-server"].flatMap((app) => [deployment(app), podOf(app)]);
    const api: ApiServer = {
      address: "https://mgmt.example",
      version: async () => "v1.31.0",
      clockAheadMs: async () => undefined,
      isAllowed: async () => true,
      async *podLog() {
        yield '{"msg":"SECRET-CANARY"}\n';
      },
      connectToPod: async () => {
        throw new ClusterError("Forbidden", "no pods/portforward");
      },
    };
    const outside = { connectApiServer: async () => api };
    const logs = await runIn(managementCluster(objects), ["logs", "-v2"], undefined, outside);
    expect(logs.err).toMatch(/^debug: log of pod gloo-mesh\/gloo-mesh-mgmt-server-1, container main: done, 0 ms$/m);
    expect(logs.out).toContain("CANARY");
    expect(logs.err).not.toContain("CANARY");
    const dashboard = await runIn(managementCluster(objects), ["dashboard", "--port", "0", "-v2"], undefined, outside);
    expect(dashboard.err).toMatch(/^debug: connect to port 8090 of pod gloo-mesh\/gloo-mesh-ui-1: Forbidden, 0 ms$/m);
    expect(dashboard.err).toMatch(/^debug: ended with exit code 2 after 0 ms$/m);
    const check = await runIn(managementCluster(objects), ["precheck", "-v2"], undefined, outside);
    expect(check.err).toMatch(/^debug: get version: done, 0 ms$/m);
    expect(check.err).toMatch(/^debug: ask whether this user may \w+ .*: yes, 0 ms$/m);
  });

  it("names what the cluster to register is asked for", async () => {
    const recorded = recordedIo();
    const io = adjustableIo(recorded, () => NOW);
    io.adjust({ verbose: 2, plain: true });
    const unused = () => expect.unreachable();
    const api = { address: "", version: async () => "v1.31.0" } as ApiServer;
    const connectRemote = async () => ({ cluster: plane, address: {} as never, api, log: async () => "SECRET-CANARY" });
    const parts = { connect: unused, connectApiServer: unused, readAdminPage: unused, connectRemote, now: () => NOW };
    const access = await verboseConnections(parts, io).connectRemote({ context: "east" });
    await access.api?.version();
    expect(await access.log?.({ name: "agent", namespace: "gloo-mesh" })).toBe("SECRET-CANARY");
    expect(recorded.written.err.split("\n").slice(1)).toEqual([
      "debug: get version: done, 0 ms",
      "debug: log of pod gloo-mesh/agent: done, 0 ms",
      "",
    ]);
  });

  it("names what an admin port is asked for, without the password of its address", async () => {
    const readAdminPage = async () => "SECRET-CANARY";
    const args = ["cert", "list", "--admin-address", "http://me:PASS-CANARY@127.0.0.1:9091", "-v2"];
    const run = await runIn(managementCluster([]), args, undefined, { readAdminPage });
    expect(run.err).toMatch(/^debug: get \/\S+ of http:\/\/127\.0\.0\.1:9091: 13 characters, 0 ms$/m);
    expect(run.err.split("\n").filter((line) => line.startsWith("debug:") && line.includes("CANARY"))).toEqual([]);
  });

  it("is 0, 1 or 2, and not asked for together with --quiet", async () => {
    expect(await runIn(plane, ["get", "meshes", "-v", "east"])).toMatchObject({ code: 2, err: expect.stringContaining("write -v 1") });
    expect(await runIn(plane, ["get", "meshes", "-v", "-q"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("cannot be used with"),
    });
  });
});

describe("--log-format json", () => {
  it("writes an object a line to standard error, and the data as ever", async () => {
    const args = ["get", "meshes", "--context", "mgmt"];
    const run = await runIn(plane, [...args, "-v", "--log-format", "json"]);
    expect(run.out).toBe((await runIn(plane, args)).out);
    expect(records(run.err)).toEqual([
      { level: "debug", ts, logger: "meshctl", msg: expect.stringContaining("context mgmt") },
      { level: "warn", ts, logger: "meshctl", msg: expect.stringContaining("odd") },
      { level: "debug", ts, logger: "meshctl", msg: "ended with exit code 0 after 0 ms" },
    ]);
  });

  it.each([
    [["get", "meshes", "west"], "Mesh west not found"],
    [["get", "meshes", "--nonsense"], "unknown option '--nonsense'"],
    [["get", "nonsense"], "unknown command 'nonsense'"],
  ])("also of a mistake: %j", async (args, problem) => {
    for (const flag of [["--log-format", "json"], ["--log-format=json"]]) {
      const { code, out, err } = await runIn(managementCluster([]), [...args, ...flag]);
      expect({ code, out }).toMatchObject({ code: 2 });
      expect(records(err)).toEqual(
        expect.arrayContaining([{ level: "error", ts, logger: "meshctl", msg: expect.stringContaining(problem) }]),
      );
    }
  });

  it("keeps a text of several lines in one object, and asks nothing", () => {
    const recorded = { ...recordedIo(), ask: async () => true };
    const io = adjustableIo(recorded, () => NOW);
    expect(io.ask).toBe(recorded.ask);
    io.adjust({ logFormat: "json" });
    expect(io.ask).toBeUndefined();
    io.err('warning: a\n{"level":"error","msg":"forged"}\n');
    io.note("\n");
    io.progress("40%");
    io.detail(1, "not asked for");
    expect(records(recorded.written.err)).toEqual([{ level: "warn", ts, logger: "meshctl", msg: 'a\n{"level":"error","msg":"forged"}' }]);
  });

  it("is text or json", async () => {
    const run = await runIn(plane, ["get", "meshes", "--log-format", "xml"]);
    expect(run).toMatchObject({ code: 2, err: expect.stringContaining("Allowed choices are text, json.") });
  });
});
