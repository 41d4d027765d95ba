import { setMaxListeners } from "node:events";
import { edgeOfRow, type Resource, requestsIn, SIGNAL_COUNT } from "@isthmus/core";
import { ACTIVITY_MINUTES } from "@isthmus/plane";
import { demoPolicies } from "@isthmus/simulator";
import { eventually } from "@isthmus/testing/eventually";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NAMESPACE } from "../src/agent.ts";
import { startDemoConsole } from "../src/console.ts";
import { type Demo, startDemo } from "../src/demo.ts";
import { demoVirtualMesh } from "../src/trust/virtualMesh.ts";
import { isFederated, until } from "../src/waiting.ts";

const log = pino({ level: "silent" });
// Behind other suites what takes a second takes minutes.
const HANGS_AFTER_MS = 1_200_000;
const stop = new AbortController();
setMaxListeners(0, stop.signal);

/** What a browser holds. */
const objects = new Map<string, Resource & { readonly status?: { readonly state?: string; readonly conditions?: unknown } }>();
const generated = new Map<string, Resource>();
const insights = new Map<string, readonly { readonly code: string }[]>();
const events: string[] = [];
const activity = new Map<string, { readonly traffic?: { readonly times?: readonly string[]; readonly edges: readonly unknown[] } }>();
let certificates: readonly { readonly kind: string; readonly subject?: string; readonly state?: string }[] = [];
let clock:
  | { readonly clusters: readonly { readonly name: string; readonly connected?: boolean; readonly at: string | null }[] }
  | undefined;
let received = "";

let demo: Demo;
let ended: Promise<unknown>;

beforeAll(async () => {
  const say = () => undefined;
  demo = await startDemo({ port: 0, log, say }, stop.signal);
  const served = await startDemoConsole(
    { server: demo.server, traffic: demo.traffic, namespace: NAMESPACE, port: 0, log, say, clockMs: 100 },
    stop.signal,
  );
  ended = Promise.all([served.ended, demo.ended]);
  void follow(served.port).catch(() => undefined);
  for (const { name } of demo.workload) demo.startAgent(name);
  await demo.management.create(demoVirtualMesh);
  await until("both clusters are federated", () => isFederated(demo), { limitMs: HANGS_AFTER_MS, signal: stop.signal });
});
afterAll(async () => {
  stop.abort();
  await ended;
});

