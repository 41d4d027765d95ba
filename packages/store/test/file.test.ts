import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@isthmus/plane";
import { StoreError } from "@isthmus/plane/ports";
import { afterEach, beforeEach, expect, it } from "vitest";
import { fileStore, readFleet } from "../src/index.ts";

let path = "";
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), "isthmus-store-"));
});
afterEach(() => rm(path, { recursive: true }));

const open = () => fileStore({ path, clock: systemClock, id: randomUUID });
const area = { section: "input", clusterName: "a" } as const;

it("finds everything again after a restart", async () => {
  const before = await open();
  const { id } = await before.overview("input");
  const fence = await before.raiseFence("input/a", "one");
  await before.write({
    area,
    fence,
    base: undefined,
    sequence: 1,
    delta: { erase: [], put: [{ kindKey: "/Service", key: "web.shop.a", text: `{"kind":"Service"}` }], remove: [] },
    complete: true,
    kinds: { "/Service": { count: 1, digest: "d" } },
    meta: { phase: "synced" },
  });
  await before.putRecord("revoked", "serial", "1");
  await before.close();

  const after = await open();
  expect((await after.overview("input")).id).toBe(id);
  expect((await after.raiseFence("input/a", "two")).number).toBeGreaterThan(fence.number);
  expect(await after.record("revoked", "serial")).toBe("1");
  const [cluster] = await readFleet(after, "input");
  expect(cluster).toMatchObject({ clusterName: "a", complete: true, meta: { phase: "synced" } });
  const pages = [];
  for await (const page of cluster?.objects() ?? []) pages.push(page);
  expect(pages).toEqual([[{ kind: "Service" }]]);
  await after.close();
});

it("says so when another process has the directory", async () => {
  const first = await open();
  await expect(open()).rejects.toThrow(StoreError);
  await first.close();
});
