import { setMaxListeners } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Resource } from "@isthmus/core";
import { eventually } from "@isthmus/testing/eventually";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { startDemoAdmin } from "../src/admin.ts";
import { type Demo, startDemo } from "../src/demo.ts";
import { guide, TOUR, writeTour } from "../src/tour.ts";
import { until } from "../src/waiting.ts";

const ROTATION_MS = 600_000;
const stop = new AbortController();
setMaxListeners(0, stop.signal);
const folder = join(mkdtempSync(join(tmpdir(), "isthmus-tour-")), "tour");
const lines: string[] = [];
let demo: Demo;
let admin: Awaited<ReturnType<typeof startDemoAdmin>>;
let remove: () => void;

beforeAll(async () => {
  remove = writeTour(folder);
  demo = await startDemo({ port: 0, log: pino({ level: "silent" }), say: () => undefined }, stop.signal);
  admin = await startDemoAdmin({ demo, port: 0 }, stop.signal);
  for (const { name } of demo.workload) demo.startAgent(name);
});
afterAll(async () => {
  stop.abort(new Error("the test is over"));
  await Promise.all([demo.ended, admin.ended]);
  rmSync(join(folder, ".."), { recursive: true, force: true });
});

const objectsIn = (name: string) =>
  parseAllDocuments(readFileSync(join(folder, name), "utf8")).map((document) => document.toJS() as Resource);
const seen = () => lines.filter((line) => line.includes("seen. Look at")).length;

/** As `kubectl apply` and `kubectl scale` do. */
async function apply(name: string): Promise<void> {
  for (const resource of objectsIn(name)) await demo.management.apply(resource, { fieldManager: "kubectl" });
}
async function scale(replicas: number): Promise<void> {
  const metadata = { name: "ratings-v1", namespace: "bookinfo" };
  const scaled = { apiVersion: "apps/v1", kind: "Deployment", metadata, spec: { replicas } };
  await demo.workload[0]?.apply(scaled as Resource, { fieldManager: "kubectl" });
}
const page = async (path: string) => (await (await fetch(`http://127.0.0.1:${admin.port}${path}`)).json()) as unknown;
/** As `meshctl cert list` reads it. */
async function rootInUse(): Promise<readonly object[]> {
  const { items } = (await page("/certificates")) as { readonly items: readonly { readonly use: string; readonly virtualMesh?: string }[] };
  return items.filter(({ use, virtualMesh }) => use === "meshRoot" && virtualMesh !== undefined);
}

it("the tour follows what is applied, sees its effect in the proxies' figures, and ends when all is undone", async () => {
  const guided = guide(demo, (line) => void lines.push(line), stop.signal);
  const done = async (count: number) => eventually(() => expect(seen()).toBe(count));
  expect(TOUR.flatMap(({ file }) => file?.name ?? [])).toEqual(["1-federate.yaml", "2-shift.yaml", "3-deny.yaml", "5-rotate.yaml"]);
  expect(lines.join("\n")).toContain("--context mgmt apply -f .isthmus/tour/1-federate.yaml");
  expect(seen()).toBe(0);
  await apply("1-federate.yaml");
  await done(1);
  expect(await rootInUse()).toMatchObject([{ name: "demo-root", state: "EXPIRING" }]);
  await apply("2-shift.yaml");
  await done(2);
  await apply("3-deny.yaml");
  await done(3);
  const denied = await page("/access-logs?cluster=cluster-2&status=403");
  expect(JSON.stringify(denied)).toContain("rbac_access_denied_matched_policy");
  expect(JSON.stringify(denied)).toContain('"verified":true');
  expect(JSON.stringify(await page("/traffic?minutes=5"))).toContain('"workload":"istio-ingressgateway"');
  await scale(0);
  await done(4);
  await apply("5-rotate.yaml");
  // Each of its three steps waits until it shows that all proxies have renewed their certificates.
  await until("the root is replaced", async () => seen() === 5, { limitMs: ROTATION_MS, signal: stop.signal });
  expect(await rootInUse()).toMatchObject([{ isGenerated: true, state: "VALID" }]);
  // Proxies have accepted each other at each moment.
  for (const { name } of demo.workload) {
    expect(JSON.stringify(await page(`/access-logs?cluster=${name}&status=5xx`))).not.toContain("TLS_error");
  }
  await scale(1);
  for (const resource of [...objectsIn("2-shift.yaml"), ...objectsIn("3-deny.yaml")]) {
    const { apiVersion, kind, metadata } = resource;
    await demo.management.delete({ apiVersion, kind, name: metadata.name, namespace: metadata.namespace ?? "", clusterName: "" });
  }
  await guided;
  expect(seen()).toBe(TOUR.length);
  remove();
  expect(existsSync(folder)).toBe(false);
});
