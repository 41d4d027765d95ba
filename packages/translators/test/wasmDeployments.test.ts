import { EnvoyFilter, WasmDeployment, WasmFilterReport, type WasmFilterState, wasmOrderDigest } from "@isthmus/api";
import { type AnyResource, type JsonObject, type Resource, snapshotOf } from "@isthmus/core";
import { readInput, soundTranslation } from "@isthmus/testing";
import { describe, expect, test } from "vitest";
import { type Delivery, statusesAfter } from "../src/index.ts";

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

/** What is different from WORLD. */
interface Change {
  readonly metadata?: object;
  readonly spec?: object;
  readonly podLabels?: Readonly<Record<string, string>>;
}

function worldOf({ metadata = {}, spec = {}, podLabels = { app: "web" } }: Change, ...reports: readonly AnyResource[]) {
  const resources = readInput(WORLD).resources.map((one): Resource => {
    const resource = one as AnyResource & { readonly spec: { readonly kubernetes?: object } };
    if (one.kind === WasmDeployment.kind)
      return { ...resource, metadata: { ...one.metadata, ...metadata }, spec: { ...resource.spec, ...spec } } as Resource;
    if (one.metadata.name !== "web") return one;
    return { ...resource, spec: { ...resource.spec, kubernetes: { ...resource.spec.kubernetes, podLabels } } } as Resource;
  });
  return soundTranslation(snapshotOf([...resources, ...reports]), { namespace: "gloo-mesh", stage: "networking" });
}

/** The EnvoyFilter that both Workloads have in common. */
function orderIn(world: ReturnType<typeof worldOf>): Resource {
  const filters = [...world.networking].map(({ resource }) => resource).filter(({ kind }) => kind === EnvoyFilter.kind);
  expect(filters.map(({ metadata }) => metadata.name)).toEqual(["wasm.headers.shop.web"]);
  return filters[0] as Resource;
}

function reportOf(status: WasmFilterState, clusterName = "a"): AnyResource {
  const { apiVersion, kind } = WasmFilterReport;
  return { apiVersion, kind, metadata: { name: "wasm.headers.shop.web", namespace: "shop", clusterName }, status };
}

const delivered: Delivery = { stateOf: () => "applied" };

/** The status where an agent reports this of what is ordered: made from scratch, and from where nothing was reported. */
function statusWith(reported: WasmFilterState | undefined, clusterName = "a"): JsonObject {
  const orderSha256 = wasmOrderDigest(orderIn(worldOf({})));
  return statusAfter({}, reported && reportOf({ orderSha256, ...reported }, clusterName));
}

