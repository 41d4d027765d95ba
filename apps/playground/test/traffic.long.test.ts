import { setMaxListeners } from "node:events";
import { AuthorizationPolicy, type TrafficPolicy } from "@isthmus/api";
import type { Resource } from "@isthmus/core";
import { demoPolicies } from "@isthmus/simulator";
import { eventually } from "@isthmus/testing/eventually";
import type { Translation } from "@isthmus/translators";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { NAMESPACE } from "../src/agent.ts";
import { type Demo, startDemo } from "../src/demo.ts";
import { trafficEffect } from "../src/traffic/effect.ts";
import type { MeshProxy } from "../src/traffic/proxies.ts";
import { seededRandom } from "../src/traffic/random.ts";
import { type RequestOutcome, requestSimulation, type Seen } from "../src/traffic/requests.ts";
import { podRooms } from "../src/traffic/rooms.ts";
import { CLIENTS } from "../src/traffic/services.ts";
import { demoVirtualMesh } from "../src/trust/virtualMesh.ts";
import { isFederated, isPolicyApplied, until } from "../src/waiting.ts";

// Behind other suites what takes a second takes minutes.
const HANGS_AFTER_MS = 1_200_000;
const stop = new AbortController();
setMaxListeners(0, stop.signal);
let demo: Demo;
const made: Resource[] = [];

beforeAll(async () => {
  demo = await startDemo({ port: 0, log: pino({ level: "silent" }), say: () => undefined }, stop.signal);
  for (const { name } of demo.workload) demo.startAgent(name);
  await demo.management.create(demoVirtualMesh);
  await until("both clusters are federated", () => isFederated(demo), { limitMs: HANGS_AFTER_MS, signal: stop.signal });
});
afterEach(async () => {
  for (const { apiVersion, kind, metadata } of made.splice(0))
    await demo.management.delete({ apiVersion, kind, name: metadata.name, namespace: metadata.namespace ?? "", clusterName: "" });
});
afterAll(async () => {
  stop.abort();
  await demo.ended;
});

async function create(policy: Resource): Promise<void> {
  made.push(policy);
  await demo.management.create(policy);
}

async function inForce(policy: TrafficPolicy): Promise<void> {
  await create(policy);
  await eventually(async () => expect(await isPolicyApplied(demo, policy)).toBe(true));
}

interface Sent {
  readonly from: { readonly cluster: string; readonly workload: string };
  readonly host: string;
  readonly path?: string;
  readonly times: number;
  readonly hasRoom?: (called: MeshProxy) => boolean;
  readonly isMutual?: () => boolean;
  readonly random?: () => number;
}

/** What comes of requests through what is in the clusters now, and what proxies see of them. */
function send({ from, host, path = "/", times, hasRoom = () => true, isMutual = () => true, random = seededRandom(7) }: Sent): {
  readonly outcomes: readonly (RequestOutcome | undefined)[];
  readonly seen: readonly Seen[];
} {
  const effect = trafficEffect(demo.server.translation as Translation, demo.workload, NAMESPACE);
  const caller =
    effect.proxies.find(({ cluster, workload }) => cluster === from.cluster && workload === from.workload) ?? expect.fail("no caller");
  const seen: Seen[] = [];
  const simulation = requestSimulation({
    effect: () => effect,
    isMutual,
    random,
    hasRoom,
    seen: (one) => void seen.push(one),
  });
  const asked = { host, port: 9080, method: "GET", path, headers: {} } as const;
  return { outcomes: Array.from({ length: times }, () => simulation.send(caller, asked)), seen };
}

/** What proxies see of all clients of the demo in some seconds. */
function seenOfClients(seconds: number): readonly Seen[] {
  const { proxies } = trafficEffect(demo.server.translation as Translation, demo.workload, NAMESPACE);
  const { hasRoom, pass } = podRooms();
  const random = seededRandom(7);
  return Array.from({ length: seconds }).flatMap(() => {
    pass(1, proxies);
    return CLIENTS.flatMap(({ perSecond, host, path, ...from }) => send({ from, host, path, times: perSecond, hasRoom, random }).seen);
  });
}

const productpage = { cluster: "cluster-1", workload: "productpage-v1" };
const west = { cluster: "cluster-2", workload: "istio-ingressgateway" };
const reviews = "reviews.bookinfo.svc.cluster.local";
const RATINGS = { name: "ratings-v1", namespace: "bookinfo" };
const ratings = "ratings.bookinfo.svc.cluster.local";

it("a shift of 25 % is counted as 25 %, and without it nothing goes to the other cluster", async () => {
  const toOther = () => {
    const { outcomes } = send({ from: productpage, host: reviews, times: 4_000 });
    return outcomes.filter((outcome) => outcome?.called?.cluster === "cluster-2").length / outcomes.length;
  };
  expect(toOther()).toBe(0);
  await inForce(demoPolicies.shiftPolicy);
  expect(toOther()).toBeGreaterThan(0.23);
  expect(toOther()).toBeLessThan(0.27);
});

