import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Mesh } from "@isthmus/api";
import { afterAll, beforeAll, expect, it } from "vitest";
import { clusterOf } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type Fleet, startFleet } from "./harness/fleet.ts";
import type { Answer } from "./harness/meshctl.ts";

const path = (relative: string): string => fileURLToPath(new URL(`../../${relative}`, import.meta.url));

// kubectl itself finds the program on PATH, and runs it.
describeReal("kubectl mesh", (components) => {
  let fleet: Fleet<"management">;
  let folder = "";

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "isthmus-plugin-"));
    // As npm links it.
    for (const name of ["kubectl-mesh", "kubectl_complete-mesh"]) symlinkSync(path(`apps/meshctl/bin/${name}.js`), join(folder, name));
    fleet = await startFleet(components, ["management"], { crds: "all" });
    const server = fleet.servers.management;
    const spec = { istio: { installation: { namespace: "istio-system", cluster: "east" } } };
    await clusterOf(server, "").create({
      apiVersion: Mesh.apiVersion,
      kind: Mesh.kind,
      metadata: { name: "istiod-east", namespace: "default" },
      spec,
    } as never);
  });
  afterAll(async () => {
    await fleet?.stop();
    if (folder !== "") rmSync(folder, { recursive: true });
  });

  const run = (...args: readonly string[]): Promise<Answer> =>
    new Promise((resolve) => {
      const { kubeconfig } = fleet.servers.management;
      const env = { PATH: [folder, dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter), HOME: folder, KUBECONFIG: kubeconfig };
      execFile(components.kubectl, args, { env }, (error, out, err) =>
        resolve({ code: error === null ? 0 : Number(error.code), out, err }),
      );
    });

  it("is found", async () => {
    expect((await run("plugin", "list")).out).toContain(join(folder, "kubectl-mesh"));
  });

  it("reads the cluster of the kubeconfig that kubectl reads, with its own options and exit codes", async () => {
    expect(await run("mesh", "get", "meshes", "-o", "name")).toEqual({
      code: 0,
      out: "mesh.discovery.mesh.gloo.solo.io/istiod-east\n",
      err: "",
    });
    expect(await run("mesh", "get", "meshes", "west")).toMatchObject({ code: 2, err: expect.stringContaining("Mesh west not found") });
  });

  it("has help that names it", async () => {
    const { code, out } = await run("mesh", "get", "meshes", "--help");
    expect({ code, out }).toMatchObject({
      code: 0,
      out: expect.stringContaining("Usage: kubectl mesh get meshes|mesh [options] [names...]"),
    });
  });

  // As the shell asks kubectl: see `kubectl completion`.
  it.each([
    [["me"], ["mesh"]],
    [["mesh", "cluster", "di"], ["diagnose"]],
    [
      ["mesh", "get", "meshes", ""],
      ["istiod-east", ":4"],
    ],
    [
      ["mesh", "get", "mesh", "-o", "y"],
      ["yaml", ":4"],
    ],
    [
      ["mesh", "translate", "-f", ""],
      [":0", ""],
    ],
  ])("is completed by kubectl after %j with %j", async (words, offered) => {
    const { code, out } = await run("__complete", ...words);
    const lines = out.split("\n").map((line) => line.split("\t")[0]);
    expect([code, lines.slice(0, offered.length)]).toEqual([0, offered]);
  });
});
