import { kindOf, Mesh } from "@isthmus/api";
import { type AnyResource, type Resource, snapshotOf } from "@isthmus/core";
import { soundTranslation } from "@isthmus/testing";
import { cilium, ciliumConfig, fleet, HOME, istiod, meshConfig, runningService, webhooks } from "@isthmus/testing/oneTenant";
import { expect, test } from "vitest";
import { lastKnownMeshChanges, type Translation } from "../src/index.ts";

const OPTIONS = { namespace: "gloo-mesh", stage: "all", disallowIntersectingConfig: false } as const;

function worldOf(objects: readonly AnyResource[], memory: readonly Resource[] = []): Translation {
  const resources = objects.map((one): Resource => kindOf(one.apiVersion, one.kind)?.parse(one) ?? one);
  return soundTranslation(snapshotOf([...resources, ...memory]), OPTIONS);
}

/** What a server remembers of it. */
function memoryOf(world: Translation): readonly Resource[] {
  return lastKnownMeshChanges(world, undefined).put;
}

const there = (namespace: string) => ({ namespace, clusterName: HOME });
const meshesOf = (world: Translation) => [...world.attached.of(Mesh)].map(({ metadata }) => metadata.name);
const told = (world: Translation, text: string) => world.reports.filter(({ message }) => message.includes(text)).map(({ code }) => code);
const gatewaysOf = (world: Translation) =>
  [...world.attached.of(Mesh)].flatMap(({ status }) =>
    (status?.appliedEastWestIngressGateways ?? []).map(({ destinationRef }) => destinationRef?.name),
  );

/** A fleet whose operators have everything in namespaces that are not the usual ones, as agents of before report it. */
function elsewhere(): readonly AnyResource[] {
  return fleet("by nothing").map(moved("istio-system", "mesh")).map(moved("istio-ingress", "edge")).map(moved("kube-system", "network"));
}

/** An object of one cluster in another namespace, and what names its Mesh. */
function moved(from: string, namespace: string): (object: AnyResource) => AnyResource {
  return (one) => {
    const { metadata } = one;
    if (one.kind === "VirtualMesh")
      return JSON.parse(JSON.stringify(one).replace(`${from}-${HOME}`, `${namespace}-${HOME}`)) as AnyResource;
    return metadata.clusterName === HOME && metadata.namespace === from ? { ...one, metadata: { ...metadata, namespace } } : one;
  };
}

test("what is in use when webhooks are first reported stays, and it is said what to add", () => {
  const before = worldOf(elsewhere());
  expect(meshesOf(before)).toEqual([`istiod-istio-system-west`, `istiod-mesh-${HOME}`]);
  // They name the control plane of somebody else, or the operators have changed them.
  const after = worldOf([...elsewhere(), ...webhooks(HOME, "other")], memoryOf(before));
  expect(meshesOf(after)).toEqual(meshesOf(before));
  expect(gatewaysOf(after)).toEqual(gatewaysOf(before));
  expect(gatewaysOf(after)).toContain(`gateway-edge-${HOME}`);
  expect(ciliumOf(after)).toEqual("network");
  expect(told(after, "not trusted: namespace mesh: ")).toEqual(["ControlPlaneNotTrusted"]);
  expect(told(after, "not trusted: namespace edge: ")).toEqual(["GatewayNotTrusted"]);
});

test("from one translation to the next it follows what is remembered, as from scratch", () => {
  const before = worldOf(elsewhere());
  const later = [...elsewhere(), ...webhooks(HOME, "other")].map((one): Resource => kindOf(one.apiVersion, one.kind)?.parse(one) ?? one);
  const withheld = worldOf([...elsewhere(), ...webhooks(HOME, "other")]);
  const now = snapshotOf([...later, ...memoryOf(before)]);
  expect(gatewaysOf(soundTranslation(now, OPTIONS, withheld))).toEqual(gatewaysOf(before));
  // Without its gateway in memory, a mesh has none.
  const forgotten = memoryOf(before).map((one): Resource => ({ ...one, ...{ gateways: [] } }));
  const next = soundTranslation(now.apply({ put: forgotten, remove: [] }), OPTIONS, soundTranslation(now, OPTIONS));
  expect(gatewaysOf(next)).not.toContain(`gateway-edge-${HOME}`);
});

