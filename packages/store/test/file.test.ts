import { randomUUID } from "node:crypto";
import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@isthmus/plane";
import { StoreError } from "@isthmus/ports";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fileStore, readFleet } from "../src/index.ts";

let path = "";
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), "isthmus-store-"));
});
afterEach(() => rm(path, { recursive: true }));

const open = () => fileStore({ path, clock: systemClock, id: randomUUID });
const partition = { section: "input", clusterName: "a" } as const;

it("finds everything again after a restart", async () => {
  const before = await open();
  const { id } = await before.overview("input");
  const fence = await before.raiseFence("input/a", "one");
  await before.write({
    partition,
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

describe("the directory and its files", () => {
  const modes = async (): Promise<readonly string[]> => {
    const all = [path, ...(await readdir(path)).map((name) => join(path, name))];
    return [...new Set(await Promise.all(all.map(async (name) => ((await stat(name)).mode & 0o777).toString(8))))].sort();
  };
  const refused = async (): Promise<string> => {
    const error = await open().then(
      (store) => store.close().then(() => "was opened"),
      (problem: unknown) => problem,
    );
    expect(error).toBeInstanceOf(StoreError);
    return String(error);
  };

  it("are for the server's user alone, also those that were open before", async () => {
    path = join(path, "of", "its-own");
    const before = await open();
    await before.putRecord("a", "b", "c");
    await before.close();
    await chmod(path, 0o755);
    for (const name of await readdir(path)) await chmod(join(path, name), 0o644);
    const after = await open();
    for (let i = 0; i < 50; i++) await after.putRecord("a", String(i), "c".repeat(1_000));
    await after.close();
    expect(await modes()).toEqual(["600", "700"]);
  });

  it("are refused when others can write there, or could put others in their place", async () => {
    await chmod(path, 0o777);
    expect(await refused()).toMatch(/is writable by other users \(mode 0777\).*chmod/);
    await chmod(path, 0o700);
    await writeFile(join(path, "000001.log"), "");
    await chmod(join(path, "000001.log"), 0o666);
    expect(await refused()).toMatch(/000001\.log is writable by other users/);
    await rm(join(path, "000001.log"));
    const outer = path;
    path = join(outer, "inner");
    await mkdir(path, { mode: 0o700 });
    await chmod(outer, 0o777);
    expect(await refused()).toMatch(/is writable by all users/);
    path = outer;
  });

  it("are refused when they are links", async () => {
    const elsewhere = `${path}-elsewhere`;
    await rename(path, elsewhere);
    await symlink(elsewhere, path);
    expect(await refused()).toMatch(/is not a directory, but a link/);
    await rm(path);
    await rename(elsewhere, path);
    await symlink("/etc/hostname", join(path, "CURRENT"));
    expect(await refused()).toMatch(/CURRENT is not a file, but a link/);
  });
});
