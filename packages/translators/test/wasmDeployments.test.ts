import { WasmFilterReport, type WasmFilterState } from "@isthmus/api";
import { type AnyResource, type JsonObject, snapshotOf } from "@isthmus/core";
import { readInput } from "@isthmus/testing";
import { expect, test } from "vitest";
import { type Delivery, statusesAfter, translate } from "../src/index.ts";

const WORLD = `
apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Mesh
metadata: {name: istiod-a, namespace: gloo-mesh}
spec: {istio: {installation: {namespace: istio-system, cluster: a}}, agentInfo: {agentNamespace: gloo-mesh}}
---
apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Workload
metadata: {name: web, namespace: gloo-mesh}
spec:
  kubernetes: {controller: {name: web, namespace: shop, clusterName: a}, podLabels: {app: web}}
  mesh: {name: istiod-a, namespace: gloo-mesh}
---
apiVersion: discovery.mesh.gloo.solo.io/v1
kind: Workload
metadata: {name: web-canary, namespace: gloo-mesh}
spec:
  kubernetes: {controller: {name: web-canary, namespace: shop, clusterName: a}, podLabels: {app: web, version: canary}}
  mesh: {name: istiod-a, namespace: gloo-mesh}
---
apiVersion: networking.enterprise.mesh.gloo.solo.io/v1beta1
kind: WasmDeployment
metadata: {name: headers, namespace: shop, generation: 1}
spec: {filters: [{wasmImageSource: {wasmImageTag: "registry.example.com/header:v1"}}]}
`;
const REF = {
  apiVersion: "networking.enterprise.mesh.gloo.solo.io/v1beta1",
  kind: "WasmDeployment",
  name: "headers",
  namespace: "shop",
  clusterName: "",
};

function worldWith(status: WasmFilterState | undefined, clusterName: string) {
  const { apiVersion, kind } = WasmFilterReport;
  const report: AnyResource = { apiVersion, kind, metadata: { name: "wasm.headers.shop.web", namespace: "shop", clusterName }, status };
  const resources = [...readInput(WORLD).resources, ...(status === undefined ? [] : [report])];
  return translate(snapshotOf(resources), { namespace: "gloo-mesh", stage: "networking" });
}

const delivered: Delivery = { stateOf: () => "applied" };

/** The status where an agent reports this: made from scratch, and from where nothing was reported. */
function statusWith(reported: WasmFilterState | undefined, clusterName = "a"): JsonObject {
  const world = worldWith(reported, clusterName);
  const scratch = statusesAfter(world, delivered).of(REF)?.status ?? {};
  const before = statusesAfter(worldWith(undefined, "a"), delivered);
  expect(statusesAfter(world, delivered, before).of(REF)?.status).toEqual(scratch);
  return scratch;
}

function deployed(status: JsonObject): string {
  const list = (status["conditions"] ?? []) as readonly { type: string; status: string; reason: string; message: string }[];
  const found = list.find(({ type }) => type === "FiltersDeployed");
  return `${found?.status} ${found?.reason}: ${found?.message}`;
}

test("a workload is pending until all of its proxies run the filters; pods that another one's filter finds are with it", () => {
  const states = (state: string) => ({ "web.gloo-mesh.": state, "web-canary.gloo-mesh.": state });
  for (const reported of [undefined, { proxies: 0 }, { proxies: 2, accepted: 1 }]) {
    const status = statusWith(reported);
    expect(status["workloadStates"]).toEqual(states("DEPLOYMENT_PENDING"));
    expect(deployed(status)).toBe("Unknown Pending: deployed on 0 of 2 workloads; the proxies of the others have not answered");
  }
  const status = statusWith({ proxies: 2, accepted: 2 });
  expect(status["workloadStates"]).toEqual(states("FILTERS_DEPLOYED"));
  expect(deployed(status)).toBe("True Deployed: deployed on 2 of 2 workloads");
  expect(status).not.toHaveProperty("error");
});

test("what a proxy refuses is an error, with what it says on one line", () => {
  const status = statusWith({ proxies: 2, accepted: 1, refused: 1, refusal: `Unable to create\nWasm plugin${"x".repeat(2_000)}` });
  expect(status["workloadStates"]).toMatchObject({ "web.gloo-mesh.": "DEPLOYMENT_FAILED" });
  expect(status["error"]).toMatch(
    /^Workload gloo-mesh\/web-canary: 1 of 2 proxies refuse a filter, and keep the one before: Unable to create Wasm pluginx+\.\.\.$/,
  );
  expect(deployed(status)).toMatch(/^False Refused: /);
});

test("a module that is not there leaves it pending, and says why", () => {
  const status = statusWith({ proxies: 1, accepted: 0, unavailable: "registry.example.com: status 404" });
  expect(status["workloadStates"]).toMatchObject({ "web.gloo-mesh.": "DEPLOYMENT_PENDING" });
  expect(deployed(status)).toMatch(/^False ModuleUnavailable: .*is tried again: registry\.example\.com: status 404$/);
});

test("an agent that refuses its filter has failed, with the reason", () => {
  const refusing: Delivery = { stateOf: () => ({ code: "Content", message: "start it with --wasm-filters" }) };
  const status = statusesAfter(worldWith(undefined, "a"), refusing).of(REF)?.status ?? {};
  expect(status["workloadStates"]).toEqual({ "web.gloo-mesh.": "DEPLOYMENT_FAILED", "web-canary.gloo-mesh.": "DEPLOYMENT_FAILED" });
  expect(status["error"]).toContain("--wasm-filters");
  expect(deployed(status)).toMatch(/^False Refused: deployed on 0 of 2 workloads; .*--wasm-filters/);
});

test("EnvoyFilters of users beside it are warnings, ten of them at most", () => {
  const status = statusWith({ proxies: 1, accepted: 1, userFilters: Array.from({ length: 50 }, (_, i) => `shop/mine-${i}`) });
  const warnings = status["warnings"] as readonly string[];
  expect(warnings.filter((one) => one.includes("Workload gloo-mesh/web too"))).toHaveLength(10);
  expect(warnings[0]).toContain("EnvoyFilter shop/mine-0 in a of a user changes HTTP filters of Workload gloo-mesh/web-canary too");
  expect(status["state"]).toBe("ACCEPTED");
});

test("the agent of another cluster says nothing of it", () => {
  expect(statusWith({ proxies: 1, refused: 1, refusal: "no" }, "b")["workloadStates"]).toMatchObject({
    "web.gloo-mesh.": "DEPLOYMENT_PENDING",
  });
});