it("who is denied gets 403 and nothing else, at both proxies, and others still get in", async () => {
  const before = send({ from: west, host: ratings, times: 200 });
  expect(before.outcomes.filter((outcome) => outcome?.status === 200).length).toBeGreaterThan(150);
  await create(demoPolicies.accessPolicy);
  const [, second] = demo.workload;
  await eventually(async () => expect((await second?.list(AuthorizationPolicy))?.items).not.toEqual([]));
  await eventually(() => expect(send({ from: west, host: ratings, times: 1 }).outcomes[0]?.status).toBe(403));
  const { outcomes, seen } = send({ from: west, host: ratings, times: 500 });
  expect(new Set(outcomes.map((outcome) => outcome?.status))).toEqual(new Set([403]));
  expect(seen.map(({ labels }) => `${labels.reporter} ${labels.response_code}`).sort()).toEqual([
    ...Array.from({ length: 500 }, () => "destination 403"),
    ...Array.from({ length: 500 }, () => "source 403"),
  ]);
  const allowed = send({ from: { cluster: "cluster-2", workload: "reviews-v3" }, host: ratings, times: 200 });
  expect(allowed.outcomes.filter((outcome) => outcome?.status === 403)).toEqual([]);
});

it("a host that nobody knows has no traffic at all", () => {
  const { outcomes, seen } = send({ from: productpage, host: "reviews.elsewhere.svc.cluster.local", times: 50 });
  expect(outcomes.every((outcome) => outcome === undefined)).toBe(true);
  expect(seen).toEqual([]);
});

it("a timeout ends what is slower, with 504, at the time that the policy says", async () => {
  const slow = () => send({ from: productpage, host: reviews, times: 2_000 }).outcomes.filter((outcome) => (outcome?.ms ?? 0) > 60);
  expect(slow().some((outcome) => outcome?.status === 200)).toBe(true);
  const { spec } = demoPolicies.timeoutPolicy;
  await inForce({ ...demoPolicies.timeoutPolicy, spec: { ...spec, policy: { requestTimeout: "60ms" } } });
  expect(slow()).toEqual([]);
  const late = send({ from: productpage, host: reviews, times: 2_000 }).outcomes.filter((outcome) => outcome?.status === 504);
  expect(late.length).toBeGreaterThan(10);
  expect(late.every((outcome) => outcome?.ms === 60 && outcome.flags.includes("upstreamRequestTimeout"))).toBe(true);
});

it("what was not sent, as a pod was busy, is tried again as Istio does by default, and counted where it arrives", () => {
  let isFree = true;
  const { outcomes, seen } = send({ from: west, host: ratings, times: 200, hasRoom: () => (isFree = !isFree) });
  expect(outcomes.filter((outcome) => outcome?.status === 503)).toEqual([]);
  expect(seen.filter(({ side }) => side === "source")).toHaveLength(200);
  expect(seen.filter(({ labels }) => labels.reporter === "destination" && labels.response_code === "503")).toHaveLength(200);
  const never = send({ from: west, host: ratings, times: 10, hasRoom: () => false });
  expect(never.outcomes.map((outcome) => [outcome?.status, outcome?.flags])).toEqual(
    Array.from({ length: 10 }, () => [503, ["upstreamOverflow"]]),
  );
  expect(never.seen.filter(({ side }) => side === "destination")).toHaveLength(30);
});

it("a service of another cluster is called by its federated host, and counted as Istio counts a ServiceEntry", () => {
  const { seen } = send({ from: west, host: "productpage.bookinfo.svc.cluster-1.global", times: 1 });
  const sent = seen.find(({ side, by }) => side === "source" && by.workload === "istio-ingressgateway");
  expect(sent?.labels).toMatchObject({
    destination_service_name: "productpage.bookinfo.svc.cluster-1.global",
    destination_service_namespace: "istio-system",
    destination_workload: "productpage-v1",
    destination_cluster: "cluster-1",
    response_code: "200",
  });
  expect(sent?.outcome.ms).toBeGreaterThan(38);
});

it("calls of a service without pods are answered by that of the other cluster, and counted so", async () => {
  const [first] = demo.workload;
  const scale = (replicas: number) =>
    first?.apply({ apiVersion: "apps/v1", kind: "Deployment", metadata: RATINGS, spec: { replicas } } as Resource, {
      fieldManager: "test",
    });
  const answering = () => {
    const { outcomes } = send({ from: { cluster: "cluster-1", workload: "reviews-v2" }, host: ratings, times: 20 });
    return [...new Set(outcomes.map((outcome) => outcome?.called?.cluster))];
  };
  expect(answering()).toEqual(["cluster-1"]);
  await scale(0);
  await eventually(() => expect(answering()).toEqual(["cluster-2"]));
  const { seen } = send({ from: { cluster: "cluster-1", workload: "reviews-v2" }, host: ratings, times: 1 });
  expect(seen.find(({ side }) => side === "source")?.labels).toMatchObject({
    destination_service_name: "ratings",
    destination_workload: "ratings-v1",
    destination_cluster: "cluster-2",
  });
  // The other cluster carries what comes: a few errors are its own, none is for lack of room.
  const arrived = seenOfClients(30).filter(
    ({ labels }) => labels.reporter === "destination" && labels.destination_service_name === "ratings",
  );
  const codes = arrived.map(({ labels }) => labels.response_code);
  expect(codes.length).toBeGreaterThan(150);
  expect(codes).not.toContain("503");
  expect(codes.filter((code) => code !== "200").length / codes.length).toBeLessThan(0.12);
  await scale(1);
  await eventually(() => expect(answering()).toEqual(["cluster-1"]));
});

it("proxies that do not accept each other's certificate have no connection", () => {
  const { outcomes, seen } = send({ from: west, host: ratings, times: 10, isMutual: () => false });
  expect(new Set(outcomes.map((outcome) => outcome?.status))).toEqual(new Set([503]));
  expect(new Set(outcomes.map((outcome) => outcome?.flags[0]))).toEqual(new Set(["upstreamConnectionFailure"]));
  expect(seen.filter(({ side }) => side === "destination")).toEqual([]);
});
