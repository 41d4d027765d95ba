import { kindOf, Mesh, Workload } from "@isthmus/api";
import { type AnyResource, type Resource, refOf, resourceKeyOf, snapshotOf } from "@isthmus/core";
import { soundTranslation } from "@isthmus/testing";
import { cilium, fleet, HOME, istiod, meshConfig } from "@isthmus/testing/oneTenant";
import { describe, expect, test } from "vitest";
import { lastKnownMeshChanges, type Translation } from "../src/index.ts";

const OPTIONS = { namespace: "gloo-mesh", stage: "all", disallowIntersectingConfig: false } as const;

const parsed = (objects: readonly AnyResource[]) =>
  objects.map((one): Resource => kindOf(one.apiVersion, one.kind)?.parse(structuredClone(one)) ?? one);

function translated(objects: readonly AnyResource[], memory: readonly Resource[] = []): Translation {
  return soundTranslation(snapshotOf([...parsed(objects), ...memory]), OPTIONS);
}

/** What a server remembers of it. */
function memoryOf(translation: Translation): readonly Resource[] {
  return lastKnownMeshChanges(translation, undefined).put;
}

/** What is written in clusters, by its key. */
function writtenBy({ networking }: Translation): Readonly<Record<string, unknown>> {
  return Object.fromEntries([...networking].map(({ resource }) => [resourceKeyOf(refOf(resource)), resource]));
}

const isIn = (cluster: string, kinds: readonly string[], namespace: string) => (one: AnyResource) =>
  one.metadata.clusterName === cluster && kinds.includes(one.kind) && (one.metadata.namespace ?? namespace) === namespace;
const without = (objects: readonly AnyResource[], ...left: readonly ((one: AnyResource) => boolean)[]) =>
  objects.filter((one) => !left.some((isLeft) => isLeft(one)));
const registered = (objects: readonly AnyResource[], spec: object) =>
  objects.map((one) => (one.kind === "KubernetesCluster" && one.metadata.name === HOME ? { ...one, spec } : one));

