import { AccessLogRecord, EnvoyFilter, Mesh } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import type { AgentService } from "@isthmus/ports";
import { memoryStore } from "@isthmus/store";
import { afterEach, beforeEach, expect, it } from "vitest";
import { metaOf } from "../src/replication/clusterMeta.ts";
import { demoFleet, type Fleet, register } from "./fleet.ts";
import { clock, quiet } from "./virtualTime.ts";

let fleet: Fleet;
beforeEach(async () => {
  fleet = demoFleet();
  await register(fleet);
});
afterEach(() => fleet.stop());

const record = {
  apiVersion: AccessLogRecord.apiVersion,
  kind: AccessLogRecord.kind,
  metadata: { name: "all", namespace: "bookinfo" },
  spec: {},
};
const legacy: AgentService = { name: "enterprise-agent", grpcPort: 9977, httpPort: 9988 };

async function addressIn(clusterName: string): Promise<unknown> {
  const place = { name: "gloo-mesh-agent", namespace: "istio-system" };
  const filter = (await fleet.clusters[clusterName]?.get(EnvoyFilter, place)) as AnyResource | undefined;
  return /"socket_address":(\{[^}]*\})/.exec(JSON.stringify(filter?.["spec"]))?.[1];
}

const addressOf = (name: string, port: number) => `{"address":"${name}.gloo-mesh.svc.cluster.local","port_value":${port}}`;

it("proxies of each cluster are led to the Service that its agent says it has, and of no other cluster", async () => {
  fleet.startServer("server", { store: memoryStore({ clock, id: () => "store" }) });
  fleet.startAgent("cluster-1", { service: legacy });
  fleet.startAgent("cluster-2");
  await fleet.management.create(record as AnyResource);
  await quiet(30_000);
  expect(await addressIn("cluster-1")).toBe(addressOf("enterprise-agent", 9977));
  expect(await addressIn("cluster-2")).toBe(addressOf("gloo-mesh-agent", 9977));
  const mesh = (await fleet.management.list(Mesh)).items.find(({ metadata }) => metadata.name.endsWith("cluster-1"));
  expect(mesh?.spec?.agentInfo).toEqual({ agentNamespace: "gloo-mesh", serviceName: "enterprise-agent", servicePort: 9977 });

  // The agent is installed under other names: proxies follow.
  await fleet.stopAgent("cluster-1");
  fleet.startAgent("cluster-1", { service: { name: "agents", grpcPort: 443 } });
  await quiet(30_000);
  expect(await addressIn("cluster-1")).toBe(addressOf("agents", 443));
  // While it is offline, what it said stays.
  await fleet.stopAgent("cluster-1");
  await quiet(60_000);
  expect(await addressIn("cluster-1")).toBe(addressOf("agents", 443));
});

it("an agent that claims a host elsewhere is not connected, and leads nobody there", async () => {
  fleet.startServer();
  fleet.startAgent("cluster-1", { service: { name: "sink.attackers", grpcPort: 9977 } });
  await fleet.management.create(record as AnyResource);
  await quiet(30_000);
  expect(fleet.server().store.clusters.get("cluster-1")?.connected ?? false).toBe(false);
  expect(await addressIn("cluster-1")).toBeUndefined();
});

it.each([
  [{ name: "enterprise-agent", grpcPort: 9977, httpPort: 9988 }, legacy],
  [{ name: "sink.attackers", grpcPort: 9977 }, undefined],
  [{ name: "agent", grpcPort: "9977" }, undefined],
  [{ name: 1, grpcPort: 9977 }, undefined],
  ["agent", undefined],
])("what the store says of a Service: %j", (service, read) => {
  expect(metaOf({ meta: { phase: "synced", agent: { instance: "i", service } } }).agent?.service).toEqual(read);
});
