import { expect, test } from "vitest";
import { TrafficPolicy } from "../networking/trafficPolicy.ts";
import { Settings } from "../settings/settings.ts";
import { ineffectiveFields } from "./unknownFields.ts";

function ineffective(spec: object) {
  return ineffectiveFields(TrafficPolicy.definition.fields.spec, spec, "spec");
}

test("known fields have an effect, at any depth and under free keys", () => {
  expect(
    ineffective({
      destinationSelector: [{ kubeServiceMatcher: { labels: { anything: "goes" } } }],
      policy: { retries: { attempts: 1 }, headerManipulation: { appendRequestHeaders: { "x-a": "b" } } },
    }),
  ).toEqual([]);
});

test("an unknown field is named with its path and the field that was likely meant", () => {
  expect(ineffective({ sourceSelector: [{}, { kubeServiceMatcher: {} }] })).toEqual([
    { path: "spec.sourceSelector[1].kubeServiceMatcher", type: "unknown", hint: "kubeWorkloadMatcher" },
  ]);
  expect(ineffective({ policy: { timeout: "1s", colour: "red" } })).toEqual([
    { path: "spec.policy.timeout", type: "unknown", hint: "requestTimeout" },
    { path: "spec.policy.colour", type: "unknown" },
  ]);
});

test("a field that belongs one level deeper is named with where it belongs", () => {
  expect(ineffective({ httpRequestMatchers: [{ prefix: "/" }] })).toEqual([
    { path: "spec.httpRequestMatchers[0].prefix", type: "unknown", hint: "uri.prefix" },
  ]);
});

test("a field that is accepted without effect says why", () => {
  expect(ineffective({ policy: { rateLimit: { whatever: 1 } } })).toEqual([
    { path: "spec.policy.rateLimit", type: "unsupported", hint: expect.stringContaining("not supported yet") },
  ]);
});

test("values of free keys are looked at", () => {
  const spec = { discovery: { istio: { ingressGatewayDetectors: { "*": { portName: "tls" } } } } };
  expect(ineffectiveFields(Settings.definition.fields.spec, spec, "spec")).toEqual([
    { path: "spec.discovery.istio.ingressGatewayDetectors.*.portName", type: "unknown", hint: "gatewayTlsPortName" },
  ]);
});
