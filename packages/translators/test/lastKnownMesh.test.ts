import { kindOf, type Mesh } from "@isthmus/api";
import { type AnyResource, snapshotOf } from "@isthmus/core";
import { expect, test } from "vitest";
import { lastKnownMeshOf } from "../src/discovery/detectors/lastKnownMesh.ts";
import { translateDiscovery } from "../src/discovery/discovery.ts";

const OPTIONS = { namespace: "gloo-mesh" };

const istiod: AnyResource = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "istiod", namespace: "istio-system", clusterName: "a" },
  spec: { template: { spec: { containers: [{ name: "discovery", image: "istio/pilot:1.20.0" }] } } },
};

function fleet(mesh: string | undefined, ...others: readonly AnyResource[]) {
  const config = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "istio", namespace: "istio-system", clusterName: "a" } };
  const objects = [istiod, ...(mesh === undefined ? [] : [{ ...config, data: { mesh } }])];
  return snapshotOf([
    ...objects.map((object) => kindOf(object.apiVersion, object.kind)?.parse(object) ?? (object as AnyResource)),
    ...others,
  ]);
}

function discovered(...given: Parameters<typeof fleet>) {
  const { outputs, reports } = translateDiscovery(fleet(...given), OPTIONS);
  const [output] = [...outputs];
  return { mesh: output?.resource as Mesh | undefined, messages: reports.map(({ message }) => message) };
}

const { mesh: published } = discovered(
  "trustDomain: a.example\nrootNamespace: istio-config\ndefaultServiceExportTo: ['.']\ndefaultConfig: {proxyMetadata: {ISTIO_META_DNS_CAPTURE: 'true'}}\n",
);
if (published === undefined) throw new Error("there is no mesh");
const memory = lastKnownMeshOf(published);
if (memory === undefined) throw new Error("nothing is remembered");

const BROKEN: Readonly<Record<string, string | undefined>> = {
  "a star": "trustDomain: '*'\n",
  "a star in it": "trustDomain: 'a.*'\n",
  "no DNS name": "trustDomain: A_b..c\n",
  "253 characters and more": `trustDomain: ${"a.".repeat(130)}a\n`,
  "no trust domain": "{}\n",
  "a list": "trustDomain: [a]\n",
  "no YAML": "{{",
  "no ConfigMap": undefined,
};

test.each(Object.entries(BROKEN))("with %s in its configuration, a mesh keeps its last known trust domain, and says so", (_, config) => {
  const { mesh, messages } = discovered(config, memory as unknown as AnyResource);
  expect(mesh?.spec?.istio?.trustDomain).toBe("a.example");
  expect(messages).toHaveLength(1);
  expect(mesh?.spec?.istio?.trustDomainProblem).toBe(messages[0]);
  expect(lastKnownMeshOf(mesh as Mesh)).toMatchObject({ trustDomain: "a.example", cluster: "a" });
});

test("what can't be read at all leaves what else was known of the mesh", () => {
  const { mesh } = discovered("{{", memory as unknown as AnyResource);
  expect(mesh?.spec?.istio).toMatchObject({
    smartDnsProxyingEnabled: true,
    rootNamespace: "istio-config",
    privateByDefault: ["ServiceEntry"],
  });
});

const registered = (spec: object): AnyResource => ({
  apiVersion: "multicluster.solo.io/v1alpha1",
  kind: "KubernetesCluster",
  metadata: { name: "a", namespace: "gloo-mesh" },
  spec,
});

test("another trust domain takes the place of the last one where no registration could say so", () => {
  const { mesh, messages } = discovered("trustDomain: b.example\n", memory as unknown as AnyResource);
  expect(mesh?.spec?.istio).toMatchObject({ trustDomain: "b.example" });
  expect(messages).toEqual([]);
});

test("what the registration says that meshes were seen with holds where no Mesh is published any more", () => {
  const pinned: AnyResource = { ...registered({}), status: { trustDomains: ["a.example"] } };
  const held = discovered("trustDomain: b.example\n", pinned);
  expect(held.mesh?.spec?.istio?.trustDomain).toBe("a.example");
  expect(held.messages).toEqual([expect.stringContaining("meshctl cluster trust-domain accept a b.example")]);
  expect(held.mesh?.spec?.istio?.trustDomainProblem).toBe(held.messages[0]);
  const same = discovered("trustDomain: a.example\n", pinned);
  expect([same.mesh?.spec?.istio?.trustDomain, same.messages]).toEqual(["a.example", []]);
  // Of several nobody knows which one the mesh had: callers are named by none of them.
  const several = discovered("trustDomain: c.example\n", { ...registered({}), status: { trustDomains: ["a.example", "b.example"] } });
  expect([several.mesh?.spec?.istio?.trustDomain ?? "", several.messages.length]).toEqual(["", 1]);
  const accepted = discovered("trustDomain: b.example\n", { ...pinned, spec: { trustDomain: "b.example" } });
  expect([accepted.mesh?.spec?.istio?.trustDomain, accepted.messages]).toEqual(["b.example", []]);
  // Neither a workload cluster nor another namespace says so.
  for (const metadata of [
    { name: "a", namespace: "other" },
    { name: "a", namespace: "gloo-mesh", clusterName: "a" },
  ]) {
    expect(discovered("trustDomain: b.example\n", registered({}), { ...pinned, metadata }).mesh?.spec?.istio?.trustDomain).toBe(
      "b.example",
    );
  }
});

test("of a cluster that is registered it does once its registration names it, and until then what is first seen stays", () => {
  const known = memory as unknown as AnyResource;
  const held = discovered("trustDomain: b.example\n", known, registered({}));
  expect(held.mesh?.spec?.istio?.trustDomain).toBe("a.example");
  expect(held.mesh?.spec?.istio?.trustDomainProblem).toBe(held.messages[0]);
  expect(held.messages).toEqual([expect.stringContaining("meshctl cluster trust-domain accept a b.example")]);
  const accepted = discovered("trustDomain: b.example\n", known, registered({ trustDomain: "b.example" }));
  expect([accepted.mesh?.spec?.istio?.trustDomain, accepted.messages]).toEqual(["b.example", []]);
  // Accepted before the mesh has it.
  const early = discovered("trustDomain: a.example\n", known, registered({ trustDomain: "b.example" }));
  expect([early.mesh?.spec?.istio?.trustDomain, early.messages]).toEqual(["a.example", []]);
  expect(discovered("trustDomain: b.example\n", registered({})).mesh?.spec?.istio?.trustDomain).toBe("b.example");
});

test("a registration that names one before the mesh is first seen is the one that counts", () => {
  const { mesh, messages } = discovered("trustDomain: b.example\n", registered({ trustDomain: "a.example" }));
  expect(mesh?.spec?.istio?.trustDomain).toBeUndefined();
  expect(messages[0]).toContain("AccessPolicies cannot name callers of this mesh");
});

test("a mesh that was never known has no trust domain but a good one", () => {
  expect(discovered("trustDomain: '*'\n").mesh?.spec?.istio?.trustDomain).toBeUndefined();
  expect(discovered("trustDomain: '*'\n").messages[0]).toContain("AccessPolicies cannot name callers of this mesh");
  expect(discovered("{{").mesh).toBeUndefined();
});
