import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readRecording } from "@isthmus/console";
import { eventually } from "@isthmus/testing/eventually";
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
});
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
  });

  it("ends, and says why, where no key can come", async () => {
    const { code, out } = await demo("--port", "0", "--no-ui");
    expect(out).toContain("Standard input was closed, so no keys can be read");
    expect(out).not.toContain("console");
    expect(code).toBe(0);
  });

  it("has as many clusters and services as are asked for, and takes in policies of its user", async () => {
    const policies = join(folder, "policies");
    mkdirSync(policies);
    const policy = (name: string, more: string) =>
      `apiVersion: networking.mesh.gloo.solo.io/v1\nkind: TrafficPolicy\nmetadata: {name: ${name}, namespace: bookinfo}\nspec: {policy: {requestTimeout: 3s}${more}}\n`;
    writeFileSync(
      join(policies, "mine.yaml"),
      policy("mine", ", destinationSelector: [{kubeServiceMatcher: {namespaces: [bookinfo], labels: {app: details}}}]"),
    );
    const args = ["--check", "--port", "0", "--no-ui", "--clusters", "3", "--services", "2"];
    const { code, err, out } = await demo(...args, "-f", policies);
    expect(err).toBe("");
    expect(out).toContain("1 of 1 objects of yours are applied.");
    expect(out).toMatch(/meshes\s+│\s+3/);
    expect(out).toMatch(/cluster-1\s+│ service-2\.load\.svc\.cluster-3\.global/);
    expect(code).toBe(0);
    writeFileSync(join(policies, "wrong.yaml"), policy("wrong", ", destinationSelector: all"));
    const refused = await demo(...args, "-f", policies);
    expect(refused.out).toMatch(/wrong\.yaml: TrafficPolicy bookinfo\/wrong: .*destinationSelector/);
    expect(refused.err).toContain("1 of 2 objects of yours were refused");
    expect(refused.code).toBe(2);
  });

  it("continues without a terminal until it is ended", async () => {
    const child = spawn(process.execPath, [program, "--serve", "--port", "0", "--no-ui", "--admin-port", "0"], { cwd: folder });
    let out = "";
    child.stdout.on("data", (data: Buffer) => {
      out += data.toString();
    });
    await eventually(() => expect(out).toMatch(/Ready after .* It ends with Ctrl-C, or SIGTERM\./));
    child.kill("SIGTERM");
    await new Promise((resolve) => child.on("close", resolve));
    expect(child.exitCode).toBe(0);
  });

  it("records what its console shows, and shows it again without clusters", async () => {
    const file = join(folder, "demo.gz");
    async function until(pattern: RegExp, ...args: readonly string[]) {
      const child = spawn(process.execPath, [program, ...args, "--ui-port", "0"], { cwd: folder });
      let out = "";
      child.stdout.on("data", (data: Buffer) => {
        out += data.toString();
      });
      await eventually(() => expect(out).toMatch(pattern));
      const end = async () => {
        child.kill("SIGTERM");
        await new Promise((resolve) => child.on("close", resolve));
        return out;
      };
      return { url: /http:\/\/127\.0\.0\.1:\d+/.exec(out)?.[0] ?? "", end };
    }
    const recorded = await until(/Ready after/, "--serve", "--port", "0", "--admin-port", "0", "--record", file);
    expect(await recorded.end()).toContain(`What was shown is in ${file}: npm run demo -- --replay ${file}`);
    const { frames } = await readRecording(file);
    expect(frames.length).toBeGreaterThan(3);
    const replayed = await until(/A recording of npm run demo, \d+ s from .* stands still at its end/, "--replay", file);
    try {
      const stop = new AbortController();
      const stream = await fetch(`${replayed.url}/api/v1/stream`, { signal: stop.signal });
      let text = "";
      const reader = (stream.body ?? expect.fail("no stream")).pipeThrough(new TextDecoderStream()).getReader();
      while (!/"kind":"VirtualMesh"/.test(text)) text += (await reader.read()).value ?? expect.fail(text.slice(0, 1_000));
      expect(text).toContain('"kind":"recording"');
      expect(text).not.toContain('"kind":"Secret"');
      stop.abort();
    } finally {
      await replayed.end();
    }
    const refused = await demo("--record", file);
    expect([refused.code, refused.err]).toEqual([
      2,
      expect.stringMatching(/^error: --record .*demo\.gz: EEXIST.*: name a file that does not exist yet\n$/),
    ]);
    const wrong = await demo("--replay", program);
    expect([wrong.code, wrong.err]).toEqual([
      2,
      expect.stringMatching(/^error: .*main\.js: it is not compressed by gzip, as recordings are/),
    ]);
  });

  it("answers a mistake with one line", async () => {
    const { code, err } = await demo("--port", "many");
    expect(code).toBe(2);
    expect(err.trim().split("\n")).toHaveLength(1);
    expect(err).toContain("many is not a port");
    expect((await demo("--clusters", "1")).err).toContain("It is not a whole number from 2 to 20.");
    expect((await demo("--tour", "-f", "absent.yaml")).err).toContain("cannot be used with");
    expect((await demo("-f", "absent.yaml")).err).toContain("absent.yaml cannot be read");
  });
});
