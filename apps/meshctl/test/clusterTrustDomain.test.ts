import { KubernetesCluster } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import { expect, it } from "vitest";
import { cluster } from "./fleetObjects.ts";
import { managementCluster, runIn } from "./planeRun.ts";

const ref = { name: "east", namespace: "gloo-mesh" };
const east = () => managementCluster([cluster("east", "CONNECTED") as AnyResource]);
const accept = ["cluster", "trust-domain", "accept"];

it("sets the trust domain of a cluster, and nothing else", async () => {
  const plane = east();
  const before = await plane.get(KubernetesCluster, ref);
  const { code, err } = await runIn(plane, [...accept, "east", "east.example"]);
  expect({ code, err }).toEqual({
    code: 0,
    err: "east: AccessPolicies name its callers by east.example, once its mesh configuration does\n",
  });
  expect((await plane.get(KubernetesCluster, ref))?.spec).toEqual({ ...before?.spec, trustDomain: "east.example" });
});

it("refuses what is no trust domain, a cluster that is not registered, and writes nothing to try it", async () => {
  const plane = east();
  expect(await runIn(plane, [...accept, "east", "*"])).toMatchObject({
    code: 2,
    err: expect.stringContaining('"*" is not a trust domain'),
  });
  expect(await runIn(plane, [...accept, "eats", "east.example"])).toMatchObject({
    code: 2,
    err: expect.stringContaining("did you mean east?"),
  });
  const tried = await runIn(plane, [...accept, "east", "east.example", "--dry-run"]);
  expect(tried.out).toContain("KubernetesCluster");
  expect((await plane.get(KubernetesCluster, ref))?.spec?.trustDomain).toBeUndefined();
});
