import { once } from "node:events";
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { version } from "../package.json";
import { bundledMeshctl, type MeshctlRun, runOf } from "./meshctlProcess.ts";

const start = bundledMeshctl();

/** Runs the program as a process of its own, as a shell does. */
function run(args: readonly string[], options: { readonly input?: string; readonly closeOutput?: boolean } = {}): Promise<MeshctlRun> {
  return runOf(start(args), options);
}

describe("the meshctl program", () => {
  it("says its version, as JSON and alone", async () => {
    expect(JSON.parse((await run(["version", "--client"])).out)).toEqual({ client: { version } });
    const { code, out, err } = await run(["version", "--kubeconfig", "/does/not/exist"]);
    expect({ code, versions: JSON.parse(out) }).toEqual({ code: 3, versions: { client: { version }, server: null } });
    expect(err).toMatch(/^warning: the versions of the management plane are unknown: kubeconfig \/does\/not\/exist: no such file/);
    expect((await run(["--version"])).out).toBe(`${version}\n`);
  });

  it("explains itself with examples", async () => {
    for (const args of [["--help"], ["translate", "--help"], ["version", "--help"]]) {
      const { code, out } = await run(args);
      expect(code).toBe(0);
      expect(out).toContain("Examples:");
    }
  });

  it("exits with 2 for a command that does not exist, and suggests the right one", async () => {
    const { code, out, err } = await run(["translat"]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("Did you mean translate?");
  });

  it("writes all of a large output, plain, into a pipe", async () => {
    const namespaces = Array.from({ length: 2000 }, (_, i) => `n-${i}`);
    const meshes = namespaces.map((name) => JSON.stringify({ apiVersion: "apps/v1", kind: "Widget", metadata: { name } })).join("\n");
    const read = JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: "n", clusterName: "c" } });
    const { code, err } = await run(["translate", "-f", "-", "-o", "json"], { input: `${meshes}\n${read}` });
    expect(code).toBe(0);
    expect(err).toContain("2000 objects, the first in standard input, document 1");
    expect(err).not.toContain("\u001b[");
  });

  it.skipIf(!existsSync("/dev/full"))("says in one line that its output can't be written, and exits with 2", async () => {
    const full = openSync("/dev/full", "w");
    const { code, err } = await runOf(start(["version", "--client"], ["ignore", full, "pipe"]));
    closeSync(full);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/^error: standard output: ENOSPC[^\n]*\n$/) });
  });

  it("ends a registration by a signal while an API server is silent, which else it would wait 10 s for", async () => {
    const silent = createServer(() => undefined).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const folder = mkdtempSync(join(tmpdir(), "meshctl-silent-"));
    const kubeconfig = join(folder, "config");
    const { port } = silent.address() as AddressInfo;
    const cluster = { server: `https://127.0.0.1:${port}`, "insecure-skip-tls-verify": true };
    const context = { name: "c", context: { cluster: "c", user: "u" } };
    const users = [{ name: "u", user: { token: "t" } }];
    writeFileSync(kubeconfig, JSON.stringify({ clusters: [{ name: "c", cluster }], contexts: [context], users, "current-context": "c" }));
    const child = start(["cluster", "register", "east", "--kubeconfig", kubeconfig, "--mgmt-kubeconfig", kubeconfig]);
    const ended = runOf(child);
    // It has asked: from then on it catches the signal.
    const [socket] = await once(silent, "connection");
    const asked = performance.now();
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ code: 130, err: "interrupted: ending in order; once more ends at once\nerror: interrupted\n" });
    expect(performance.now() - asked).toBeLessThan(9_000);
    socket.destroy();
    silent.close();
    rmSync(folder, { recursive: true });
  });

  it("ends quietly when its reader has seen enough", async () => {
    const { err } = await run(["translate", "--help"], { closeOutput: true });
    expect(err).toBe("");
  });
});
