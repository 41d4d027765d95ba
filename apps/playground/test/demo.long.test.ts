import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundle } from "../../../tools/build.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));
let folder: string;
let program: string;

beforeAll(async () => {
  // Below node_modules, so that npm packages resolve from there.
  folder = mkdtempSync(join(root, "node_modules/.demo-test-"));
  program = join(folder, "main.js");
  await bundle(join(root, "apps/playground/src/main.ts"), program);
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function demo(...args: string[]): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    let [out, err] = ["", ""];
    child.stdout.on("data", (data: Buffer) => {
      out += data.toString();
    });
    child.stderr.on("data", (data: Buffer) => {
      err += data.toString();
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, out, err }));
  });
}

describe("the demo", () => {
  it("goes once through a policy's life and tells what came of it, on another port where the one it wants is taken", async () => {
    const taken = createServer();
    const port = await new Promise<number>((resolve) => {
      taken.listen(0, "127.0.0.1", () => resolve((taken.address() as { port: number }).port));
    });
    const { code, out, err } = await demo("--check", "--port", String(port), "--ui-port", String(port));
    await new Promise((resolve) => taken.close(resolve));
    expect(err).toBe("");
    expect(out).toMatch(new RegExp(`Port ${port} is already in use: serving agents on port \\d+ instead`));
    expect(out).toMatch(
      new RegExp(`Port ${port} is already in use: serving the console on port (\\d+) instead\\.\nThe console is at http://127.0.0.1:\\d+/`),
    );
    expect(out).toMatch(/meshes\s+│\s+2/);
    expect(out).toMatch(/cluster-1\s+│ reviews\.bookinfo\.svc\.cluster-2\.global\s+│ 255\.51\.210\.11/);
    expect(out).toMatch(/from deleting the TrafficPolicy until its effect is gone/);
    expect(code).toBe(0);
  }, 60_000);

  it("ends, and says why, where no key can come", async () => {
    const { code, out } = await demo("--port", "0", "--no-ui");
    expect(out).toContain("Standard input was closed, so no keys can be read");
    expect(out).not.toContain("console");
    expect(code).toBe(0);
  }, 60_000);

  it("answers a mistake with one line", async () => {
    const { code, err } = await demo("--port", "many");
    expect(code).toBe(2);
    expect(err.trim().split("\n")).toHaveLength(1);
    expect(err).toContain("many is not a port");
  });
});
