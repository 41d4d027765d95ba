import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { readConfig } from "../src/config.ts";

afterEach(() => vi.unstubAllEnvs());

const redisOf = (...argv: string[]) => readConfig(argv).store.redis;

describe("the settings of the store", () => {
  it("are memory alone, unless something is said", () => {
    expect(readConfig([]).store).toEqual({ redis: undefined, path: undefined });
    expect(readConfig(["--store-path", "/var/lib/isthmus"]).store).toEqual({ redis: undefined, path: "/var/lib/isthmus" });
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

  it("speak TLS when told, or when they have a CA", () => {
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

  it.each([
    [["--redis-address", "r:x"], /r:x is not an address/],
    [["--redis-address", "r:1", "--store-path", "x"], /exclude each other/],
    [["--redis-address", "r:1", "--redis-ca", "/nowhere.crt"], /--redis-ca: .*nowhere/],
    [["--redis-db", "-1"], /not the number of a Redis database/],
  ])("refuse %j with a message that names what is wrong", (argv, message) => {
    expect(() => readConfig(argv)).toThrow(message);
  });
});
