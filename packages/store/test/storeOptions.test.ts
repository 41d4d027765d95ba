import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@isthmus/plane";
import { parsedOptions } from "@isthmus/process";
import { Command } from "commander";
import { afterEach, describe, expect, it, vi } from "vitest";
import { addStoreOptions, openStore, type StoreFlags, storeConfig } from "../src/storeOptions.ts";

afterEach(() => vi.unstubAllEnvs());

const configOf = (argv: readonly string[]) =>
  storeConfig(parsedOptions<StoreFlags>(addStoreOptions(new Command("test")), argv), process.env);
const redisOf = (...argv: string[]) => configOf(argv).redis;

describe("the settings of the store", () => {
  it("are memory alone, unless something is said", () => {
    expect(configOf([])).toEqual({ redis: undefined, path: undefined });
    expect(configOf(["--store-path", "/var/lib/isthmus"])).toEqual({ redis: undefined, path: "/var/lib/isthmus" });
  });

  it("take Redis' address, user and password from the environment", () => {
    vi.stubEnv("REDIS_ADDRESS", "gloo-mesh-redis.gloo-mesh:6380");
    vi.stubEnv("REDIS_USERNAME", "mesh");
    vi.stubEnv("REDIS_PASSWORD", "secret");
    vi.stubEnv("REDIS_DB", "2");
    expect(redisOf()).toEqual({ host: "gloo-mesh-redis.gloo-mesh", port: 6380, username: "mesh", password: "secret", db: 2 });
    expect(redisOf("--redis-address", "other")).toMatchObject({ host: "other", port: 6379 });
    expect(redisOf("--redis-address", "[::1]:7000")).toMatchObject({ host: "::1", port: 7000 });
  });

  it("speak TLS when configured so, or when they have a CA", () => {
    const directory = mkdtempSync(join(tmpdir(), "isthmus-ca-"));
    const ca = join(directory, "ca.crt");
    writeFileSync(ca, "PEM");
    expect(redisOf("--redis-address", "r:1")).not.toHaveProperty("tls");
    expect(redisOf("--redis-address", "r:1", "--redis-tls")).toMatchObject({ tls: { serverName: "r" } });
    expect(redisOf("--redis-address", "r:1", "--redis-ca", ca, "--redis-server-name", "redis")).toMatchObject({
      tls: { ca: "PEM", serverName: "redis" },
    });
    rmSync(directory, { recursive: true });
  });

  it("open files, which are there again the next time", async () => {
    const path = mkdtempSync(join(tmpdir(), "isthmus-store-"));
    const nothing = () => undefined;
    const keys = async () => ({ key: new Uint8Array(32) });
    const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
    const environment = { keys, refused: nothing, clock: systemClock, log };
    const first = await openStore({ redis: undefined, path }, environment);
    const overview = await first?.overview("input");
    await first?.close();
    const second = await openStore({ redis: undefined, path }, environment);
    expect((await second?.overview("input"))?.id).toBe(overview?.id);
    await second?.close();
    rmSync(path, { recursive: true });
    expect(await openStore({ redis: undefined, path: undefined }, environment)).toBeUndefined();
  });

  it.each([
    [["--redis-address", "r:x"], /r:x is not an address/],
    [["--redis-address", "r:1", "--store-path", "x"], /mutually exclusive/],
    [["--redis-address", "r:1", "--redis-ca", "/nowhere.crt"], /--redis-ca: .*nowhere/],
    [["--redis-db", "-1"], /not a number of a Redis database/],
  ])("refuse %j with a message that names what is wrong", (argv, message) => {
    expect(() => configOf(argv)).toThrow(message);
  });
});
