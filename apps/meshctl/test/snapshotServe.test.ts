import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { demoClusters } from "@isthmus/simulator";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { meshctl } from "../src/meshctl.ts";
import { recordedIo } from "./recordedIo.ts";

let directory: string;
let file: string;
const saved = new Date("2026-11-11T10:00:00.000Z");

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "isthmus-snapshot-"));
  file = join(directory, "fleet.json");
  const items = Object.entries(demoClusters()).flatMap(([clusterName, resources]) =>
    resources.map((resource) => ({ ...resource, metadata: { ...resource.metadata, clusterName } })),
  );
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "ca", namespace: "gloo-mesh" }, data: { "tls.key": "CANARY" } };
  writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: [...items, secret] }));
  utimesSync(file, saved, saved);
});
afterEach(() => rmSync(directory, { recursive: true }));

async function streamOf(address: string): Promise<string> {
  const response = await fetch(`${address}api/v1/stream`);
  let text = "";
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(part).toString();
    if (/event: clock\n.*\n\n$/.test(text) && text.includes("event: ready")) break;
  }
  return text;
}

describe("meshctl snapshot serve", () => {
  it("serves what was saved, with what follows from it, until it is ended", async () => {
    const io = recordedIo();
    const stop = new AbortController();
    const ended = meshctl(["snapshot", "serve", "--port", "0", file], io, { catchInterrupts: () => stop.signal });
    await vi.waitFor(() => expect(io.written.out).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\n$/), { timeout: 20_000, interval: 20 });
    const text = await streamOf(io.written.out.trim());
    expect(text).toMatch(/\{"kind":"file","name":"fleet.json","version":"[^"]+","namespace":"gloo-mesh"\}/);
    expect(text).toContain(`"at":"${saved.toISOString()}","clusters":[{"name":"cluster-1","at":"${saved.toISOString()}"}`);
    expect(text).toMatch(/event: change\n.*"kind":"Service"/);
    expect(text).toContain('"name":"istiod-istio-system-cluster-1"');
    expect(text).toMatch(/event: insights\n/);
    expect(text).not.toContain("CANARY");
    stop.abort();
    expect(await ended).toBe(0);
  }, 30_000);

  it.each([
    [["none.json"], /none\.json does not exist/],
    [["--port", "many", "x"], /many is not a port/],
    [["/dev/null"], /no objects found/],
    [[], /missing required argument/],
  ])("refuses %j with exit code 2", async (args, message) => {
    const io = recordedIo();
    expect(await meshctl(["snapshot", "serve", ...args], io)).toBe(2);
    expect(io.written.err).toMatch(message);
  });
});
