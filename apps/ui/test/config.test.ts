import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readUiConfig } from "../src/config.ts";
import { storeKeyFiles } from "../src/storeKeyFiles.ts";

afterEach(() => vi.unstubAllEnvs());

describe("the settings of the console", () => {
  it("are loopback and port 8090, and where the store is", () => {
    expect(readUiConfig(["--store-path", "/var/lib/isthmus"])).toMatchObject({
      host: "127.0.0.1",
      port: 8090,
      adminHost: "0.0.0.0",
      adminPort: 9091,
      namespace: "gloo-mesh",
      store: { path: "/var/lib/isthmus" },
      verbose: false,
    });
    vi.stubEnv("REDIS_ADDRESS", "gloo-mesh-redis:6380");
    vi.stubEnv("STORE_KEY_PATH", "/key");
    vi.stubEnv("POD_NAMESPACE", "mesh");
    expect(readUiConfig(["--port", "0", "--admin-host", "::1", "--admin-port", "0"])).toMatchObject({
      port: 0,
      adminHost: "::1",
      adminPort: 0,
      namespace: "mesh",
      storeKey: "/key",
      store: { redis: { host: "gloo-mesh-redis", port: 6380 } },
    });
  });

  it.each(["0.0.0.0", "::", "10.1.2.3", "console.example", ""])("refuse to listen on %j without a login", (host) => {
    expect(() => readUiConfig(["--store-path", "x", "--host", host])).toThrow(/no login/);
  });

  it.each([
    [[], /nothing to show/],
    [["--redis-address", "r:1"], /--store-key is missing/],
    [["--redis-address", "r:1", "--store-path", "x"], /mutually exclusive/],
    [["--port", "many"], /many is not a port/],
    [["--admin-port", "-1"], /-1 is not a port/],
    [["more"], /too many arguments/],
  ])("refuse %j with a message that names what is wrong", (argv, message) => {
    expect(() => readUiConfig(argv)).toThrow(message);
  });
});

describe("the keys of the store in files", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "isthmus-key-"));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it("are those of a mounted Secret, with or without an earlier one", async () => {
    const [key, previous] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    writeFileSync(join(directory, "key"), `${key.toString("base64")}\n`);
    expect(await storeKeyFiles(directory)).toEqual({ key: new Uint8Array(key) });
    writeFileSync(join(directory, "previous"), previous.toString("base64"));
    expect(await storeKeyFiles(directory)).toEqual({ key: new Uint8Array(key), previous: new Uint8Array(previous) });
  });

  it("are refused where there are none, or too short ones", async () => {
    await expect(storeKeyFiles(directory)).rejects.toThrow(/ENOENT/);
    writeFileSync(join(directory, "key"), "c2hvcnQ=");
    await expect(storeKeyFiles(directory)).rejects.toThrow(/fewer than 32 bytes/);
  });
});
