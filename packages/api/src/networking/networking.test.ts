import { expect, test } from "vitest";
import { AccessPolicy } from "./accessPolicy.ts";
import { TrafficPolicy } from "./trafficPolicy.ts";
import { VirtualMesh } from "./virtualMesh.ts";

function trafficPolicy(spec: unknown) {
  return { apiVersion: "networking.mesh.gloo.solo.io/v1", kind: "TrafficPolicy", metadata: { name: "p", namespace: "shop" }, spec };
}

test.each([
  [{ policy: { requestTimeout: "5" } }, 'spec.policy.requestTimeout: "5" is not a duration such as "5s", "100ms" or "1h30m"'],
  [{ policy: { requestTimeout: 5 } }, 'spec.policy.requestTimeout: 5 is not a duration such as "5s", "100ms" or "1h30m"'],
  [{ policy: { mirror: { percentage: 101 } } }, "spec.policy.mirror.percentage: 101 is not a percentage between 0 and 100"],
  [{ policy: { csrf: { percentage: -1 } } }, "spec.policy.csrf.percentage: -1 is not a percentage between 0 and 100"],
  [
    { policy: { mtls: { istio: { tlsMode: "MUTUAL" } } } },
    'spec.policy.mtls.istio.tlsMode: "MUTUAL" is not one of DISABLE, SIMPLE, ISTIO_MUTUAL',
  ],
  [{ policy: { trafficShift: { destinations: [{ weight: -1 }] } } }, "spec.policy.trafficShift.destinations[0].weight: -1 must be >= 0"],
  [
    { httpRequestMatchers: [{ uri: { exact: "/a", prefix: "/" } }] },
    "spec.httpRequestMatchers[0].uri: at most one of exact, prefix, regex, suffix may be set",
  ],
  [{ destinationSelector: {} }, "spec.destinationSelector: must be an array, is {}"],
])("%j is refused with a message that names the field", (spec, message) => {
  expect(() => TrafficPolicy.parse(trafficPolicy(spec))).toThrow(`TrafficPolicy shop/p: ${message}`);
});

test.each([
  ["ON", "ENABLED"],
  ["off", "DISABLED"],
  ["ENABLE", "ENABLED"],
])("what is meant as a switch (%s) is refused with the word for it", (globalAccessPolicy, word) => {
  const mesh = {
    apiVersion: "networking.mesh.gloo.solo.io/v1",
    kind: "VirtualMesh",
    metadata: { name: "m" },
    spec: { globalAccessPolicy },
  };
  expect(() => VirtualMesh.parse(mesh)).toThrow(
    `spec.globalAccessPolicy: "${globalAccessPolicy}" is not one of MESH_DEFAULT, ENABLED, DISABLED: did you mean ${word}?`,
  );
});

test.each([
  ["ON", "ISTIO_MUTUAL"],
  ["NO", "DISABLE"],
])("a mode of TLS that is meant as a switch (%s) is refused with the word for it", (tlsMode, word) => {
  expect(() => TrafficPolicy.parse(trafficPolicy({ policy: { mtls: { istio: { tlsMode } } } }))).toThrow(
    `"${tlsMode}" is not one of DISABLE, SIMPLE, ISTIO_MUTUAL: did you mean ${word}?`,
  );
});

test("an object without metadata is refused for that, and with no riddle", () => {
  const { metadata: _, ...nameless } = trafficPolicy({});
  expect(() => TrafficPolicy.parse(nameless)).toThrow("TrafficPolicy without a name: metadata: is required, with a name");
});

test("unknown fields stay, and nulls count as absent", () => {
  const parsed = TrafficPolicy.parse(trafficPolicy({ colour: "red", policy: { retries: null } }));
  expect(parsed.spec).toEqual({ colour: "red", policy: {} });
});

test("objects without a spec are objects", () => {
  const object = { apiVersion: "networking.mesh.gloo.solo.io/v1", metadata: { name: "x" } };
  expect(AccessPolicy.parse({ ...object, kind: "AccessPolicy" }).spec).toBeUndefined();
  expect(VirtualMesh.parse({ ...object, kind: "VirtualMesh" }).spec).toBeUndefined();
});

test("where the published API let a later member win, both may be set", () => {
  const spec = { mtlsConfig: { shared: { rootCertificateAuthority: { generated: {}, secret: { name: "a", namespace: "b" } } } } };
  const object = { apiVersion: "networking.mesh.gloo.solo.io/v1", kind: "VirtualMesh", metadata: { name: "x" }, spec };
  expect(VirtualMesh.parse(object).spec).toEqual(spec);
});
