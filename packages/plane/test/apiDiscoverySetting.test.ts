import { ApiDoc, EndpointSlice, Service, Settings } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { demoFleet, type Fleet, register } from "./fleet.ts";
import { eventually, quiet } from "./virtualTime.ts";

let fleet: Fleet;
beforeEach(async () => {
  fleet = demoFleet();
  await register(fleet);
});
afterEach(() => fleet.stop());

it("has agents of all clusters read no schemas, from their start, and read them as soon as it says otherwise", async () => {
  const called: string[] = [];
  const body = JSON.stringify({ openapi: "3.0.0", info: {}, paths: {} });
  const http = async ({ url }: { readonly url: string }) => {
    called.push(url);
    return { status: 200, body };
  };
  const cluster = fleet.clusters["cluster-1"] ?? expect.fail("the demo has no cluster-1");
  const at = { name: "apis", namespace: "bookinfo" };
  cluster.load([
    {
      apiVersion: Service.apiVersion,
      kind: Service.kind,
      metadata: { ...at, annotations: { "gloo.solo.io/scrape-openapi-source": "/openapi.json" } },
      spec: { clusterIP: "10.96.0.77", selector: { app: "apis" }, ports: [{ port: 80 }] },
    },
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { ...at, name: "apis-1", labels: { app: "apis" } },
      spec: { containers: [] },
      status: { podIPs: [{ ip: "10.1.0.1" }] },
    },
    {
      apiVersion: EndpointSlice.apiVersion,
      kind: EndpointSlice.kind,
      metadata: { ...at, labels: { "kubernetes.io/service-name": "apis" } },
      endpoints: [{ addresses: ["10.1.0.1"], targetRef: { kind: "Pod", name: "apis-1" } }],
    },
  ] as unknown as readonly AnyResource[]);
  const { apiVersion, kind } = Settings;
  const metadata = { name: "settings", namespace: "gloo-mesh" };
  await fleet.management.create({ apiVersion, kind, metadata, spec: { agentServices: { apiDiscovery: "DISABLED" } } } as Settings);
  fleet.startAgent("cluster-1", { schemas: { http } });
  // Without a server nobody has said that it is on.
  await quiet(10_000);
  fleet.startServer();
  await eventually(() => expect(fleet.server().store.clusters.get("cluster-1")?.connected).toBe(true));
  await quiet(10_000);
  expect(called).toEqual([]);
  const found = await fleet.management.get(Settings, metadata);
  await fleet.management.update({ ...(found as Settings), spec: {} } as Settings);
  await eventually(async () => expect(await cluster.get(ApiDoc, { name: "apis-service", namespace: "bookinfo" })).toBeDefined());
  expect(called).toEqual(["http://10.96.0.77:80/openapi.json"]);
});