const itsIstiod = isIn(HOME, ["Deployment"], "istio-system");
const itsMeshConfig = isIn(HOME, ["ConfigMap"], "istio-system");
const itsWebhooks = isIn(HOME, ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"], "");
const itsCilium = isIn(HOME, ["DaemonSet", "ConfigMap"], "kube-system");
const homeMesh = (translation: Translation) =>
  [...translation.attached.of(Mesh)].find(({ metadata }) => metadata.name === `istiod-istio-system-${HOME}`);
const codesOf = ({ reports }: Translation) => reports.map(({ code }) => code).filter((code) => /Gone$|MeshHeld/.test(code));

const GONE: Readonly<Record<string, readonly ((one: AnyResource) => boolean)[]>> = {
  "the Deployment of istiod": [itsIstiod],
  "all that belongs to istiod": [itsIstiod, itsMeshConfig, itsWebhooks],
  "the DaemonSet of Cilium": [isIn(HOME, ["DaemonSet"], "kube-system")],
  "Cilium and istiod": [itsIstiod, itsMeshConfig, itsWebhooks, itsCilium],
};

describe.each(["by webhooks", "by nothing"] as const)("where control planes are vouched for %s", (vouched) => {
  const given = fleet(vouched, { isAgentKnown: true, isGatewaySelected: false, globalAccessPolicy: "ENABLED", isScoped: false });
  const before = translated(given);

  test.each(Object.entries(GONE))("without %s, all that is written stays as it is, and it is reported", (_, left) => {
    const after = translated(without(given, ...left), memoryOf(before));
    expect(Object.keys(writtenBy(before)).filter((key) => key.includes(`.${HOME}`)).length).toBeGreaterThan(10);
    expect(writtenBy(after)).toEqual(writtenBy(before));
    expect([...after.attached.of(Workload)].map(refOf)).toEqual([...before.attached.of(Workload)].map(refOf));
    expect(codesOf(after).length).toBeGreaterThan(0);
    // A server that starts again remembers what is published.
    const again = translated(without(given, ...left), memoryOf(after));
    expect(writtenBy(again)).toEqual(writtenBy(before));
    // And it is as it was when they are back.
    const back = translated(given, memoryOf(after));
    expect(homeMesh(back)?.spec).toEqual(homeMesh(before)?.spec);
    expect(codesOf(back)).toEqual([]);
  });

  test("step by step it is the same as from scratch", () => {
    const memory = memoryOf(before);
    const first = snapshotOf([...parsed(given), ...memory]);
    let translation = soundTranslation(first, OPTIONS);
    let now = first;
    for (const isLeft of [itsCilium, itsIstiod, itsWebhooks, itsMeshConfig]) {
      now = now.apply({ put: [], remove: given.filter(isLeft).map(refOf) });
      translation = soundTranslation(now, OPTIONS, translation);
      expect(writtenBy(translation)).toEqual(writtenBy(before));
    }
    now = now.apply({ put: parsed(given), remove: [] });
    translation = soundTranslation(now, OPTIONS, translation);
    expect(codesOf(translation)).toEqual([]);
  });

  test("another revision of the same namespace takes its place", () => {
    const revision = { ...istiod({ name: "istiod-next", namespace: "istio-system", clusterName: HOME }) };
    const replaced = translated([...without(given, itsIstiod), revision], memoryOf(before));
    expect(homeMesh(replaced)).toBeUndefined();
    expect([...replaced.attached.of(Mesh)].map(({ metadata }) => metadata.name)).toContain(`istiod-next-istio-system-${HOME}`);
  });

  test("a tenant's look-alike takes its place in no case", () => {
    const theirs = [
      istiod({ name: "istiod", namespace: "aaa", clusterName: HOME }),
      meshConfig({ namespace: "aaa", clusterName: HOME }, "other.example"),
    ];
    for (const left of [[itsIstiod], [itsIstiod, itsMeshConfig, itsWebhooks]]) {
      const after = translated([...without(given, ...left), ...theirs], memoryOf(before));
      expect(writtenBy(after)).toEqual(writtenBy(before));
    }
  });

  test("it goes once the registration confirms it, or is gone itself", () => {
    const left = without(given, itsIstiod, itsCilium);
    for (const objects of [
      registered(left, { removed: ["istio-system/istiod", "kube-system/cilium"] }),
      without(left, ({ kind, metadata }) => kind === "KubernetesCluster" && metadata.name === HOME),
    ]) {
      const after = translated(objects, memoryOf(before));
      expect(homeMesh(after)).toBeUndefined();
      expect(codesOf(after)).toEqual([]);
    }
    const ofCilium = translated(registered(without(given, itsCilium), { removed: ["kube-system/cilium"] }), memoryOf(before));
    expect(homeMesh(ofCilium)?.spec?.cilium).toBeUndefined();
  });

  test("what is confirmed and is there counts", () => {
    const after = translated(registered(given, { removed: ["istio-system/istiod", "kube-system/cilium"] }), memoryOf(before));
    expect(writtenBy(after)).toEqual(writtenBy(before));
  });

  test("it goes where no policy relies on it, and where the cluster was not read yet", () => {
    const left = without(given, itsIstiod, itsCilium);
    const idle = without(left, ({ kind }) => ["VirtualMesh", "AccessPolicy"].includes(kind));
    expect(homeMesh(translated(idle, memoryOf(before)))).toBeUndefined();
    const unread = without(given, ({ metadata }) => metadata.clusterName === HOME);
    expect(homeMesh(translated(unread, memoryOf(before)))).toBeUndefined();
  });

  test("an image without a version takes nothing away", () => {
    const untagged = given.map((one) =>
      itsIstiod(one) ? (JSON.parse(JSON.stringify(one).replace("istio/pilot:1.27.0", "istio/pilot")) as AnyResource) : one,
    );
    const after = translated(untagged, memoryOf(before));
    expect(writtenBy(after)).toEqual(writtenBy(before));
    expect(after.reports.map(({ code }) => code)).toContain("MeshVersionUnknown");
  });

  test("a control plane of another type, or of another namespace of infrastructure, takes its place in no case", () => {
    const elsewhere = [
      istiod({ name: "istiod", namespace: "istio-ingress", clusterName: HOME }),
      meshConfig({ namespace: "istio-ingress", clusterName: HOME }, `${HOME}.example`),
    ];
    const osm = JSON.parse(
      JSON.stringify(istiod({ name: "osm-controller", namespace: "istio-system", clusterName: HOME }))
        .replace("istio/pilot:1.27.0", "openservicemesh/osm-controller:v1.2.0")
        .replaceAll('"app":"istiod"', '"app":"osm-controller"')
        .replace('"discovery"', '"osm-controller"'),
    ) as AnyResource;
    for (const others of [elsewhere, [osm]]) {
      const after = translated([...without(given, itsIstiod), ...others], memoryOf(before));
      expect(homeMesh(after)?.spec?.held?.reason).toContain("istio-system/istiod of east is not found any more");
    }
  });

  test("policies of another cluster hold nothing", () => {
    const elsewhere = without(given, ({ kind }) => kind === "VirtualMesh").map((one) =>
      one.kind === "AccessPolicy" ? { ...one, metadata: { ...one.metadata, clusterName: "west" } } : one,
    );
    expect(homeMesh(translated(without(elsewhere, itsIstiod), memoryOf(before)))).toBeUndefined();
    const own = elsewhere.map((one) => (one.kind === "AccessPolicy" ? { ...one, metadata: { ...one.metadata, clusterName: HOME } } : one));
    expect(homeMesh(translated(without(own, itsIstiod), memoryOf(before)))).toBeDefined();
  });
});

test("what a tenant had, and took away, is held by nothing, and comes before nobody", () => {
  const moved = (from: string, namespace: string) => (one: AnyResource) =>
    one.metadata.clusterName === HOME && one.metadata.namespace === from ? { ...one, metadata: { ...one.metadata, namespace } } : one;
  // Nothing vouches for where operators have theirs.
  const given = without(fleet("by nothing"), ({ kind }) => kind === "VirtualMesh")
    .map(moved("istio-system", "mesh"))
    .map(moved("kube-system", "network"));
  const theirs = [
    istiod({ name: "istiod", namespace: "aaa", clusterName: HOME }),
    meshConfig({ namespace: "aaa", clusterName: HOME }, "other.example"),
    cilium({ namespace: "aaa", clusterName: HOME }),
  ];
  const alone = translated(given, memoryOf(translated(given)));
  const withTheirs = translated([...given, ...theirs], memoryOf(alone));
  expect([...withTheirs.attached.of(Mesh)].map(({ metadata }) => metadata.name)).toContain(`istiod-aaa-${HOME}`);
  const after = translated(given, memoryOf(withTheirs));
  expect(codesOf(after)).toEqual([]);
  expect([...after.attached.of(Mesh)].map(({ metadata }) => metadata.name)).not.toContain(`istiod-aaa-${HOME}`);
  expect(writtenBy(after)).toEqual(writtenBy(alone));
  expect([...after.attached.of(Workload)]).toEqual([...alone.attached.of(Workload)]);
  // Without the operators' own Cilium, theirs is not held when it goes.
  const bare = without(given, isIn(HOME, ["DaemonSet"], "network"));
  const captured = translated([...bare, ...theirs], memoryOf(translated(bare)));
  expect(codesOf(translated(bare, memoryOf(captured)))).toEqual([]);
});
