import { expect, it } from "vitest";
import { managementCluster, runIn } from "./planeRun.ts";

const plane = managementCluster([]);

it.each([
  [["diff"], "error: unknown command 'diff': compare what meshctl translate prints"],
  [["test"], "error: unknown command 'test': meshctl validate checks files"],
  [["explain", "access"], "error: unknown command 'access': the console answers that"],
  [["get", "pods"], "error: unknown command 'pods': objects of Kubernetes are read with kubectl"],
])("words of other programs lead on: %j", async (args, start) => {
  const { code, out, err } = await runIn(plane, args);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err.slice(0, start.length)).toBe(start);
  expect(err).not.toContain("Did you mean");
});

it("leaves other errors as they are", async () => {
  expect((await runIn(plane, ["vaildate"])).err).toContain("(Did you mean validate?)");
  expect((await runIn(plane, ["constructor"])).err).toContain("unknown command 'constructor'");
});
