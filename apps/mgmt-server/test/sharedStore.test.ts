import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@isthmus/plane";
import { afterEach, describe, expect, it, vi } from "vitest";
import { readServerConfig } from "../src/config.ts";
import { openStore } from "../src/sharedStore.ts";

afterEach(() => vi.unstubAllEnvs());

const redisOf = (...argv: string[]) => readServerConfig(argv).store.redis;

describe("the settings of the store", () => {
  it("are memory alone, unless something is said", () => {
    expect(readServerConfig([]).store).toEqual({ redis: undefined, path: undefined });
    expect(readServerConfig(["--store-path", "/var/lib/isthmus"]).store).toEqual({ redis: undefined, path: "/var/lib/isthmus" });
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

  it("speak TLS when reported, or when they have a CA", () => {
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
    expect(() => readServerConfig(argv)).toThrow(message);
  });
});
