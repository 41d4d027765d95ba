import { AuthorizationPolicy, allKinds, Service, VirtualService } from "@isthmus/api";
import { type Delta, type Kind, kindKeyOf, type Resource } from "@isthmus/core";
import { type SimulatedCluster, simulatedCluster, type VirtualClock, virtualClock } from "@isthmus/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startApplier } from "../src/apply/applier.ts";
import { type Informer, startInformer } from "../src/informer/informer.ts";
import { recordingLog } from "./recordingLog.ts";

let clock: VirtualClock;
let cluster: SimulatedCluster;
let stop: AbortController;
let changes: Delta[];
beforeEach(() => {
  clock = virtualClock();
  cluster = simulatedCluster({ name: "east", clock, kinds: allKinds().filter((kind) => kind !== VirtualService) });
  cluster.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } }]);
  stop = new AbortController();
  changes = [];
});
afterEach(() => stop.abort(new Error("the test is over")));

function view(...kinds: readonly Kind[]): Informer {
  const log = recordingLog();
  return startInformer({ cluster, kinds, clock, random: () => 0, log, changed: (delta) => changes.push(delta) }, stop.signal);
}

const stateOf = ({ kinds }: Informer, kind: Kind) => kinds.get(kindKeyOf(kind));
const removed = () => changes.flatMap(({ remove }) => remove.map(({ kind, name }) => `${kind} ${name}`));

const definition = (...versions: readonly string[]): Resource =>
  ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "virtualservices.networking.istio.io" },
    spec: {
      group: "networking.istio.io",
      scope: "Namespaced",
      names: { kind: "VirtualService", plural: "virtualservices" },
      versions: versions.map((name, i) => ({ name, served: true, storage: i === 0 })),
    },
  }) as Resource;
const definitionRef = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  name: "virtualservices.networking.istio.io",
  namespace: "",
  clusterName: "east",
};
const reviews = (version = "v1"): Resource =>
  ({ apiVersion: `networking.istio.io/${version}`, kind: "VirtualService", metadata: { name: "reviews", namespace: "shop" } }) as Resource;

describe("a kind whose CRD", () => {
  it("is installed later is read at once, however long it has been tried in vain", async () => {
    const seen = view(VirtualService);
    await clock.advance(600_000);
    expect(stateOf(seen, VirtualService)).toBe("unserved");
    await cluster.create(definition("v1"));
    await cluster.create(reviews());
    await clock.advance(1_000);
    expect(stateOf(seen, VirtualService)).toBe("known");
    expect(seen.snapshot.of(VirtualService).size).toBe(1);
  });

  it("is deleted has no objects any more, and is known to have none", async () => {
    await cluster.create(definition("v1"));
    await cluster.create(reviews());
    const seen = view(VirtualService);
    await clock.advance(1_000);
    await cluster.delete(definitionRef);
    await clock.advance(60_000);
    expect(seen.snapshot.of(VirtualService).size).toBe(0);
    expect(removed()).toEqual(["VirtualService reviews"]);
    expect(stateOf(seen, VirtualService)).toBe("known");
  });

  it("is deleted while nothing can be read is found to be gone afterwards, whichever is noticed first", async () => {
    await cluster.create(definition("v1"));
    await cluster.create(reviews());
    const seen = view(VirtualService);
    await clock.advance(1_000);
    cluster.faults.reachable(false);
    await clock.advance(1_000);
    cluster.faults.heal();
    cluster.faults.fail({
      code: "Unavailable",
      times: 5,
      matches: ({ verb, ref }) => (verb === "list" || verb === "watch") && ref.kind === "CustomResourceDefinition",
    });
    cluster.faults.compact();
    await cluster.delete(definitionRef);
    await clock.advance(120_000);
    expect(removed()).toEqual(["VirtualService reviews"]);
    expect(stateOf(seen, VirtualService)).toBe("known");
  });

  it("stays, though the kind vanishes, keeps its last known objects", async () => {
    await cluster.create(definition("v1"));
    await cluster.create(reviews());
    const seen = view(VirtualService);
    await clock.advance(1_000);
    cluster.unserve(VirtualService);
    await clock.advance(600_000);
    expect(stateOf(seen, VirtualService)).toBe("stale");
    expect(removed()).toEqual([]);
    expect(seen.snapshot.of(VirtualService).size).toBe(1);
  });

  it("is unknown keeps its last known objects when the kind vanishes: so it is where CRDs may not be read", async () => {
    cluster.faults.fail({ code: "Forbidden", times: 1_000, matches: ({ ref }) => ref.kind === "CustomResourceDefinition" });
    const seen = view(AuthorizationPolicy);
    await cluster.create({
      apiVersion: "security.istio.io/v1",
      kind: "AuthorizationPolicy",
      metadata: { name: "deny", namespace: "shop" },
    });
    await clock.advance(1_000);
    expect(stateOf(seen, AuthorizationPolicy)).toBe("known");
    cluster.unserve(AuthorizationPolicy);
    await clock.advance(60_000);
    expect(stateOf(seen, AuthorizationPolicy)).toBe("stale");
    expect(removed()).toEqual([]);
  });

  it("comes to serve another version is read on in that one, and nothing is gone meanwhile", async () => {
    await cluster.create(definition("v1beta1"));
    await cluster.create(reviews("v1beta1"));
    const seen = view(VirtualService);
    await clock.advance(1_000);
    const live = await cluster.get(
      {
        ...VirtualService,
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        plural: "customresourcedefinitions",
        versions: ["apiextensions.k8s.io/v1"],
        parse: (input: unknown) => input as VirtualService,
      },
      { name: definitionRef.name, namespace: "" },
    );
    await cluster.update({
      ...definition("v1"),
      metadata: { ...definition().metadata, resourceVersion: live?.metadata.resourceVersion ?? "" },
    });
    await clock.advance(1_000);
    expect(stateOf(seen, VirtualService)).toBe("known");
    expect([...seen.snapshot.of(VirtualService)].map(({ apiVersion }) => apiVersion)).toEqual(["networking.istio.io/v1"]);
    await cluster.create({ ...reviews(), metadata: { name: "ratings", namespace: "shop" } });
    await clock.advance(1_000);
    expect(seen.snapshot.of(VirtualService).size).toBe(2);
    expect(removed()).toEqual([]);
  });
});

