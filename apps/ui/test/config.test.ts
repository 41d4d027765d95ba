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

  it("listen elsewhere with a login, under the URL that browsers see", () => {
    const login = ["--store-path", "x", "--login", "kubernetes", "--host", "0.0.0.0", "--public-url"];
    expect(readUiConfig([...login, "https://Console.Example.com"])).toMatchObject({
      host: "0.0.0.0",
      tls: undefined,
      login: { publicUrl: new URL("https://console.example.com"), isEncrypted: false },
    });
    expect(readUiConfig([...login, "http://[::1]:8090", "--tls-cert", "c", "--tls-key", "k"])).toMatchObject({
      tls: { certificate: "c", key: "k", option: "--tls" },
      login: { isEncrypted: true },
    });
    vi.stubEnv("CONSOLE_LOGIN", "kubernetes");
    expect(() => readUiConfig(["--store-path", "x"])).toThrow(/--public-url is missing/);
    vi.stubEnv("CONSOLE_URL", "https://c.example/");
    expect(readUiConfig(["--store-path", "x"]).login?.publicUrl.host).toBe("c.example");
  });

  it.each([
    ["console.example.com", /not the URL of a host/],
    ["ftp://console.example.com", /not the URL of a host/],
    ["https://console.example.com/path", /not the URL of a host/],
    ["https://user:word@console.example.com", /not the URL of a host/],
    ["http://console.example.com", /is not encrypted/],
  ])("refuse %s as the URL of a console with a login", (url, message) => {
    expect(() => readUiConfig(["--store-path", "x", "--login", "kubernetes", "--public-url", url])).toThrow(message);
  });

  it.each([
    ["fleet", { matchExpressions: [{ key: "fleet", operator: "Exists" }] }],
    ["example.com/fleet=yes", { matchLabels: { "example.com/fleet": "yes" } }],
    ["", undefined],
  ])("has the label %j of namespaces that count for other clusters", (label, labels) => {
    const login = ["--store-path", "x", "--login", "kubernetes", "--public-url", "https://console.example.com"];
    expect(readUiConfig([...login, "--namespace-label", label]).login?.namespaceLabel).toEqual(labels);
  });

  it.each(["=yes", "a b", "a=b=c", "a=b c", "-a"])("refuses the label %j", (label) => {
    const login = ["--store-path", "x", "--login", "kubernetes", "--public-url", "https://console.example.com"];
    expect(() => readUiConfig([...login, "--namespace-label", label])).toThrow(/KEY or KEY=VALUE/);
  });

  it.each([
    [["--store-path", "x", "--tls-cert", "c"], /must be set together/],
    [["--store-path", "x", "--login", "ldap"], /ldap/],
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
