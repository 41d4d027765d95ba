import { Mesh } from "@isthmus/api";
import { describe, expect, it } from "vitest";
import { adjustableIo } from "../src/commands/loudness.ts";
import { mesh, NOW } from "./fleetObjects.ts";
import { managementCluster, runIn } from "./planeRun.ts";
import { recordedIo } from "./recordedIo.ts";

const ts = new Date(NOW).toISOString();
const plane = managementCluster([
  mesh("east"),
  { apiVersion: Mesh.apiVersion, kind: Mesh.kind, metadata: { name: "odd" }, spec: 7 } as never,
]);

function records(err: string): readonly unknown[] {
  return err
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
}

describe("-v", () => {
  const asked = "debug: objects are read and written in context mgmt of the kubeconfig of KUBECONFIG or the home directory\n";
  const ended = "debug: ended with exit code 0 after 0 ms\n";
  const list = "debug: list meshes: 1 objects, 0 ms\n";

  it.each([
    [["-v"], asked + ended],
    [["-v", "1"], asked + ended],
    [["-v=2"], asked + list + ended],
    [["-v2"], asked + list + ended],
    [["--verbose", "2"], asked + list + ended],
    [["--verbose=0"], ""],
    [[], ""],
  ])("%j says on standard error what is done, and changes no data", async (flags, expected) => {
    const args = ["get", "meshes", "--context", "mgmt", "-o", "name"];
    const run = await runIn(managementCluster([mesh("east")]), [...args, ...flags]);
    expect(run).toEqual({ code: 0, out: (await runIn(plane, args)).out, err: expected });
  });

  it("names requests that failed, and nothing of an object but its kind and name", async () => {
    const args = ["cluster", "token", "create", "--cluster", "east", "-v2"];
    const refused = await runIn(managementCluster([]), args);
    expect(refused.err).toMatch(/^debug: (create|apply) Secret .*: NotFound, 0 ms$/m);
    const run = await runIn(managementCluster([mesh("east")]), args);
    expect(run.code).toBe(0);
    const token = /[\w-]{30,}/.exec(run.out)?.[0] ?? expect.unreachable();
    expect(run.err).toMatch(/^debug: (create|apply) Secret .*: done, 0 ms$/m);
    expect(run.err.split("\n").filter((line) => line.startsWith("debug:") && line.includes(token))).toEqual([]);
  });

  it("is 0, 1 or 2, and not asked for together with --quiet", async () => {
    expect(await runIn(plane, ["get", "meshes", "-v", "east"])).toMatchObject({ code: 2, err: expect.stringContaining("write -v 1") });
    expect(await runIn(plane, ["get", "meshes", "-v", "-q"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("cannot be used with"),
    });
  });
});

describe("--log-format json", () => {
  it("writes an object a line to standard error, and the data as ever", async () => {
    const args = ["get", "meshes", "--context", "mgmt"];
    const run = await runIn(plane, [...args, "-v", "--log-format", "json"]);
    expect(run.out).toBe((await runIn(plane, args)).out);
    expect(records(run.err)).toEqual([
      { level: "debug", ts, logger: "meshctl", msg: expect.stringContaining("context mgmt") },
      { level: "warn", ts, logger: "meshctl", msg: expect.stringContaining("odd") },
      { level: "debug", ts, logger: "meshctl", msg: "ended with exit code 0 after 0 ms" },
    ]);
  });

  it.each([
    [["get", "meshes", "west"], "Mesh west not found"],
    [["get", "meshes", "--nonsense"], "unknown option '--nonsense'"],
    [["get", "nonsense"], "unknown command 'nonsense'"],
  ])("also of a mistake: %j", async (args, problem) => {
    for (const flag of [["--log-format", "json"], ["--log-format=json"]]) {
      const { code, out, err } = await runIn(managementCluster([]), [...args, ...flag]);
      expect({ code, out }).toMatchObject({ code: 2 });
      expect(records(err)).toEqual(
        expect.arrayContaining([{ level: "error", ts, logger: "meshctl", msg: expect.stringContaining(problem) }]),
      );
    }
  });

  it("keeps a text of several lines in one object, and asks nothing", () => {
    const recorded = { ...recordedIo(), ask: async () => true };
    const io = adjustableIo(recorded, () => NOW);
    expect(io.ask).toBe(recorded.ask);
    io.adjust({ logFormat: "json" });
    expect(io.ask).toBeUndefined();
    io.err('warning: a\n{"level":"error","msg":"forged"}\n');
    io.note("\n");
    io.progress("40%");
    io.detail(1, "not asked for");
    expect(records(recorded.written.err)).toEqual([{ level: "warn", ts, logger: "meshctl", msg: 'a\n{"level":"error","msg":"forged"}' }]);
  });

  it("is text or json", async () => {
    const run = await runIn(plane, ["get", "meshes", "--log-format", "xml"]);
    expect(run).toMatchObject({ code: 2, err: expect.stringContaining("Allowed choices are text, json.") });
  });
});
