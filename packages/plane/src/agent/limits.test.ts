import { deliveredKinds } from "@isthmus/api";
import { type AnyResource, refOf } from "@isthmus/core";
import { expect, test } from "vitest";
import { requestCheck } from "./limits.ts";

const OWNER = { label: "owner.networking.mesh.gloo.solo.io", value: "gloo-mesh" } as const;
const check = requestCheck({ kinds: deliveredKinds(), owners: [OWNER], limits: {} });

function envoyFilter(spec: object, beside: object = {}): AnyResource {
  const metadata = { name: "cart", namespace: "shop", labels: { [OWNER.label]: OWNER.value } };
  return { apiVersion: "networking.istio.io/v1alpha3", kind: "EnvoyFilter", metadata, spec, ...beside };
}

const workloadSelector = { labels: { app: "cart" } };
const CSRF = "type.googleapis.com/envoy.extensions.filters.http.csrf.v3.CsrfPolicy";
const LUA = "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua";

function patchWith(type: string, changes: object = {}): object {
  const value = { name: "envoy.filters.http.csrf", typed_config: { "@type": type, filter_enabled: {} } };
  return { applyTo: "HTTP_FILTER", match: { context: "SIDECAR_INBOUND" }, patch: { operation: "INSERT_BEFORE", value }, ...changes };
}

test("an EnvoyFilter with the filters that features write is written", () => {
  expect(check.put(envoyFilter({ workloadSelector, configPatches: [patchWith(CSRF)] }))).toBeUndefined();
});

test.each([
  ["a filter that runs code", { workloadSelector, configPatches: [patchWith(LUA)] }],
  ["one among right ones", { workloadSelector, configPatches: [patchWith(CSRF), patchWith(LUA)] }],
  ["a change of something else", { workloadSelector, configPatches: [patchWith(CSRF, { applyTo: "BOOTSTRAP" })] }],
  ["a gateway's", { workloadSelector, configPatches: [patchWith(CSRF, { match: { context: "GATEWAY" } })] }],
  [
    "a filter without type",
    { workloadSelector, configPatches: [patchWith(CSRF, { patch: { operation: "INSERT_BEFORE", value: { name: "x" } } })] },
  ],
  ["a patch beside it", { workloadSelector, configPatches: [patchWith(CSRF, { more: {} })] }],
  [
    "an address for its configuration",
    { workloadSelector, configPatches: [patchWith(CSRF, { patch: { value: { config_discovery: {} } } })] },
  ],
  ["every pod of the namespace", { configPatches: [patchWith(CSRF)] }],
  ["every pod, by no label", { workloadSelector: { labels: {} }, configPatches: [patchWith(CSRF)] }],
  ["pods by something else", { workloadSelector, targetRefs: [{ kind: "Gateway", name: "x" }], configPatches: [patchWith(CSRF)] }],
])("an EnvoyFilter for %s is refused", (_, spec) => {
  expect(check.put(envoyFilter(spec))).toMatchObject({ reason: "Content", message: expect.stringContaining("EnvoyFilter shop/cart") });
});

const HCM = "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
const connectionManager = { listener: { filterChain: { filter: { name: "envoy.filters.network.http_connection_manager" } } } };

function loggingTo(cluster: string, changes: object = {}, beside: object = {}): object {
  const common = { log_name: "accesslog.one.shop", grpc_service: { envoy_grpc: { cluster_name: cluster }, timeout: "5s" }, ...changes };
  const type = "type.googleapis.com/envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig";
  const logger = { name: "envoy.access_loggers.http_grpc", typed_config: { "@type": type, common_config: common } };
  const value = { typed_config: { "@type": HCM, access_log: [logger], ...beside } };
  return { applyTo: "NETWORK_FILTER", match: { context: "ANY", ...connectionManager }, patch: { operation: "MERGE", value } };
}

function agentCluster(changes: object = {}, operation = "ADD"): object {
  const options = {
    "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
    explicit_http_config: { http2_protocol_options: {} },
  };
  const address = { socket_address: { address: "gloo-mesh-agent.gloo-mesh.svc.cluster.local", port_value: 9977 } };
  const value = {
    name: "gloo-mesh-agent",
    type: "STRICT_DNS",
    connect_timeout: "1s",
    typed_extension_protocol_options: { "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": options },
    load_assignment: { cluster_name: "gloo-mesh-agent", endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }] },
    ...changes,
  };
  return { applyTo: "CLUSTER", match: { context: "ANY" }, patch: { operation, value } };
}

test("EnvoyFilters that send access logs to the agent are written", () => {
  expect(check.put(envoyFilter({ workloadSelector, configPatches: [loggingTo("gloo-mesh-agent")] }))).toBeUndefined();
  expect(check.put(envoyFilter({ configPatches: [agentCluster()] }))).toBeUndefined();
});