/** The status of what was changed, where an agent reports this: made from scratch, and from where nothing was reported or changed. */
function statusAfter(change: Change, report: AnyResource | undefined): JsonObject {
  const world = worldOf(change, ...(report === undefined ? [] : [report]));
  const scratch = statusesAfter(world, delivered).of(REF)?.status ?? {};
  for (const before of [worldOf({}), worldOf(change)])
    expect(statusesAfter(world, delivered, statusesAfter(before, delivered)).of(REF)?.status).toEqual(scratch);
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
  const status = statusesAfter(worldOf({}), refusing).of(REF)?.status ?? {};
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

describe("a report", () => {
  const running = { proxies: 1, accepted: 1 };
  const PENDING = { "web.gloo-mesh.": "DEPLOYMENT_PENDING", "web-canary.gloo-mesh.": "DEPLOYMENT_PENDING" };
  const old = () => wasmOrderDigest(orderIn(worldOf({})));
  const filters = (tag: string) => [{ wasmImageSource: { wasmImageTag: `registry.example.com/header:${tag}` } }];
  const changes: Readonly<Record<string, Change>> = {
    "another module": { metadata: { generation: 2 }, spec: { filters: filters("v2") } },
    "another place": { metadata: { generation: 2 }, spec: { filters: filters("v1").map((one) => ({ ...one, filterContext: "GATEWAY" })) } },
    "another weight": { metadata: { generation: 2 }, spec: { weight: 3 } },
    "the same once more, after it was another": { metadata: { generation: 3 } },
    "the same in an object that was made again": { metadata: { uid: "b" } },
    "other pods": { podLabels: { app: "web", tier: "front" } },
  };

  test.each(Object.keys(changes))(
    "on the order before says nothing where there is %s: neither that it runs, nor that it is refused",
    (name) => {
      for (const said of [
        running,
        { proxies: 1, refused: 1, refusal: "no" },
        { proxies: 0, unavailable: "no" },
        { userFilters: ["shop/mine"] },
      ]) {
        const change = changes[name] ?? expect.fail(name);
        const world = worldOf(change, reportOf({ orderSha256: old(), ...said }));
        const status = statusesAfter(world, delivered).of(REF)?.status ?? {};
        const states = status["workloadStates"] as Readonly<Record<string, string>>;
        expect(states["web.gloo-mesh."]).toBe("DEPLOYMENT_PENDING");
        expect(deployed(status)).toMatch(
          /^Unknown Pending: deployed on 0 of 2 workloads; Workload gloo-mesh\/.*: the agent of a has not answered this order yet$/,
        );
        expect(status).not.toHaveProperty("error");
        expect(status).not.toHaveProperty("warnings");
      }
    },
  );

  test("on the new order is the one that counts, whatever came of those in between", () => {
    const first = worldOf({});
    const change = { metadata: { generation: 3 }, spec: { filters: filters("v3") } };
    const between = worldOf({ metadata: { generation: 2 }, spec: { filters: filters("v2") } });
    const statusOn = (order: Resource) => statusAfter(change, reportOf({ orderSha256: wasmOrderDigest(order), ...running }));
    for (const earlier of [first, between]) expect(statusOn(orderIn(earlier))["workloadStates"]).toEqual(PENDING);
    const status = statusOn(orderIn(worldOf(change)));
    expect(status).toMatchObject({ observedGeneration: 3, workloadStates: { "web.gloo-mesh.": "FILTERS_DEPLOYED" } });
    expect(deployed(status)).toBe("True Deployed: deployed on 2 of 2 workloads");
  });

  test("of an agent that does not say which order it is about is no answer to any, and the status says what to do", () => {
    for (const change of [{}, changes["another module"] ?? {}]) {
      const status = statusAfter(change, reportOf(running));
      expect(status["workloadStates"]).toEqual(PENDING);
      expect(deployed(status)).toBe(
        "Unknown AgentOutdated: deployed on 0 of 2 workloads; Workload gloo-mesh/web-canary: the agent of a does not say which order it answers, " +
          "so it may be an earlier one: upgrade the agent",
      );
    }
  });

  test("on the last accepted spec counts while a later one has errors, as that is what is ordered", () => {
    const status = { observedGeneration: 1, lastAccepted: { generation: 1, spec: { filters: filters("v1") } } };
    const resources = readInput(WORLD).resources.map((one) =>
      one.kind === WasmDeployment.kind ? { ...one, metadata: { ...one.metadata, generation: 2 }, spec: { filters: [] }, status } : one,
    );
    const report = reportOf({ orderSha256: old(), ...running });
    const world = soundTranslation(snapshotOf([...resources, report] as readonly Resource[]), {
      namespace: "gloo-mesh",
      stage: "networking",
    });
    expect(statusesAfter(world, delivered).of(REF)?.status).toMatchObject({
      state: "INVALID",
      workloadStates: { "web.gloo-mesh.": "FILTERS_DEPLOYED" },
    });
  });

  test("of the agent of another cluster says nothing, whichever order it names", () => {
    const orderSha256 = wasmOrderDigest(orderIn(worldOf({})));
    for (const said of [running, { proxies: 1, refused: 1, refusal: "no" }]) {
      const status = statusAfter({}, reportOf({ orderSha256, ...said }, "b"));
      expect(status["workloadStates"]).toEqual(PENDING);
      expect(deployed(status)).toMatch(/^Unknown Pending: /);
    }
  });

  test("names its order in one form only", () => {
    for (const orderSha256 of ["", "A".repeat(64), "a".repeat(63), "a".repeat(65), `${"a".repeat(64)}\n`, 7, ["a".repeat(64)]])
      expect(() => WasmFilterReport.parse(reportOf({ orderSha256 } as never)), JSON.stringify(orderSha256)).toThrow(/status\.orderSha256/);
    expect(WasmFilterReport.parse(reportOf({ orderSha256: "a".repeat(64) })).status).toEqual({ orderSha256: "a".repeat(64) });
  });
});
