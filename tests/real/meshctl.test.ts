import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { TrafficPolicy } from "@isthmus/api";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bundle } from "../../tools/build.mjs";
import { describeReal } from "./harness/describeReal.ts";
import { kubectl } from "./harness/kubectl.ts";
import { type Slice, startSlice } from "./harness/slice.ts";
import { waitFor } from "./harness/waitFor.ts";

interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

// Every command that reads the management plane, as a process, against real API servers with real servers and agents.
describeReal("meshctl reads a real management plane", (components) => {
  let slice: Slice;
  let folder = "";
  let program: string;
  let hanging: Server;

  beforeAll(async () => {
    // Below node_modules, so that npm packages resolve from there.
    folder = mkdtempSync(fileURLToPath(new URL("../../node_modules/.meshctl-real-", import.meta.url)));
    program = join(folder, "main.mjs");
    await bundle(fileURLToPath(new URL("../../apps/meshctl/src/main.ts", import.meta.url)), program);
    slice = await startSlice(components);
    await waitFor("both clusters to be connected", async () => (await meshctl("sync", "status")).code === 0, { timeoutMs: 120_000 });
    await waitFor(
      "both meshes to be published",
      async () => (await meshctl("get", "meshes", "-o", "name")).out.trim().split("\n").length === 2,
    );
    hanging = createServer(() => undefined);
    await new Promise<void>((resolve) => hanging.listen(0, "127.0.0.1", resolve));
  });
  afterAll(async () => {
    hanging?.close();
    await slice?.stop();
    if (folder !== "") rmSync(folder, { recursive: true });
  });

  const as = (kubeconfig: string, ...args: readonly string[]): Promise<Run> =>
    new Promise((resolve) => {
      execFile(
        process.execPath,
        [program, ...args, "--kubeconfig", kubeconfig],
        { maxBuffer: 1 << 26, timeout: 60_000 },
        (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }),
      );
    });
  const meshctl = (...args: readonly string[]): Promise<Run> => as(slice.fleet.servers.management.kubeconfig, ...args);

  it("get and describe print what was discovered, as kubectl lists it", async () => {
    const { servers } = slice.fleet;
    for (const kind of ["meshes", "workloads", "destinations"]) {
      const listed = await kubectl({ components, server: servers.management }, ["get", kind, "-A", "-o", "json"]);
      const names = (JSON.parse(listed.stdout) as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name);
      expect(names.length).toBeGreaterThan(1);
      const { code, out } = await meshctl("get", kind, "-o", "json");
      expect(code).toBe(0);
      expect((JSON.parse(out) as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name).sort()).toEqual(
        names.sort(),
      );
      const table = (await meshctl("get", kind)).out;
      for (const name of names) expect(table).toContain(name);
    }
    expect((await meshctl("get", "destinations", "--cluster", "cluster-2", "-o", "name")).out).not.toContain("-cluster-1");
    expect((await meshctl("describe", "mesh")).out).toContain("| Trust Domain: cluster-1");
    expect((await meshctl("describe", "destination", "-s", "reviews")).out).toContain("| Name: reviews");
  });

  it("describe shows the state of a policy that the server has judged", async () => {
    const { apiVersion, kind } = TrafficPolicy;
    const spec = { destinationSelector: [{ kubeServiceMatcher: { namespaces: ["bookinfo"] } }], policy: { requestTimeout: "soon" } };
    await slice.management
      .create({ apiVersion, kind, metadata: { name: "wrong", namespace: "gloo-mesh" }, spec } as never)
      .catch(() => undefined);
    const good = { ...spec, policy: { requestTimeout: "3s" } };
    await slice.management.create({ apiVersion, kind, metadata: { name: "slow", namespace: "gloo-mesh" }, spec: good } as never);
    await waitFor("the policy to be judged", async () =>
      (await meshctl("describe", "trafficpolicy", "slow")).out.includes("State: ACCEPTED"),
    );
    expect((await meshctl("get", "policies")).out).toMatch(/gloo-mesh +trafficpolicy\/slow +ACCEPTED/);
  });

  it("cluster list, describe and diagnose agree that the clusters are connected", async () => {
    expect((await meshctl("cluster", "list")).out).toMatch(/cluster-1 +CONNECTED.*\n.*cluster-2 +CONNECTED/);
    const described = await meshctl("cluster", "describe", "cluster-1");
    expect(described.out).toMatch(/State: CONNECTED[\s\S]*Mesh: 1\n[\s\S]*CONDITION[\s\S]*Connected +True/);
    expect(await meshctl("cluster", "diagnose", "cluster-2")).toMatchObject({ code: 0 });
  });

  it("version tells the agents' versions", async () => {
    const { code, out } = await meshctl("version");
    expect(code).toBe(0);
    const { agents } = JSON.parse(out) as { readonly agents: readonly { readonly cluster: string; readonly connected: boolean }[] };
    expect(agents).toMatchObject([
      { cluster: "cluster-1", connected: true },
      { cluster: "cluster-2", connected: true },
    ]);
  });

  it("check finds that no Deployment is there, and else nothing wrong", async () => {
    const { code, out } = await meshctl("check", "-o", "json");
    const { checks } = JSON.parse(out) as {
      readonly checks: readonly { readonly findings: readonly { readonly code: string; readonly severity: string }[] }[];
    };
    const errors = checks.flatMap(({ findings }) => findings.filter(({ severity }) => severity === "error").map((finding) => finding.code));
    // The server runs as a process beside.
    expect({ code, errors }).toEqual({ code: 1, errors: ["HLT1101"] });
  });

  it("precheck finds a mesh, a supported Kubernetes, and the rights of an administrator but not those of any user", async () => {
    const server = slice.fleet.servers["cluster-1"];
    const { code, out } = await as(server.kubeconfig, "precheck");
    // One that was built from source does not know its version.
    expect(out).toMatch(/(✅|⚠️ {2}) ?Kubernetes is 1\.28 or later\n/);
    expect(out).toContain("✅ Your user has the permissions to install an agent");
    expect(out).toContain("✅ A service mesh runs in the cluster");
    expect(code).toBe(0);
    const stranger = await as(strangerOf(server.strangerKubeconfig), "precheck");
    expect(stranger.code).toBe(1);
    expect(stranger.out).toContain("error: your user cannot create clusterroles.rbac.authorization.k8s.io [PRE1002]");
    expect(stranger.out).toContain("❔ A service mesh runs in the cluster");
  });

  it("sync status, what-if and explain delete read the server's admin port", async () => {
    const admin = ["--admin-address", slice.server.adminUrl];
    expect((await meshctl("sync", "status", ...admin)).out).toMatch(/cluster-1 +CONNECTED +True +[1-9]\d*/);
    const { code, out } = await meshctl("what-if", "--live", "--without", "cluster-1", "--fail-on", "never", "-o", "json", ...admin);
    const { hosts } = JSON.parse(out) as { readonly hosts: readonly object[] };
    expect({ code, hosts }).toEqual({
      code: 0,
      hosts: expect.arrayContaining([expect.objectContaining({ host: "details.bookinfo.svc.cluster.local", result: "ELSEWHERE" })]),
    });
    await slice.management.delete({ ...TrafficPolicy, name: "slow", namespace: "gloo-mesh", clusterName: "" });
    await waitFor("the delete to be known", async () => {
      const run = await new Promise<Run>((resolve) => {
        execFile(process.execPath, [program, "explain", "delete", "VirtualService", ...admin], (error, out, err) =>
          resolve({ code: error === null ? 0 : Number(error.code), out, err }),
        );
      });
      return run.out.includes("source: TrafficPolicy gloo-mesh/slow");
    });
  });

  it("says what to do for a user without rights, a wrong context, and an API server that hangs", async () => {
    const stranger = await as(strangerOf(slice.fleet.servers.management.strangerKubeconfig), "get", "meshes");
    expect(stranger).toMatchObject({ code: 2, out: "" });
    expect(stranger.err).toMatch(/^error: management cluster: .*is forbidden.*Use a kubeconfig whose user has these permissions/s);
    const unchecked = await as(strangerOf(slice.fleet.servers.management.strangerKubeconfig), "check");
    expect(unchecked).toMatchObject({ code: 2, out: "" });
    const context = await meshctl("get", "meshes", "--context", "nowhere");
    expect(context).toMatchObject({ code: 2 });
    expect(context.err).toMatch(/context nowhere not found; available contexts: /);
    const address = hanging.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const silent = join(slice.fleet.directory, "silent.json");
    const cluster = { name: "c", cluster: { server: `https://127.0.0.1:${port}`, "insecure-skip-tls-verify": true } };
    writeFileSync(
      silent,
      JSON.stringify({
        apiVersion: "v1",
        kind: "Config",
        clusters: [cluster],
        contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
        users: [{ name: "u", user: {} }],
        "current-context": "c",
      }),
    );
    const hung = await as(silent, "check", "--request-timeout", "2s");
    expect(hung).toMatchObject({ code: 2, out: "" });
    expect(hung.err).toMatch(/^error: management cluster: .*no (complete )?answer within 2 s.*check that kubectl reaches/is);
  });

  function strangerOf(text: string): string {
    const file = join(slice.fleet.directory, `stranger-${text.length}.yaml`);
    writeFileSync(file, text);
    return file;
  }
});
