import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { cluster, mesh } from "./fleetObjects.ts";
import { expectGolden } from "./goldenText.ts";
import { managementCluster, runIn } from "./planeRun.ts";

const plane = managementCluster([cluster("east"), cluster("west", "OFFLINE"), mesh("east")]);

/** What a command prints with `-o json`, and whether `-o yaml` says the same. */
async function dataOf(...args: readonly string[]): Promise<unknown> {
  const [json, yaml] = [await runIn(plane, [...args, "-o", "json"]), await runIn(plane, [...args, "-o", "yaml"])];
  const data: unknown = JSON.parse(json.out);
  expect(parse(yaml.out)).toEqual(data);
  expect(yaml).toMatchObject({ code: json.code, err: json.err });
  return data;
}

describe("what meshctl prints for programs", () => {
  it("describes a cluster", async () => {
    expect(await dataOf("cluster", "describe", "east")).toMatchObject({
      cluster: { kind: "KubernetesCluster", metadata: { name: "east" }, status: { state: "CONNECTED" } },
      discovered: { Mesh: "1", Workload: "0", Destination: "0" },
    });
  });

  it("diagnoses a cluster, with the exit code of the text", async () => {
    expect(await dataOf("cluster", "diagnose", "west")).toMatchObject({ cluster: "west", state: "OFFLINE" });
    const { steps } = (await dataOf("cluster", "diagnose", "west")) as { readonly steps: readonly object[] };
    expect(steps.at(-1)).toMatchObject({ passed: false, cause: expect.any(String), next: expect.stringContaining("meshctl ") });
    expect(steps.slice(0, -1).every((step) => "passed" in step && step.passed === true)).toBe(true);
    expect((await runIn(plane, ["cluster", "diagnose", "west", "-o", "json"])).code).toBe(1);
  });

  it("says how far clusters are synced", async () => {
    expect(await dataOf("sync", "status")).toMatchObject({ clusters: [{ cluster: "east" }, { cluster: "west", state: "OFFLINE" }] });
  });

  it("says its versions, as a table, too", async () => {
    expect(await dataOf("version")).toMatchObject({
      client: { version: expect.any(String) },
      agents: [{ cluster: "east" }, { cluster: "west" }],
    });
    const { out } = await runIn(plane, ["version", "-o", "table"]);
    expect(out.split("\n").map((line) => line.split(/ {3,}/)[0])).toEqual([
      "COMPONENT",
      "meshctl",
      "agent of east",
      "agent of west (not connected)",
      "",
    ]);
    for (const columns of [80, 120])
      expectGolden(`version/table-${columns}`, (await runIn(plane, ["version", "-o", "table"], columns)).out);
    const { out: client } = await runIn(plane, ["version", "--client", "-o", "table"]);
    expect(client.split("\n")).toHaveLength(3);
  });
});

describe("meshctl cluster pause and resume --dry-run", () => {
  it.each([
    ["pause", "east"],
    ["pause", "east", "--observe"],
    ["resume", "west"],
  ])("changes nothing and waits for nothing: %s %s %s", async (...args) => {
    const before = (await runIn(plane, ["get", "clusters", "-o", "json"])).out;
    const run = await runIn(plane, ["cluster", ...args.filter((arg) => arg !== undefined), "--dry-run"]);
    expect(run).toEqual({
      code: 0,
      out: `KubernetesCluster gloo-mesh/${args[1]}: would be changed\n`,
      err: "Nothing was changed (--dry-run).\n",
    });
    expect((await runIn(plane, ["get", "clusters", "-o", "json"])).out).toBe(before);
  });

  it("takes --dry-run as kubectl has it, and refuses what it does not do", async () => {
    const plane = managementCluster([cluster("east")]);
    const revoked = (...flags: readonly string[]) => runIn(plane, ["cluster", "revoke", "east", ...flags]);
    expect(await revoked("--dry-run=server")).toEqual(await revoked("--dry-run"));
    expect(await revoked("--dry-run=client")).toEqual({
      code: 2,
      out: "",
      err: "error: --dry-run=client: API servers are always asked, and change nothing: write --dry-run, or --dry-run=server\n",
    });
    expect((await revoked("--", "--dry-run=server")).code).toBe(2);
  });
});
