import type { Insight } from "@isthmus/insights";
import { expect, test } from "vitest";
import { meshctl } from "../src/meshctl.ts";
import { expectOutput } from "./outputs/expectOutput.ts";
import { recordedIo } from "./recordedIo.ts";

const NOW = Date.parse("2026-02-01T12:00:00Z");
const AT = "2026-02-01T11:59:30.000Z";

function item(name: string, { severity = "warning", ...others }: Partial<Insight> & { readonly suppressed?: object } = {}): object {
  const object = { apiVersion: "networking.istio.io/v1", kind: "VirtualService", name, namespace: "bookinfo", clusterName: "east" };
  const remedy = { text: "set exportTo", command: `kubectl --context east edit virtualservice ${name}` };
  const insight = {
    code: "BP0001",
    category: "BP",
    severity,
    object,
    cluster: "east",
    field: "spec.exportTo",
    message: "is in force everywhere",
  };
  return { ...insight, remedy, since: "2026-01-31T08:00:00.000Z", ...others };
}

/** Runs the command against a server whose page says this. */
async function run(page: object | string, ...args: readonly string[]) {
  const io = recordedIo();
  const asked: string[] = [];
  const code = await meshctl(["insights", "--admin-address", "http://127.0.0.1:9091", ...args], io, {
    now: () => NOW,
    async readAdminPage(_, path) {
      asked.push(path);
      return typeof page === "string" ? page : JSON.stringify(page);
    },
  });
  expectOutput(["insights", ...args], io.written.out);
  return { code, asked, ...io.written };
}

const page = (items: readonly object[], others: object = {}) => ({
  at: AT,
  unknown: [],
  items,
  problems: [],
  ended: [],
  omitted: [],
  ...others,
});

test("a running server says what is wrong, since when, and of which moment", async () => {
  const { code, out, err, asked } = await run(page([item("reviews")]));
  expect(out).toBe(
    "warning: VirtualService bookinfo/reviews in east: spec.exportTo: is in force everywhere [BP0001], since 2026-01-31T08:00:00.000Z\n" +
      "  set exportTo\n    kubectl --context east edit virtualservice reviews\n",
  );
  expect(err).toBe(`as of ${AT}; 0 errors, 1 warning, 0 info\n`);
  expect({ code, asked }).toEqual({ code: 0, asked: ["/insights"] });
  expect((await run(page([item("reviews")]), "--fail-on", "warning")).code).toBe(1);
  expect((await run(page([item("reviews", { severity: "error" })]), "--cluster", "ea/st")).asked).toEqual(["/insights?cluster=ea%2Fst"]);
  expect((await run(page([item("reviews", { severity: "error" })]), "--cluster", "east")).code).toBe(1);
});

test("what is suppressed is counted, and printed if asked", async () => {
  const found = page([item("reviews", { severity: "error", suppressed: { reason: "shared", by: "annotation" } })]);
  const { code, out, err } = await run(found);
  expect({ code, out, err }).toEqual({ code: 0, out: "", err: `as of ${AT}; 0 errors, 0 warnings, 0 info; 1 suppressed\n` });
  expect((await run(found, "--suppressed")).out).toContain("[BP0001]\n  by annotation: shared\n");
  expect(JSON.parse((await run(found, "-o", "json")).out)).toMatchObject({
    insights: [],
    suppressed: [{ reason: "shared", insight: { code: "BP0001", since: "2026-01-31T08:00:00.000Z" } }],
  });
});

test("--history prints what has ended", async () => {
  const { since, ...over } = item("ratings") as { readonly since: string };
  const found = page([], { ended: [{ ...over, since, until: "2026-02-01T09:00:00.000Z" }, { code: "BP0001" }] });
  expect((await run(found)).out).toBe("");
  expect((await run(found, "--history")).out).toBe(
    "ended: VirtualService bookinfo/ratings in east: spec.exportTo: is in force everywhere [BP0001], from 2026-01-31T08:00:00.000Z to 2026-02-01T09:00:00.000Z\n",
  );
});

test.each([
  [{ unknown: ["west"] }, "the server knows nothing of west: what is listed of them was found before"],
  [{ omitted: [{ cluster: "east", count: 7 }] }, '7 more of east are not listed: pass --cluster "east"'],
  [{ at: "2026-02-01T11:00:00.000Z" }, "no server has looked since 2026-02-01T11:00:00.000Z"],
])("an answer that is not all there is ends with 3: %j", async (others, warning) => {
  const { code, err } = await run(page([item("reviews")], others));
  expect(code).toBe(3);
  expect(err).toContain(`warning: ${warning}`);
  expect((await run(page([item("reviews")], others), "--fail-on", "warning")).code).toBe(1);
});

test.each([
  ["{}"],
  ["[]"],
  ["null"],
  ["<html>"],
  [JSON.stringify({ at: AT, items: [{ code: "BP0001" }] })],
  [JSON.stringify({ at: AT, items: [null] })],
  [JSON.stringify({ at: AT, items: [{ ...item("x"), targets: [{}] }] })],
])("what is no list of insights is reported: %s", async (text) => {
  const { code, out, err } = await run(text);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain("/insights: the answer is no list of insights");
});

test("a server that has found nothing out yet has no good news", async () => {
  const { code, err } = await run({ at: null, items: [] });
  expect(code).toBe(2);
  expect(err).toContain("the server has found nothing out yet");
});

test("a command that would be another one without what is hidden in it is left out", async () => {
  const remedy = { text: "delete it", command: "kubectl delete 'a\u001b[2Jb'" };
  const found = page([item("reviews", { remedy }), item("x", { remedy: { text: "y", command: "one\ntwo" } })]);
  const { out } = await run(found);
  expect(out).toContain("  delete it\nwarning:");
  expect(out).not.toContain("kubectl");
  expect(JSON.stringify(JSON.parse((await run(found, "-o", "json")).out))).not.toContain("kubectl");
});

test.each([
  [["--agent-cluster", "east"], "--agent-cluster needs --file or --snapshot"],
  [["--context", "mgmt"], "--admin-address and --context are mutually exclusive"],
])("options that would be passed over are refused: %j", async (args, message) => {
  const { code, err, asked } = await run(page([]), ...args);
  expect({ code, asked }).toEqual({ code: 2, asked: [] });
  expect(err).toContain(message);
});

test.each([
  ["a suppression without its author", { suppressed: { reason: "shared" } }],
  ["a suppression that ends at a number", { suppressed: { reason: "shared", by: "Settings", until: 7 } }],
  ["a command that is no text", { remedy: { text: "t", command: 7 } }],
  ["a near miss that is no text", { nearMiss: {} }],
  ["a file", { file: 7 }],
])("a page is no list of insights where one has %s, in any format", async (_, others) => {
  for (const output of ["text", "json", "sarif", "junit", "github", "gitlab", "markdown"]) {
    const { code, out, err } = await run(page([item("reviews", others as object)]), "--suppressed", "-o", output);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("the answer is no list of insights");
  }
});
