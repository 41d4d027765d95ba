import { EnvoyFilter, HTTPRoute } from "@isthmus/api";
import type { AnyResource, Kind } from "@isthmus/core";
import type { SimulatedCluster } from "@isthmus/simulator";
import { afterEach, beforeEach, expect, it } from "vitest";
import { demoFleet, type Fleet, register } from "./fleet.ts";
import { eventually } from "./virtualTime.ts";

let fleet: Fleet;
beforeEach(async () => {
  fleet = demoFleet();
  await register(fleet);
  fleet.startServer();
  fleet.startAgent("cluster-1");
});
afterEach(() => fleet.stop());

const place = { name: "mine", namespace: "bookinfo" };

async function written({ apiVersion, kind }: Kind, spec: object): Promise<void> {
  const annotations = { note: "SECRET" };
  await (fleet.clusters["cluster-1"] as SimulatedCluster).create({
    apiVersion,
    kind,
    metadata: { ...place, annotations },
    spec,
  } as AnyResource);
}

const reported = (kind: Kind) =>
  fleet
    .server()
    .store.snapshotIn("cluster-1")
    .of(kind)
    .get({ ...place, clusterName: "cluster-1" }) as AnyResource | undefined;

it("of an EnvoyFilter of users no patch leaves its cluster, of a route no value of a header", async () => {
  await written(EnvoyFilter, { configPatches: [{ applyTo: "HTTP_FILTER", patch: { operation: "MERGE", value: { token: "SECRET" } } }] });
  const filters = [{ type: "RequestHeaderModifier", requestHeaderModifier: { set: [{ name: "authorization", value: "SECRET" }] } }];
  await written(HTTPRoute, { hostnames: ["a.example"], rules: [{ filters, backendRefs: [{ name: "reviews", port: 9080 }] }] });
  await eventually(() => expect(reported(HTTPRoute)?.["spec"]).toBeDefined());
  await eventually(() => expect(reported(EnvoyFilter)).toBeDefined());
  for (const kind of [EnvoyFilter, HTTPRoute]) expect(JSON.stringify(reported(kind))).not.toContain("SECRET");
});
