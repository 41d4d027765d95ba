import { readFileSync } from "node:fs";
import { VirtualDestination, type VirtualDestinationSpec } from "@isthmus/api";
import { type Resource, snapshotOf } from "@isthmus/core";
import { readInput, soundTranslation } from "@isthmus/testing";
import { expect, test } from "vitest";
import { statusesOf } from "../src/index.ts";

// Two clusters with one service, and a mesh of a third one that is in no VirtualMesh.
const folder = new URL("../testdata/virtualDestinations/", import.meta.url);
const { resources } = readInput(
  readFileSync(new URL("an-export-to-a-mesh-outside-of-the-virtual-mesh-is-refused.in.yaml", folder), "utf8"),
);
const world = resources.filter(({ kind }) => kind !== VirtualDestination.kind);

const good = {
  hostname: "cart.mesh.global",
  port: { number: 9080, protocol: "http" },
  virtualMesh: { name: "mesh", namespace: "gloo-mesh" },
  localized: { destinationSelectors: [{ kubeServiceMatcher: { labels: { app: "cart" }, clusters: ["a", "b"] } }] },
} satisfies VirtualDestinationSpec;

/** With what it says now, after it was accepted once. */
function translated(spec: object) {
  const virtualDestination: Resource & { readonly spec: object; readonly status: object } = {
    apiVersion: VirtualDestination.apiVersion,
    kind: VirtualDestination.kind,
    metadata: { name: "cart", namespace: "gloo-mesh", generation: 2 },
    spec,
    status: { observedGeneration: 1, lastAccepted: { generation: 1, spec: good } },
  };
  const snapshot = snapshotOf([...world, VirtualDestination.parse(virtualDestination)]);
  const translation = soundTranslation(snapshot, { namespace: "gloo-mesh", ages: "CREATED", stage: "networking" });
  const written = [...translation.networking].map(({ resource }) => resource);
  const [own] = [...statusesOf(translation)].filter(({ ref }) => ref.kind === VirtualDestination.kind);
  return { written, status: own?.status as { readonly state?: string; readonly errors?: readonly string[] } | undefined };
}

test.each([
  {
    mistake: "a selector that selects nothing",
    spec: { localized: { destinationSelectors: [{ kubeServiceMatcher: { labels: { app: "crat" } } }] } },
    error: /^spec\.localized\.destinationSelectors: select no Service .*: check labels, namespaces and clusters/,
  },
  {
    mistake: "a destination that is federated to no mesh",
    spec: {
      localized: {
        destinationSelectors: [{ kubeServiceRefs: { services: [{ name: "gateway", namespace: "istio-system", clusterName: "a" }] } }],
      },
      port: { number: 15443, protocol: "tcp" },
    },
    error: /^spec: service istio-system\/gateway in a is federated to no mesh.*: select it in the federation/,
  },
  {
    mistake: "a port that the services lack",
    spec: { port: { number: 9080, targetNumber: 9090 } },
    error: /^spec\.port\.targetNumber: service shop\/cart in a has no port 9090, only 9080.*: name a port/,
  },
  {
    mistake: "a directive with something that is no part of a locality",
    spec: {
      localized: { ...good.localized, failoverDirectives: [{ from: { region: "us-east", rack: "r1" }, to: [{ region: "us-west" }] }] },
    },
    error: /^spec\.localized\.failoverDirectives\[0\]\.from\.rack: is not part of a locality: set region alone/,
  },
  {
    mistake: "a host that is no DNS name",
    spec: { hostname: "cart_1.mesh.global" },
    error: /^spec\.hostname: "cart_1\.mesh\.global" is not a DNS name: set a host name/,
  },
  {
    mistake: "an export to a mesh outside of the VirtualMesh",
    spec: { meshList: { meshes: ["a", "c"].map((cluster) => ({ name: `istiod-${cluster}`, namespace: "gloo-mesh" })) } },
    error: /^spec\.meshList\.meshes\[1\]: Mesh gloo-mesh\/istiod-c is not in the VirtualMesh of the others.*: add it there/,
  },
])("$mistake is INVALID, names field and remedy, and leaves in force what was accepted before", ({ spec, error }) => {
  const before = translated(good);
  expect(before.status?.state).toBe("ACCEPTED");
  const { written, status } = translated({ ...good, ...spec });
  expect(status?.state).toBe("INVALID");
  expect(status?.errors).toEqual(expect.arrayContaining([expect.stringMatching(error)]));
  expect(written).toEqual(before.written);
  expect(JSON.stringify(written)).toContain("cart.mesh.global");
});
