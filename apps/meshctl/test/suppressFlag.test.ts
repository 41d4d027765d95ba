import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { objectAtStart } from "../src/offline/suppressions.ts";
import { cluster, deployment, destination, mesh, virtualMesh } from "./fleetObjects.ts";
import { managementCluster, type Run, runIn } from "./planeRun.ts";

const fixture = (code: string) => fileURLToPath(new URL(`../../../packages/insights/testdata/${code}/finds.in.yaml`, import.meta.url));
const PLANE = managementCluster([
  deployment("gloo-mesh-mgmt-server"),
  cluster("east", "LAGGING"),
  cluster("west", "OFFLINE"),
  mesh("east", { virtualMesh: "bookinfo" }),
  destination("reviews", "east", { isFederated: true, pods: 0 }),
  virtualMesh("bookinfo", ["east", "wset"]),
]);
const run = (...args: readonly string[]): Promise<Run> => runIn(PLANE, args);
const insights = (...args: readonly string[]) => run("insights", "-f", fixture("SEC1009"), ...args);

describe("-S of insights", () => {
  it("leaves out a code, or what it is about, counts it, and does not fail for it", async () => {
    expect(await insights("--fail-on", "warning", "-S", "SEC1009")).toMatchObject({
      code: 0,
      out: "",
      err: expect.stringContaining("0 errors, 0 warnings, 0 info; 2 suppressed\n"),
    });
    const one = await insights("--fail-on", "warning", "-S", "SEC10*=DestinationRule a*.bookinfo");
    expect(one.code).toBe(1);
    expect(one.out).toContain("DestinationRule bookinfo/db");
    expect(one.out).not.toContain("DestinationRule bookinfo/api");
    expect(one.err).toContain("1 warning, 0 info; 1 suppressed\n");
    // A pattern is of the whole object.
    expect((await insights("-S", "SEC1009=DestinationRule d")).err).toContain("2 warnings, 0 info\n");
  });

  it("is printed with what asked for it", async () => {
    const { suppressed } = JSON.parse((await insights("-o", "json", "-S", "*=*.bookinfo", "-S", "SEC1009")).out);
    expect(suppressed.map(({ reason, by }: { reason: string; by: string }) => [reason, by])).toEqual([
      ["-S *=*.bookinfo", "the command line"],
      ["-S *=*.bookinfo", "the command line"],
    ]);
    const sarif = JSON.parse((await insights("-o", "sarif", "--suppressed", "-S", "SEC1009")).out);
    expect(sarif.runs[0].results[0].suppressions).toMatchObject([{ kind: "external", justification: "-S SEC1009" }]);
  });
});

it("-S of validate leaves findings and insights out, and says how many", async () => {
  const file = fixture("RTE1002");
  const all = await run("validate", "-f", file, "--fail-on", "warning");
  expect(all.code).toBe(1);
  const [, code = ""] = /\[([A-Z]\w+)\]\n/.exec(all.out) ?? [];
  const none = await run("validate", "-f", file, "--fail-on", "warning", "-S", `${code}=TrafficPolicy *.bookinfo`);
  expect(none.code).toBe(0);
  expect(none.err).toMatch(/0 errors, 0 warnings; \d+ findings? suppressed by -S\n$/);
  const github = await run("validate", "-f", file, "-o", "github", "-S", code);
  expect(github.out).toMatch(/^::notice title=meshctl::\d+ /);
});

describe("-S of check", () => {
  it("leaves findings out by code and object, and counts them", async () => {
    const all = await run("check", "--only", "clusters", "-o", "json");
    expect(all.code).toBe(1);
    const some = await run("check", "--only", "clusters", "-o", "json", "-S", "REL1001=KubernetesCluster west");
    expect(some.code).toBe(0);
    const { checks } = JSON.parse(some.out) as { checks: { findings: { code: string }[]; suppressed?: number }[] };
    expect(checks[0]).toMatchObject({ findings: [{ code: "REL1004" }], suppressed: 1 });
    expect(some.err).toBe("4 checks: 1 warning; 1 suppressed\n");
    expect((await run("check", "--only", "clusters", "-S", "REL1001=KubernetesCluster east")).code).toBe(1);
  });

  it("knows objects by the beginning of messages", () => {
    expect(objectAtStart("VirtualMesh gloo-mesh/all: spec.meshes: x")).toEqual({
      kind: "VirtualMesh",
      namespace: "gloo-mesh",
      name: "all",
    });
    expect(objectAtStart("cluster east: OverQuota: x")).toEqual({ kind: "KubernetesCluster", namespace: "", name: "east" });
    expect(objectAtStart("Namespace a in b: x")).toEqual({ kind: "Namespace", namespace: "", name: "a" });
    expect(objectAtStart("")).toEqual({ kind: "", namespace: "", name: "" });
  });
});

it.each([
  [["insights", "-f", "-", "-S", "SEC9999"], "error: -S: no code is SEC9999"],
  [["insights", "-f", "-", "-S", "SEC1O09"], "error: -S: no code is SEC1O09 (did you mean SEC1009?)"],
  [["check", "-S", "CFG9018"], "error: -S: no code is CFG9018"],
  [["validate", "-f", "-", "-S", "Nonsense*"], "error: -S: no code is Nonsense*"],
  [["precheck", "-S", ""], "write CODE or 'CODE=Kind name.namespace'"],
  [["check", "-S", "REL1001="], "write CODE or 'CODE=Kind name.namespace'"],
])("%j is a mistake on the line", async (args, message) => {
  const { code, err } = await run(...args);
  expect(code).toBe(2);
  expect(err).toContain(message);
});
