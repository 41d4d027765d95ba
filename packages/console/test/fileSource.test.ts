import { Destination, discoveryKinds } from "@isthmus/api";
import { type Resource, snapshotOf } from "@isthmus/core";
import { type TranslateOptions, translate } from "@isthmus/translators";
import { expect, it } from "vitest";
import { fileSource } from "../src/sources/fileSource.ts";

const DISCOVERY = "discovery.mesh.gloo.solo.io/v1";
const OPTIONS = { namespace: "gloo-mesh", stage: "networking" } satisfies TranslateOptions;
const MESH = {
  apiVersion: DISCOVERY,
  kind: "Mesh",
  metadata: { name: "istiod-a", namespace: "gloo-mesh" },
  spec: { istio: { installation: { cluster: "a", namespace: "istio-system" }, trustDomain: "cluster.local" } },
};
const CART = {
  apiVersion: DISCOVERY,
  kind: "Destination",
  metadata: { name: "cart-shop-a", namespace: "gloo-mesh" },
  spec: {
    kubeService: { ref: { name: "cart", namespace: "shop", clusterName: "a" }, ports: [{ port: 9080, name: "http", protocol: "TCP" }] },
    mesh: { name: "istiod-a", namespace: "gloo-mesh" },
  },
};
const slow = (status?: object) => ({
  apiVersion: "networking.mesh.gloo.solo.io/v1",
  kind: "TrafficPolicy",
  metadata: { name: "slow", namespace: "shop", generation: 1 },
  spec: { policy: { requestTimeout: "3s" } },
  ...(status === undefined ? {} : { status }),
});

async function shown(objects: readonly object[]): Promise<readonly Resource[]> {
  const translation = translate(snapshotOf(objects as readonly Resource[]), OPTIONS);
  const about = { namespace: "gloo-mesh", name: "file", version: "0", savedAt: 0 };
  const moment = await fileSource({ translation, discoveryKinds: discoveryKinds(), ...about }).read(AbortSignal.timeout(1_000));
  return [...(moment?.objects.values() ?? [])].flatMap((part) => [...part.collections().values()].flatMap((collection) => [...collection]));
}

const one = (objects: readonly Resource[], kind: string) => objects.find((object) => object.kind === kind);

it("gives manifests without a status the one that a server would", async () => {
  const objects = await shown([MESH, CART, slow()]);
  expect(one(objects, "TrafficPolicy")).toMatchObject({
    status: { state: "ACCEPTED", observedGeneration: 1, destinations: { "cart-shop-a.gloo-mesh.": { state: "ACCEPTED" } } },
  });
  expect(one(objects, Destination.kind)).toMatchObject({ status: { appliedTrafficPolicies: [{ ref: { name: "slow" } }] } });
  const refused = await shown([
    MESH,
    CART,
    { ...slow(), spec: { policy: { trafficShift: { destinations: [{ kubeService: { name: "no" } }] } } } },
  ]);
  expect(one(refused, "TrafficPolicy")).toMatchObject({ status: { state: "INVALID" } });
});

it("leaves a status as it was saved", async () => {
  const status = { state: "FAILED", observedGeneration: 1, errors: ["its cluster has refused it"] };
  const objects = await shown([MESH, { ...CART, status: { localFqdn: "as.it.was" } }, slow(status)]);
  expect(one(objects, "TrafficPolicy")).toMatchObject({ status });
  expect(one(objects, Destination.kind)).toMatchObject({ status: { localFqdn: "as.it.was" } });
});
