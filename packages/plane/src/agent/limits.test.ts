import { deliveredKinds } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
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

test("an EnvoyFilter without spec, or with more beside it, is refused", () => {
  const spec = { workloadSelector, configPatches: [patchWith(CSRF)] };
  expect(check.put(envoyFilter(spec, { more: {} }))).toMatchObject({ reason: "Content" });
});