test.each([
  ["access logs for somebody else", { workloadSelector, configPatches: [loggingTo("outbound|80||evil.example")] }],
  ["access logs under another name", { workloadSelector, configPatches: [loggingTo("gloo-mesh-agent", { log_name: "other" })] }],
  ["more of a connection manager", { workloadSelector, configPatches: [loggingTo("gloo-mesh-agent", {}, { http_filters: [] })] }],
  ["access logs of every pod", { configPatches: [loggingTo("gloo-mesh-agent")] }],
  ["another cluster", { configPatches: [agentCluster({ name: "other" })] }],
  ["a change of a cluster", { configPatches: [agentCluster({}, "MERGE")] }],
  ["a cluster of another type", { configPatches: [agentCluster({ type: "ORIGINAL_DST" })] }],
  ["a cluster with a transport of its own", { configPatches: [agentCluster({ transport_socket: {} })] }],
  ["two clusters", { configPatches: [agentCluster(), agentCluster()] }],
  ["the cluster of some pods", { workloadSelector, configPatches: [agentCluster()] }],
  ["an access logger beside a filter", { workloadSelector, configPatches: [patchWith(CSRF), loggingTo("gloo-mesh-agent")] }],
])("an EnvoyFilter for %s is refused", (_, spec) => {
  expect(check.put(envoyFilter(spec))).toMatchObject({ reason: "Content" });
});

const WASM_FILTER = "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm";
const RBAC = "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC";

function wasmPatch(changes: object = {}, agent: object = {}): object {
  const args = { "grpc.max_receive_message_length": { int_value: 20_971_520 } };
  const google = { target_uri: "gloo-mesh-agent.gloo-mesh.svc:9977", stat_prefix: "gloo-mesh-agent", channel_args: { args }, ...agent };
  const source = { api_type: "GRPC", transport_api_version: "V3", grpc_services: [{ google_grpc: google }] };
  const discovery = {
    apply_default_config_without_warming: true,
    default_config: { "@type": RBAC },
    type_urls: [WASM_FILTER, RBAC],
    config_source: { resource_api_version: "V3", initial_fetch_timeout: "5s", api_config_source: source },
    ...changes,
  };
  const filter = { name: "envoy.filters.network.http_connection_manager", subFilter: { name: "envoy.filters.http.router" } };
  const value = { name: "wasm.one.shop.0", config_discovery: discovery };
  return {
    applyTo: "HTTP_FILTER",
    match: { context: "ANY", listener: { filterChain: { filter } } },
    patch: { operation: "INSERT_BEFORE", value },
  };
}

const wasmCheck = requestCheck({ kinds: deliveredKinds(), owners: [OWNER], limits: { wasmFilters: true } });

test("EnvoyFilters that have proxies run Wasm filters are written where the agent's operator allows it, and nowhere else", () => {
  const spec = { workloadSelector, priority: -7, configPatches: [wasmPatch()] };
  expect(wasmCheck.put(envoyFilter(spec))).toBeUndefined();
  expect(check.put(envoyFilter(spec))).toMatchObject({ reason: "Content", message: expect.stringContaining("--wasm-filters") });
  expect(check.remove(refOf(envoyFilter(spec)))).toBeUndefined();
});

test.each([
  ["of every pod", { configPatches: [wasmPatch()] }],
  [
    "of another type",
    { workloadSelector, configPatches: [wasmPatch({ type_urls: ["type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua"] })] },
  ],
  ["with another default", { workloadSelector, configPatches: [wasmPatch({ default_config: { "@type": WASM_FILTER } })] }],
  ["with credentials", { workloadSelector, configPatches: [wasmPatch({}, { call_credentials: [{ access_token: "x" }] })] }],
  ["beside another filter", { workloadSelector, configPatches: [wasmPatch(), patchWith(CSRF)] }],
])("an EnvoyFilter with Wasm filters %s is refused", (_, spec) => {
  expect(wasmCheck.put(envoyFilter(spec))).toMatchObject({ reason: "Content" });
});

test("an EnvoyFilter without spec, or with more beside it, is refused", () => {
  const spec = { workloadSelector, configPatches: [patchWith(CSRF)] };
  const { spec: _, ...without } = envoyFilter(spec) as AnyResource & { readonly spec: object };
  for (const one of [without, { ...without, spec: null }]) expect(check.put(one)).toMatchObject({ reason: "Content" });
  expect(check.put(envoyFilter(spec, { more: {} }))).toMatchObject({ reason: "Content" });
});

test("members that are null are absent, and stop no agent", () => {
  for (const configPatches of [null, [{ applyTo: "HTTP_FILTER", patch: null }]]) {
    expect(check.put(envoyFilter({ workloadSelector, configPatches }))).toBeUndefined();
  }
  expect(check.put(envoyFilter({ workloadSelector, configPatches: [null] }))).toMatchObject({ reason: "Content" });
  const patch = wasmPatch({ absent: null });
  expect(check.put(envoyFilter({ workloadSelector, configPatches: [patch] }))).toMatchObject({
    message: expect.stringContaining("--wasm-filters"),
  });
});