test("what was never in use, and nothing vouches for, is not used", () => {
  const world = worldOf([...elsewhere(), ...webhooks(HOME, "other")]);
  expect(meshesOf(world)).toEqual(["istiod-istio-system-west"]);
  expect(told(world, "not trusted: namespace mesh: ")).toEqual(["ControlPlaneNotTrusted"]);
});

test("the registration vouches for all of it", () => {
  const named = elsewhere().map((one) =>
    one.kind === "KubernetesCluster" && one.metadata.name === HOME
      ? { ...one, spec: { systemNamespaces: ["mesh", "edge", "network"] } }
      : one,
  );
  const world = worldOf(named);
  expect(meshesOf(world)).toEqual(meshesOf(worldOf(elsewhere())));
  expect(gatewaysOf(world)).toEqual(gatewaysOf(worldOf(elsewhere())));
  expect(ciliumOf(world)).toBe("network");
  expect(told(world, "not trusted")).toEqual([]);
});

test("of what a tenant had before, nothing stays that came after what is vouched for", () => {
  const stolen = [istiod({ name: "istiod", ...there("aaa") }), meshConfig(there("aaa"), `${HOME}.example`)];
  const given = fleet("by nothing");
  // What no server has seen first is younger than all that one has.
  const before = worldOf([...given, ...stolen]);
  expect(meshesOf(before)).toContain(`istiod-aaa-${HOME}`);
  const after = worldOf([...fleet("by webhooks"), ...stolen], memoryOf(before));
  expect(meshesOf(after)).not.toContain(`istiod-aaa-${HOME}`);
});

test("a name that is put together like that of a Mesh that is known holds nothing", () => {
  const known = worldOf(fleet("by nothing").map(moved("istio-system", "mesh-a")));
  // `istiod-mesh` in `a` reads as `istiod` in `mesh-a`.
  const impostor = istiod({ name: "istiod-mesh", ...there("a") });
  const after = worldOf(
    [...fleet("by nothing").filter(({ metadata }) => metadata.namespace !== "istio-system"), ...webhooks(HOME, "other"), impostor],
    memoryOf(known),
  );
  expect(meshesOf(known)).toContain(`istiod-mesh-a-${HOME}`);
  expect(meshesOf(after)).not.toContain(`istiod-mesh-a-${HOME}`);
  expect(told(after, "not trusted: namespace a: ")).toEqual(["ControlPlaneNotTrusted"]);
});

test("Cilium of a tenant takes the place of none, also where nothing vouches for anything", () => {
  const theirs = [cilium(there("aaa")), ciliumConfig(there("aaa"), { "enable-policy": "never" })];
  expect(ciliumOf(worldOf([...theirs, ...fleet("by nothing")]))).toBe("kube-system");
  expect(ciliumOf(worldOf([...theirs, ...fleet("by webhooks")]))).toBe("kube-system");
});

test("a gateway that is selected by its labels alone is that of no tenant", () => {
  const selected = fleet("by webhooks").map((one) => (one.kind === "VirtualMesh" ? withSelector(one) : one));
  const theirs = runningService({ name: "a1", ...there("aaa") }, { istio: "ingressgateway" }, { externalIPs: ["203.0.113.66"] });
  expect(gatewaysOf(worldOf([...selected, ...theirs]))).toEqual(gatewaysOf(worldOf(selected)));
  expect(gatewaysOf(worldOf(selected))).toHaveLength(2);
});

function withSelector(virtualMesh: AnyResource): AnyResource {
  const spec = virtualMesh["spec"] as { readonly federation: object };
  const destinationSelectors = [{ kubeServiceMatcher: { labels: { istio: "ingressgateway" } } }];
  return {
    ...virtualMesh,
    spec: { ...spec, federation: { ...spec.federation, eastWestIngressGatewaySelectors: [{ destinationSelectors }] } },
  };
}

function ciliumOf(world: Translation): string | undefined {
  return [...world.attached.of(Mesh)].find(({ metadata }) => metadata.name.endsWith(HOME))?.spec?.cilium?.namespace;
}
