import { expect, test } from "vitest";
import { TrafficPolicy } from "../networking/trafficPolicy.ts";
import { VirtualMesh } from "../networking/virtualMesh.ts";
import { publishedForm } from "./publishedForm.ts";

test("zero values are left out, and durations are in seconds", () => {
  expect(
    publishedForm(TrafficPolicy.definition.fields.spec, {
      sourceSelector: [],
      httpRequestMatchers: [{ name: "", headers: [{ name: "x", value: "", regex: false }] }],
      policy: { requestTimeout: "1m", faultInjection: { percentage: 0, fixedDelay: "10ms" }, mtls: { istio: { tlsMode: "DISABLE" } } },
    }),
  ).toEqual({
    httpRequestMatchers: [{ headers: [{ name: "x" }] }],
    policy: { requestTimeout: "60s", faultInjection: { fixedDelay: "0.010s" }, mtls: { istio: {} } },
  });
});

test("messages that are set stay, and what tells absence from zero", () => {
  const spec = { mtlsConfig: { shared: {} }, federation: { permissive: {}, selectors: [{}] } };
  expect(publishedForm(VirtualMesh.definition.fields.spec, spec)).toEqual(spec);
  const cors = { policy: { corsPolicy: { allowCredentials: false, allowOrigins: [{ exact: "" }] } } };
  expect(publishedForm(TrafficPolicy.definition.fields.spec, cors)).toEqual(cors);
});

test("empty maps and unknown members are treated as the schema knows them", () => {
  const kubeService = { name: "a", subset: {}, colour: "" };
  const spec = { policy: { trafficShift: { destinations: [{ kubeService }] } } };
  expect(publishedForm<object>(TrafficPolicy.definition.fields.spec, spec)).toEqual({
    policy: { trafficShift: { destinations: [{ kubeService: { name: "a", colour: "" } }] } },
  });
});
