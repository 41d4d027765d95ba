import { expect, test } from "vitest";
import { Destination } from "./destination.ts";

function destination(spec: unknown) {
  return { apiVersion: "discovery.mesh.gloo.solo.io/v1", kind: "Destination", metadata: { name: "d", namespace: "gloo-mesh" }, spec };
}

test.each([
  [{ kubeService: { ports: [] } }, "spec.kubeService.ref: is required"],
  [{ kubeService: { ref: { name: "web", namespace: "shop" } } }, "spec.kubeService.ref.clusterName: is required"],
])("a Destination that is written by hand hears that %j does not say which Service it means", (spec, message) => {
  expect(() => Destination.parse(destination(spec))).toThrow(`Destination gloo-mesh/d: ${message}`);
});

test("a Destination that is no Kubernetes Service names none", () => {
  const spec = { externalService: { name: "bank", hosts: ["bank.example.com"] } };
  expect(Destination.parse(destination(spec)).spec).toEqual(spec);
});
