import { describe, expect, it } from "vitest";
import { bundledMeshctl, type MeshctlRun, runOf } from "./meshctlProcess.ts";

const start = bundledMeshctl();

/** As a process of its own: what ends it can't be caught, and what stalls it is a failure, not a hang. */
function translate(input: string): Promise<MeshctlRun> {
  return runOf(start(["translate", "-f", "-", "--agent-cluster", "east"]), { input });
}

const good = JSON.stringify({ apiVersion: "v1", kind: "Service", metadata: { name: "good", namespace: "shop" } });
const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
const policy = (extra: string) =>
  `{"apiVersion":"networking.mesh.gloo.solo.io/v1","kind":"TrafficPolicy","metadata":{"name":"deep","namespace":"shop"},"spec":{"policy":{"extra":${extra}}}}`;

describe("meshctl translate", () => {
  it.each([
    ["nested 9,000 levels deep, in 54 KB", nested(9_000), "is nested deeper than 64 levels"],
    ["larger than 1 MiB", JSON.stringify("x".repeat(1024 * 1024)), "is larger than 1024 KiB"],
  ])("rejects a policy that is %s, and continues", async (_, extra, problem) => {
    const { code, err } = await translate(`${policy(extra)}\n${good}`);
    expect(err).toContain(`error: standard input:1: TrafficPolicy deep: ${problem}`);
    expect(err).toContain("2 objects read");
    expect(code).toBe(1);
  });

  // The first ended the process within the engine, which no program can catch.
  it.each([
    ["lists in 2 KB", "- ".repeat(1_000), "is nested deeper than 64 levels"],
    ["keys that are objects", "? ".repeat(1_000), "is nested deeper than 64 levels"],
    ["lists in flow style", `a: ${"[".repeat(9_000)}`, "is nested deeper than 64 levels"],
    ["objects in flow style", `a: ${"{a: ".repeat(9_000)}`, "is nested deeper than 64 levels"],
    ["lists before another document", `${"- ".repeat(8_000)}x\n---\na: 1\n`, "is nested deeper than 64 levels"],
    ["aliases that multiply", laughs(), "Excessive alias count"],
    ["Lists of Lists", lists(500), "is nested deeper than 64 levels"],
  ])("names what it can't read: %s", async (_, text, problem) => {
    const { code, err } = await translate(text);
    expect(err).toMatch(/^error: standard input:1, document 1: /);
    expect(err).toContain(problem);
    expect(code).toBe(2);
  });

  it.each([
    ["lists in 2 KB", "- ".repeat(1_000), "is nested deeper than 64 levels"],
    ["aliases that multiply", laughs(), "Excessive alias count"],
    ["64 KiB", `trustDomain: a\n# ${"x".repeat(64 * 1024)}`, "is larger than 64 KiB"],
  ])("reports a mesh configuration that can't be read: %s", async (_, mesh, problem) => {
    const labels = { app: "istiod" };
    const container = { name: "discovery", image: "istio/pilot:1.22.0" };
    const istiod = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "istiod", namespace: "istio-system", labels },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [container] } } },
    };
    const config = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "istio", namespace: "istio-system" }, data: { mesh } };
    const { code, err } = await translate([istiod, config].map((object) => JSON.stringify(object)).join("\n"));
    expect(err).toContain("ConfigMap istio-system/istio, data.mesh: ");
    expect(err).toContain(problem);
    expect(code).toBe(1);
  });
});

/** “Billion laughs”. */
function laughs(): string {
  const levels = Array.from({ length: 29 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(",")}]`);
  return ["a0: &a0 [lol]", ...levels].join("\n");
}

function lists(levels: number): string {
  return `${'{"apiVersion":"v1","kind":"List","items":['.repeat(levels)}${"]}".repeat(levels)}`;
}
