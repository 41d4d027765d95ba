import { WasmDeployment, type WasmDeploymentSpec } from "@isthmus/api";
import { expect, it } from "vitest";
import { wasmDeploymentFormOf } from "../src/policy/forms/wasmDeploymentForm.ts";
import { acceptedForm } from "../src/statuses/acceptedForm.ts";

/** A WasmDeployment of as many letters as a configuration may have, each of which JSON escapes. */
function deployment(letters: number, more: Partial<WasmDeployment> = {}): WasmDeployment {
  const value = '"'.repeat(letters);
  const staticFilterConfig = { "@type": "type.googleapis.com/google.protobuf.StringValue", value };
  const spec = { filters: [{ localPathSource: "/filters/header.wasm", rootId: "header", staticFilterConfig }] } as WasmDeploymentSpec;
  const { apiVersion, kind } = WasmDeployment;
  return { apiVersion, kind, metadata: { name: "large", namespace: "shop", generation: 3 }, spec, ...more };
}

it("keeps the last accepted spec of as large a WasmDeployment as is accepted, so that a mistake takes no filter away", () => {
  const large = deployment(30_000);
  expect(JSON.stringify(large.spec).length).toBeGreaterThan(32 * 1024);
  expect(wasmDeploymentFormOf(large)).toEqual({ spec: large.spec, findings: [] });
  const status = acceptedForm(large, { isAccepted: true }) as NonNullable<WasmDeployment["status"]>;
  expect(status).toEqual({ lastAccepted: { generation: 3, spec: large.spec } });
  const mistaken = { ...large, spec: { ...large.spec, filters: [] }, status };
  const { spec, findings } = wasmDeploymentFormOf(mistaken);
  expect(spec).toEqual(large.spec);
  expect(findings.map(({ code }) => code)).toContain("LastAcceptedInForce");
});

it("keeps nothing that a status has no room for", () => {
  expect(acceptedForm(deployment(140_000), { isAccepted: true })).toEqual({});
});
