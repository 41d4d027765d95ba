import type { Mesh, Service } from "@isthmus/api";
import type { Owner } from "@isthmus/core";
import { expect, it } from "vitest";
import { discoveredServiceInputs, type ServiceSources } from "./services.ts";

const service: Service = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "db", namespace: "shop", clusterName: "a", annotations: { "discovery.mesh.gloo.solo.io/enabled": "true" } },
};

function meshWith(name: string, spec: NonNullable<Mesh["spec"]>): Mesh {
  return { apiVersion: "discovery.mesh.gloo.solo.io/v1", kind: "Mesh", metadata: { name, namespace: "gloo-mesh" }, spec };
}

/** The name of the mesh that the annotated Service joins in a cluster with these. */
function joinedOf(meshes: readonly Mesh[]): string | undefined {
  const lookup = ((name: string) => (name === "meshes" ? meshes : [])) as ServiceSources["lookup"];
  const owner: Owner = { label: "owner.test", value: "test" };
  return discoveredServiceInputs(service, { lookup, owner, namespace: "gloo-mesh" })?.annotatedMesh?.metadata.name;
}

const installation = { namespace: "mesh-system", cluster: "a" };

it.each(["istio", "osm", "linkerd", "consulConnect"])(
  "an annotated Service joins a mesh whose control plane is in its cluster: %s",
  (type) => {
    expect(joinedOf([meshWith("mesh", { [type]: { installation } })])).toBe("mesh");
  },
);

it("of several it joins the last, and none that has no control plane in the cluster", () => {
  const appMesh = meshWith("z", { awsAppMesh: { clusters: ["a"] } });
  expect(joinedOf([meshWith("a", { osm: { installation } }), meshWith("b", { istio: { installation } }), appMesh])).toBe("b");
  expect(joinedOf([appMesh])).toBeUndefined();
});