describe("a kind that nothing happens to", () => {
  it("is stale while it cannot be read, and known as soon as its watch continues, without being listed again", async () => {
    const seen = view(Service);
    await clock.advance(1_000);
    cluster.faults.reachable(false);
    await clock.advance(5_000);
    expect(stateOf(seen, Service)).toBe("stale");
    cluster.faults.heal();
    cluster.faults.fail({ code: "Forbidden", times: 1_000, matches: ({ verb }) => verb === "list" });
    await clock.advance(20_000);
    expect(stateOf(seen, Service)).toBe("known");
  });

  it("is deleted and installed again gets back what we wrote at once, however long it has been tried in vain", async () => {
    await cluster.create(definition("v1"));
    const shared = { cluster, kinds: [VirtualService], clock, random: () => 0, log: recordingLog() };
    const owner = { label: "owner.networking.mesh.gloo.solo.io", value: "gloo-mesh" } as const;
    const seen = startInformer(
      { ...shared, changed: (delta) => applier.observed(delta), servedAgain: (kindKey) => applier.servedAgain(kindKey) },
      stop.signal,
    );
    const applier = startApplier({ ...shared, owners: [owner], live: () => seen.snapshot, onChange: () => undefined }, stop.signal);
    applier.put({ ...reviews(), metadata: { ...reviews().metadata, clusterName: "east", labels: { [owner.label]: owner.value } } });
    await clock.advance(1_000);
    expect(seen.snapshot.of(VirtualService).size).toBe(1);
    await cluster.delete(definitionRef);
    await clock.advance(610_000);
    expect([...applier.rejections.values()]).toMatchObject([{ code: "Unserved" }]);
    await cluster.create(definition("v1"));
    await clock.advance(1_000);
    expect(seen.snapshot.of(VirtualService).size).toBe(1);
    expect([...applier.rejections]).toEqual([]);
  });
});

describe("CRDs of kinds that nothing reads", () => {
  const foreign = (group: string, kind: string, ...versions: readonly string[]): Resource => {
    const plural = `${kind.toLowerCase()}s`;
    const spec = {
      group,
      scope: "Namespaced",
      names: { kind, plural },
      versions: versions.map((name, i) => ({ name, served: true, storage: i === 0 })),
    };
    return {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${plural}.${group}` },
      spec,
    } as Resource;
  };

  it("are named once, with what to use instead", async () => {
    const log = recordingLog();
    startInformer({ cluster, kinds: [Service], clock, random: () => 0, log, changed: () => undefined }, stop.signal);
    await cluster.create(foreign("networking.gloo.solo.io", "RouteTable", "v2"));
    await cluster.create(foreign("example.com", "Widget", "v1"));
    await clock.advance(1_000);
    // One of which a version is supported that is served beside another one.
    await cluster.create(foreign("networking.enterprise.mesh.gloo.solo.io", "VirtualDestination", "v1beta1", "v2"));
    await cluster.create(foreign("rbac.enterprise.mesh.gloo.solo.io", "Role", "v1"));
    await clock.advance(600_000);
    const lines = log.warnings.filter((message) => message.includes("CRDs of Gloo Mesh APIs"));
    expect(lines).toEqual([
      expect.stringMatching(
        /^east has CRDs .*networking.gloo.solo.io\/v2 RouteTable: .*: use TrafficPolicy of networking.mesh.gloo.solo.io\/v1$/,
      ),
      expect.stringMatching(/rbac.enterprise.mesh.gloo.solo.io\/v1 Role: is not supported: use RBAC of Kubernetes/),
    ]);
  });
});
