import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UsageError } from "@isthmus/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readUserConfig } from "../src/cluster/userConfig.ts";
import { meshctl, type Outside } from "../src/meshctl.ts";
import { expectOutput } from "./outputs/expectOutput.ts";
import { recordedIo } from "./recordedIo.ts";

let home: string;
let file: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "meshctl-config-"));
  file = join(home, "meshctl", "config.yaml");
  mkdirSync(join(home, "meshctl"));
  vi.stubEnv("XDG_CONFIG_HOME", home);
  for (const name of ["MESHCTL_CONFIG", "MESHCTL_CONTEXT", "MESHCTL_NAMESPACE", "KUBECONFIG"]) vi.stubEnv(name, undefined);
});
afterEach(() => {
  rmSync(home, { recursive: true });
});

const COMPLETE = "context: mgmt\nkubeconfig: /fleet\nnamespace: mesh-system\nclusters: {east: kind-east, west: kind-west}\n";

describe("the configuration of meshctl", () => {
  it("gives commands what neither the command line nor a variable gives", async () => {
    writeFileSync(file, COMPLETE);
    expect(await connectedTo("sync", "status")).toEqual([{ kubeconfig: "/fleet", context: "mgmt", namespace: "mesh-system" }]);
    vi.stubEnv("MESHCTL_CONTEXT", "other");
    expect(await connectedTo("sync", "status", "-n", "here")).toEqual([{ kubeconfig: "/fleet", context: "other", namespace: "here" }]);
    expect(await connectedTo("sync", "status", "--context", "given")).toMatchObject([{ context: "given" }]);
    expect(await connectedTo("sync", "status", "--kubecontext", "given")).toMatchObject([{ context: "given" }]);
  });

  it("has no context for a kubeconfig that is given, and no kubeconfig beside the variable KUBECONFIG", async () => {
    writeFileSync(file, COMPLETE);
    const [given] = await connectedTo("sync", "status", "--kubeconfig", "/own");
    expect(given).toEqual({ kubeconfig: "/own", namespace: "mesh-system" });
    vi.stubEnv("KUBECONFIG", "/a:/b");
    const [listed] = await connectedTo("sync", "status");
    expect(listed).toEqual({ context: "mgmt", namespace: "mesh-system" });
  });

  it("knows the context of the cluster that is registered", async () => {
    writeFileSync(join(home, "fleet"), kubeconfigText());
    writeFileSync(file, `kubeconfig: ${join(home, "fleet")}\nclusters: {east: kind-east}\n`);
    expect(await problemOf("cluster", "register", "east")).toContain("context kind-east not found; available contexts: one");
    expect(await problemOf("cluster", "register", "community", "east")).toContain("context kind-east not found");
    expect(await problemOf("cluster", "register", "east", "--remote-context", "given")).toContain("context given not found");
    expect(await problemOf("cluster", "deregister", "--cluster-name", "north")).toContain("not connected");
  });

  it("knows the context of the cluster whose logs are meant, which else is named as the cluster", async () => {
    writeFileSync(file, COMPLETE);
    expect(await connectedTo("logs", "--cluster", "east")).toMatchObject([{ kubeconfig: "/fleet", context: "kind-east" }]);
    expect(await connectedTo("logs", "--cluster", "north")).toMatchObject([{ context: "north" }]);
    expect(await connectedTo("logs", "--cluster", "east", "--kubeconfig", "/own")).toMatchObject([{ kubeconfig: "/own", context: "east" }]);
    expect(await problemOf("logs", "--cluster", "east", "--context", "mgmt")).toContain("--cluster and --context are mutually exclusive");
    // There it is a filter of what the server knows.
    expect(await problemOf("logs", "access", "--cluster", "east", "--context", "mgmt")).not.toContain("mutually exclusive");
  });

  it("is shown with where each setting is from", async () => {
    writeFileSync(file, COMPLETE);
    vi.stubEnv("MESHCTL_NAMESPACE", "from-variable");
    const io = recordedIo();
    expect(await meshctl(["config", "view"], io)).toBe(0);
    expect(io.written).toEqual({
      out: [
        "SETTING         VALUE           FROM",
        `kubeconfig      /fleet          ${file}`,
        `context         mgmt            ${file}`,
        "namespace       from-variable   MESHCTL_NAMESPACE",
        `clusters.east   kind-east       ${file}`,
        `clusters.west   kind-west       ${file}`,
        "",
      ].join("\n"),
      err: "",
    });
  });

  it("is what kubectl uses where there is none", async () => {
    writeFileSync(join(home, "kubeconfig"), kubeconfigText());
    vi.stubEnv("KUBECONFIG", join(home, "kubeconfig"));
    const io = recordedIo();
    expect(await meshctl(["config", "view", "-o", "json"], io)).toBe(0);
    expectOutput(["config", "view", "-o", "json"], io.written.out);
    expect(JSON.parse(io.written.out)).toEqual({
      file,
      settings: [
        { setting: "kubeconfig", value: join(home, "kubeconfig"), from: "KUBECONFIG" },
        { setting: "context", value: "one", from: "current context of the kubeconfig" },
        { setting: "namespace", value: "gloo-mesh", from: "default" },
      ],
    });
    vi.stubEnv("KUBECONFIG", join(home, "missing"));
    const broken = recordedIo();
    expect(await meshctl(["config", "view"], broken)).toBe(0);
    expect(broken.written.out).toMatch(/context +unknown: .*missing does not exist/);
  });

  it.each([
    ["contxt: mgmt", "contxt: is no setting: did you mean context?"],
    ["context: [a]", 'context: is no text: write it like "context: NAME"'],
    ["clusters: [a]", 'clusters: is no map of names: write it like "clusters: {east: CONTEXT}"'],
    ["clusters: {east: 7}", 'clusters.east: is no text: write it like "clusters: NAME"'],
    ["- a", 'is no map of names: write it like "clusters: {east: CONTEXT}"'],
    ["context: {", "is not YAML: "],
    ["context: &a mgmt\nnamespace: *a", "is not YAML: "],
    [`context: ${"x".repeat(70_000)}`, "has 70009 bytes; a configuration has 65536 at most"],
  ])("says what is wrong with %s", async (content, message) => {
    writeFileSync(file, content);
    const error = await readUserConfig().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UsageError);
    expect(String(error)).toContain(`${file}: ${message}`);
  });

  it("need not be there, unless it is named", async () => {
    expect(await readUserConfig()).toEqual({ file, settings: {}, clusters: new Map() });
    writeFileSync(file, "");
    expect(await readUserConfig()).toMatchObject({ settings: {} });
    vi.stubEnv("MESHCTL_CONFIG", "");
    expect(await readUserConfig()).toEqual({ file: undefined, settings: {}, clusters: new Map() });
    vi.stubEnv("MESHCTL_CONFIG", join(home, "other.yaml"));
    await expect(readUserConfig()).rejects.toThrow(/other\.yaml: .*correct the file, or the variable MESHCTL_CONFIG/);
  });

  it("keeps a cluster that is named like a member of every object", async () => {
    writeFileSync(file, 'clusters: {"__proto__": a, constructor: b}');
    expect((await readUserConfig()).clusters).toEqual(
      new Map([
        ["__proto__", "a"],
        ["constructor", "b"],
      ]),
    );
  });
});

/** Of an API server that is not there. */
function kubeconfigText(): string {
  return JSON.stringify({
    clusters: [{ name: "one", cluster: { server: "https://127.0.0.1:1" } }],
    users: [{ name: "one", user: { token: "t" } }],
    contexts: [{ name: "one", context: { cluster: "one", user: "one" } }],
    "current-context": "one",
  });
}

/** Where a command expects the management cluster. */
async function connectedTo(...args: readonly string[]): Promise<readonly unknown[]> {
  return (await unconnected(args)).places;
}

/** What a command says that cannot connect to the management cluster. */
async function problemOf(...args: readonly string[]): Promise<string> {
  return (await unconnected(args)).problem;
}

async function unconnected(args: readonly string[]): Promise<{ readonly places: readonly unknown[]; readonly problem: string }> {
  const places: unknown[] = [];
  const connect: Outside["connect"] = async ({ requestTimeout: _, ...place }) => {
    places.push(place);
    throw new UsageError("not connected");
  };
  const io = recordedIo();
  expect(await meshctl(args, io, { connect }), io.written.err).toBe(2);
  return { places, problem: io.written.err };
}