async function follow(port: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/stream`, { signal: stop.signal });
  let text = "";
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(part).toString();
    received += Buffer.from(part).toString();
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      take(text.slice(0, end));
      text = text.slice(end + 2);
    }
  }
}

const keyOf = (kind: string, { name, namespace = "", clusterName = "" }: { name: string; namespace?: string; clusterName?: string }) =>
  `${kind} ${namespace}/${name} ${clusterName}`;

function take(event: string): void {
  const [, name = ""] = /^event: (\w+)$/m.exec(event) ?? [];
  const data = JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? "null");
  events.push(name);
  if (name === "clock") clock = data;
  if (name === "certificates") certificates = data;
  if (name === "activity") activity.set(data.cluster, data);
  if (name === "insights") for (const one of data.changed) insights.set(keyOf(one.object.kind, one.object), one.insights);
  const map = name === "change" ? objects : name === "generated" ? generated : undefined;
  for (const ref of map === undefined ? [] : data.remove) map?.delete(keyOf(ref.kind, ref));
  for (const resource of map === undefined ? [] : data.put) map?.set(keyOf(resource.kind, resource.metadata), resource);
}

describe("the console of the demo", () => {
  it("shows what is declared, reported, discovered and generated, with statuses, insights and certificates", async () => {
    await eventually(() => expect(objects.get("VirtualMesh gloo-mesh/bookinfo ")?.status?.state).toBe("ACCEPTED"));
    expect(events.slice(0, 1)).toEqual(["reset"]);
    expect(received).toMatch(
      /^[^{]*event: reset\ndata: \{"kind":"server","name":"npm run demo","version":"[^"]+","namespace":"gloo-mesh"\}/,
    );
    expect([...objects.keys()]).toEqual(
      expect.arrayContaining([
        "KubernetesCluster gloo-mesh/cluster-2 ",
        "Service bookinfo/reviews cluster-1",
        "Mesh gloo-mesh/istiod-istio-system-cluster-1 ",
        "Destination gloo-mesh/reviews-bookinfo-cluster-2 ",
      ]),
    );
    await eventually(() => expect([...generated.keys()].filter((key) => key.startsWith("ServiceEntry"))).toHaveLength(24));
    await eventually(() => expect([...insights.values()].flat().length).toBeGreaterThan(0));
    await eventually(() =>
      expect(certificates.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["agent", "relayRoot", "meshRoot", "meshIntermediate"])),
    );
    expect(certificates.find(({ kind }) => kind === "relayRoot")?.subject).toMatch(/^CN=/);
    // There is one certificate to be found that ends soon.
    expect(certificates.filter(({ state = "" }) => state.startsWith("EXPIR"))).toMatchObject([{ kind: "meshRoot", state: "EXPIRING" }]);
    await eventually(() =>
      expect(objects.get("VirtualMesh gloo-mesh/bookinfo ")?.status?.conditions).toContainEqual(
        expect.objectContaining({ type: "CertificateExpiring", status: "True", message: expect.stringContaining("gloo-mesh/demo-root") }),
      ),
    );
  });

  it("shows who calls whom, as agents have counted it by scraping proxies", async () => {
    const callers = (cluster: string) =>
      (activity.get(cluster)?.traffic?.edges ?? []).flatMap((row) => {
        const times = activity.get(cluster)?.traffic?.times ?? [];
        const { edge, numbers } = edgeOfRow(row, ACTIVITY_MINUTES.length * SIGNAL_COUNT + 2 * times.length) ?? expect.fail("no edge");
        return requestsIn(numbers.slice(0, SIGNAL_COUNT)) > 0 ? [`${edge.sourceWorkload} to ${edge.service} ${edge.cluster}`] : [];
      });
    await eventually(() =>
      expect(callers("cluster-1")).toEqual(expect.arrayContaining(["productpage-v1 to reviews ", "reviews-v2 to ratings "])),
    );
    const federated = "istio-ingressgateway to productpage.bookinfo.svc.cluster-1.global cluster-1";
    await eventually(() => expect(callers("cluster-2")).toContain(federated));
  });

  it("follows a policy, until it is gone", async () => {
    await demo.management.apply(demoPolicies.timeoutPolicy, { fieldManager: "test" });
    await eventually(() => expect(objects.get("TrafficPolicy bookinfo/reviews-timeout ")?.status?.state).toBe("ACCEPTED"));
    await eventually(() => expect(generated.has("VirtualService bookinfo/reviews cluster-1")).toBe(true));
    const { apiVersion, kind, metadata } = demoPolicies.timeoutPolicy;
    await demo.management.delete({ apiVersion, kind, name: metadata.name, namespace: metadata.namespace ?? "", clusterName: "" });
    await eventually(() => expect(generated.has("VirtualService bookinfo/reviews cluster-1")).toBe(false));
    expect(objects.has("TrafficPolicy bookinfo/reviews-timeout ")).toBe(false);
  });

  it("keeps the objects of a cluster whose agent is stopped, and says since when", async () => {
    await demo.stopAgent("cluster-2");
    await eventually(() => expect(clock?.clusters).toMatchObject([{ connected: true }, { name: "cluster-2", connected: false }]));
    const at = clock?.clusters[1]?.at;
    expect(Date.parse(at ?? "")).toBeGreaterThan(0);
    await eventually(() => expect(Date.parse(clock?.clusters[0]?.at ?? "")).toBeGreaterThan(Date.parse(at ?? "")));
    expect(clock?.clusters[1]?.at).toBe(at);
    expect(objects.has("Service bookinfo/reviews cluster-2")).toBe(true);
  });

  it("gets no Secret, though the management cluster has keys and tokens", async () => {
    const secrets = demo.management.objects().filter(({ kind }) => kind === "Secret") as (Resource & {
      readonly data?: Record<string, string>;
    })[];
    const checked = new Set<string>();
    for (const { data = {} } of secrets) {
      for (const [key, value] of Object.entries(data)) {
        // Public, or the UID of a cluster, which its KubernetesCluster has too.
        if (["ca.crt", "tls.crt", "root-cert.pem"].includes(key) || Buffer.from(value, "base64").toString().startsWith("uid-of-")) continue;
        checked.add(key);
        expect([key, received.includes(value)]).toEqual([key, false]);
        expect([key, received.includes(Buffer.from(value, "base64").toString().slice(0, 60))]).toEqual([key, false]);
      }
    }
    expect([...checked]).toEqual(expect.arrayContaining(["token", "tls.key"]));
    expect(events.filter((name) => name === "reset")).toHaveLength(1);
    expect(received).not.toMatch(/"kind":"Secret"/);
  });
});
