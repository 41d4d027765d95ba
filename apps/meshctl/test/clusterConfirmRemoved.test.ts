import { KubernetesCluster } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import { expect, it } from "vitest";
import { cluster } from "./fleetObjects.ts";
import { managementCluster, runIn } from "./planeRun.ts";

const ref = { name: "east", namespace: "gloo-mesh" };
const reason =
  "control plane istio-system/istiod of east is not found any more, and policies rely on it: what is written for it stays as it is. If it was removed on purpose: meshctl cluster confirm-removed east istio-system/istiod";
const mesh: AnyResource = {
  apiVersion: "discovery.mesh.gloo.solo.io/v1",
  kind: "Mesh",
  metadata: { name: "istiod-istio-system-east", namespace: "gloo-mesh" },
  spec: { istio: { installation: { namespace: "istio-system", cluster: "east" } }, held: { reason } },
};
const plane = () => managementCluster([cluster("east", "CONNECTED") as AnyResource, mesh]);
const confirm = ["cluster", "confirm-removed"];

it("adds what was removed, once, and changes nothing else", async () => {
  const management = plane();
  const before = await management.get(KubernetesCluster, ref);
  for (const _ of [1, 2]) {
    expect(await runIn(management, [...confirm, "east", "istio-system/istiod"])).toMatchObject({ code: 0 });
  }
  expect((await management.get(KubernetesCluster, ref))?.spec).toEqual({ ...before?.spec, removed: ["istio-system/istiod"] });
});

it.each([
  ["east", "istiod", "is not NAMESPACE/NAME"],
  ["east", "istio-system/istiod-next", "nothing is kept for istio-system/istiod-next of east"],
  ["eats", "istio-system/istiod", "did you mean east?"],
])("refuses %s %s", async (name, removed, text) => {
  const management = plane();
  expect(await runIn(management, [...confirm, name, removed])).toMatchObject({ code: 2, err: expect.stringContaining(text) });
  expect((await management.get(KubernetesCluster, ref))?.spec?.removed).toBeUndefined();
});

it("writes nothing to try it", async () => {
  const management = plane();
  expect((await runIn(management, [...confirm, "east", "istio-system/istiod", "--dry-run"])).out).toContain("KubernetesCluster");
  expect((await management.get(KubernetesCluster, ref))?.spec?.removed).toBeUndefined();
});

it("describe shows what is kept, and how to go on", async () => {
  expect((await runIn(plane(), ["describe", "mesh"])).out.replace(/\s+/g, " ")).toContain("confirm-removed");
});
