import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "@isthmus/plane";
import { afterEach, beforeEach, expect, it } from "vitest";
import { bundle } from "../../../tools/build.mjs";
import { fileStore, readFleet } from "../src/index.ts";
import { writtenInto } from "./fullDiskWriter.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
let folder = "";
let programs = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-store-"));
  // Below node_modules, so that npm packages resolve from there.
  programs = mkdtempSync(join(root, "node_modules/.store-test-"));
});
afterEach(() => {
  for (const path of [folder, programs]) rmSync(path, { recursive: true, force: true });
});

/** What a writer says that may write files of 256 KiB at most. The system refuses more in the middle of a write, as a full disk does. */
async function untilFull(): Promise<{ readonly written: number; readonly name: string; readonly message: string }> {
  const program = join(programs, "writer.js");
  await bundle(fileURLToPath(new URL("fullDiskWriter.ts", import.meta.url)), program);
  const script = `trap "" XFSZ; ulimit -f 256; exec "$0" "$1" "$2"`;
  const child = spawn("bash", ["-c", script, process.execPath, program, join(folder, "store")], { stdio: ["ignore", "pipe", "inherit"] });
  let out = "";
  child.stdout.on("data", (data: Buffer) => {
    out += data.toString();
  });
  await new Promise((resolve) => child.on("close", resolve));
  return JSON.parse(out) as { written: number; name: string; message: string };
}

it("a disk that is full refuses what is new, and what was written stays whole", async () => {
  const { written, name, message } = await untilFull();
  expect(name).toBe("StoreError");
  expect(message).toContain(`the store in ${join(folder, "store")}`);
  expect(written).toBeGreaterThan(0);

  // With room again.
  const store = await fileStore({ path: join(folder, "store"), clock: systemClock, id: randomUUID });
  const [cluster] = await readFleet(store, "input");
  const texts: string[] = [];
  for await (const page of cluster?.objects() ?? []) texts.push(...page.map((object) => JSON.stringify(object)));
  // The last one that was acknowledged, with nothing of the one that was not.
  expect(cluster?.meta).toEqual({ round: written });
  expect(new Set(texts.map((text) => (JSON.parse(text) as { round: number }).round))).toEqual(new Set([written]));
  expect(texts).toHaveLength(20);
  expect(await writtenInto(store, written + 1, 2)).toBe(written + 2);
  await store.close();
});
