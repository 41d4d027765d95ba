import { TrafficPolicy, VirtualService } from "@isthmus/api";
import { type AnyResource, type Kind, kindKeyOf, type ResourceRef } from "@isthmus/core";
import { kubernetesCluster, loadKubeconfig } from "@isthmus/kubernetes";
import { type Agent, agentRoles, alwaysLeader, startAgent } from "@isthmus/plane";
import type { Cluster, Leadership } from "@isthmus/ports";
import { afterAll, beforeAll, expect, it } from "vitest";
import { anyKind, CustomResourceDefinition, clock, clusterOf, silent } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type Fleet, startFleet } from "./harness/fleet.ts";
import { namespace } from "./harness/istioInstallation.ts";
import { applyAll, installCrds } from "./harness/manifests.ts";
import { meshCrds, ourCrds } from "./harness/meshCluster.ts";
import { waitFor } from "./harness/waitFor.ts";

const FOLLOWER: Leadership = { isLeader: false, fence: 0, onChange: () => () => undefined };
/** When to give up waiting for what follows from a change of a CRD; no promise. */
const SOON = { timeoutMs: 60_000 };

// The loops of two replicas of one agent, of which one leads, against a real API server. One story.
describeReal("CRDs that come, change and go on a real API server", (components) => {
  let fleet: Fleet<"one">;
  let person: Cluster;
  const replicas: Agent[] = [];
  /** What the leader reported to the server as gone. */
  const removed: ResourceRef[] = [];
  const stop = new AbortController();

  beforeAll(async () => {
    fleet = await startFleet(components, ["one"]);
    person = clusterOf(fleet.servers.one, "one");
    await applyAll(person, [namespace("shop")]);
    for (const leadership of [alwaysLeader, FOLLOWER]) {
      const kubeconfig = loadKubeconfig({ path: fleet.servers.one.planeKubeconfig });
      const agent = startAgent(
        {
          cluster: kubernetesCluster({ name: "one", kubeconfig, clock, random: Math.random }),
          link: (handler) => {
            // A server that knows no modes: every cluster is managed. It is heard once the loops have started.
            setImmediate(() => handler.welcomed?.([]));
            return {
              observe: ({ remove }) => void removed.push(...remove),
              synced: () => undefined,
              acknowledge: () => undefined,
            };
          },
          ...agentRoles("gloo-mesh"),
          leadership,
          clock,
          random: Math.random,
          log: silent,
        },
        stop.signal,
      );
      replicas.push(agent);
    }
    await waitFor("both views to be complete", () => replicas.every(({ view }) => view.isComplete));
  });
  afterAll(async () => {
    stop.abort(new Error("the test is over"));
    await Promise.all(replicas.map(({ ended }) => ended));
    await fleet?.stop();
  });

  /** Waits until every replica sees a kind in this state, with objects of these names, in this version. */
  function seen(kind: Kind, state: string, names: readonly string[], version?: string): Promise<true> {
    return waitFor(
      `every replica to see ${kind.plural} as ${state}: ${names.join(", ")}`,
      () => {
        for (const { view } of replicas) {
          const objects = [...view.snapshot.of(kind)];
          expect([view.kinds.get(kindKeyOf(kind)), objects.map(({ metadata }) => metadata.name)]).toEqual([state, names]);
          if (version !== undefined) for (const { apiVersion } of objects) expect(apiVersion).toBe(`networking.istio.io/${version}`);
        }
        return true;
      },
      SOON,
    );
  }

  /** Waits until so many watches of VirtualServices are open: one of each replica, or none. */
  const watched = (count: number) =>
    waitFor(`${count} open watches`, () => fleet.servers.one.planeWatches("virtualservices") === count, SOON);

  const removedServices = () => removed.filter(({ kind }) => kind === "VirtualService").map(({ name }) => name);

  async function define(crd: AnyResource): Promise<void> {
    await installCrds(person, [crd]);
  }

  /** The CRD of VirtualServices that serves these versions only. */
  function virtualServices(...served: readonly string[]): AnyResource {
    const crd = meshCrds(components).find(({ metadata }) => metadata.name === "virtualservices.networking.istio.io");
    if (crd === undefined) throw new Error("Istio has no VirtualServices");
    const spec = crd["spec"] as { readonly versions: readonly { readonly name: string }[] };
    const versions = spec.versions.map((version) => ({ ...version, served: served.includes(version.name) }));
    return { ...crd, spec: { ...spec, versions } } as AnyResource;
  }

  const create = (name: string, version: string) =>
    person.create({
      apiVersion: `networking.istio.io/${version}`,
      kind: "VirtualService",
      metadata: { name, namespace: "shop" },
      spec: { hosts: [name], http: [{ route: [{ destination: { host: name } }] }] },
    } as AnyResource);

  it("are watched by every replica as soon as they are there", async () => {
    await seen(VirtualService, "unserved", []);
    expect(fleet.servers.one.planeWatches("virtualservices")).toBe(0);
    await define(virtualServices("v1beta1"));
    await create("cart", "v1beta1");
    await seen(VirtualService, "known", ["cart"], "v1beta1");
    await watched(2);
  });

  it("are read on in another version when that is served instead, and nothing is gone meanwhile", async () => {
    await define(virtualServices("v1"));
    await create("checkout", "v1");
    await seen(VirtualService, "known", ["cart", "checkout"], "v1");
    await watched(2);
    expect(removedServices()).toEqual([]);
  });

  it("leave their objects as they were last known when they serve nothing any more", async () => {
    await define(virtualServices());
    await seen(VirtualService, "stale", ["cart", "checkout"]);
    await watched(0);
    expect(removedServices()).toEqual([]);
    await define(virtualServices("v1", "v1beta1"));
    await seen(VirtualService, "known", ["cart", "checkout"], "v1");
    await watched(2);
    expect(removedServices()).toEqual([]);
  });

  it("take their objects with them when they are deleted: that was seen, and is reported", async () => {
    const { apiVersion, kind } = CustomResourceDefinition;
    await person.delete({ apiVersion, kind, name: "virtualservices.networking.istio.io", namespace: "", clusterName: "one" });
    await seen(VirtualService, "known", []);
    await watched(0);
    expect(removedServices().sort()).toEqual(["cart", "checkout"]);
  });

  it("are watched again when they come again, without what was there before", async () => {
    await define(virtualServices("v1"));
    await create("search", "v1");
    await seen(VirtualService, "known", ["search"], "v1");
    await watched(2);
  });

  it("that check less than ours let in what nobody understands: it is marked where it lives, with its field", async () => {
    await define(unchecked("trafficpolicies.networking.mesh.gloo.solo.io"));
    const { apiVersion, kind, plural } = TrafficPolicy;
    const metadata = { name: "slow", namespace: "shop" };
    await person.create({ apiVersion, kind, metadata, spec: { policy: { requestTimeout: 5 } } } as AnyResource);
    const status = async () => (await person.get(anyKind(apiVersion, kind, plural), metadata))?.["status"] as { readonly state?: string };
    await waitFor("its status", async () => (await status())?.state === "INVALID", SOON);
    expect(JSON.stringify(await status())).toMatch(/spec\.policy\.requestTimeout: 5 is not a duration such as/);
    expect([...replicas].map(({ view }) => view.snapshot.of(TrafficPolicy).size)).toEqual([0, 0]);
    // Under our own CRD, which would not have let it in, the status stays and is not written again.
    const before = await person.get(anyKind(apiVersion, kind, plural), metadata);
    await define(ourCrd("trafficpolicies.networking.mesh.gloo.solo.io"));
    await waitFor("it to be read anew", () => fleet.servers.one.planeWatches("trafficpolicies") === 2, SOON);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await person.get(anyKind(apiVersion, kind, plural), metadata)).toEqual(before);
  });

  it("bring nothing to be written but that status, by the one replica that leads", () => {
    expect(fleet.servers.one.planeWrites()).toEqual([{ what: "patch trafficpolicies/status shop/slow", code: 200 }]);
  });
});

function ourCrd(name: string): AnyResource {
  const crd = ourCrds().find(({ metadata }) => metadata.name === name);
  if (crd === undefined) throw new Error(`there is no CRD ${name}`);
  return crd;
}

/** One of our CRDs as another installation may have it: it takes whatever users write. */
function unchecked(name: string): AnyResource {
  const crd = ourCrd(name);
  const spec = crd["spec"] as { readonly versions: readonly object[] };
  const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const schema = { openAPIV3Schema: { type: "object", properties: { spec: anything, status: anything } } };
  return { ...crd, spec: { ...spec, versions: spec.versions.map((version) => ({ ...version, schema })) } } as AnyResource;
}
