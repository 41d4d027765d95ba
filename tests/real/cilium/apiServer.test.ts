import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  AccessPolicy,
  CiliumClusterwideNetworkPolicy,
  CiliumEndpoint,
  CiliumIdentity,
  CiliumNetworkPolicy,
  CiliumNode,
  Mesh,
  Settings,
} from "@isthmus/api";
import type { AnyResource, TimedCondition } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { readDocuments } from "@isthmus/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import { clusterOf } from "../harness/clusters.ts";
import { describeReal } from "../harness/describeReal.ts";
import { type Fleet, startFleet } from "../harness/fleet.ts";
import { namespace } from "../harness/istioInstallation.ts";
import { applyAll, installCrds } from "../harness/manifests.ts";
import { type Slice, startSlice } from "../harness/slice.ts";
import { waitFor } from "../harness/waitFor.ts";
import { type Judge, judgeOf } from "../istioValidation/dryRun.ts";
import { ciliumCrds, ciliumInstallation } from "./engine.ts";

const goldens = fileURLToPath(new URL("../../../packages/translators/testdata/cilium", import.meta.url));

// The schemas of Cilium's own CRDs, with strict field validation by a real API server.
describeReal("the API server of a cluster with Cilium", (components) => {
  let fleet: Fleet<"cluster-1"> | undefined;
  let judge: Judge | undefined;

  beforeAll(async () => {
    fleet = await startFleet(components, ["cluster-1"]);
    const { "cluster-1": server } = fleet.servers;
    const cluster = clusterOf(server, "cluster-1");
    await installCrds(cluster, ciliumCrds(components));
    const names = new Set(generated().map(({ metadata }) => metadata.namespace ?? "default"));
    await applyAll(
      cluster,
      [...names].map((name) => namespace(name)),
    );
    judge = judgeOf(server.kubeconfig);
  });
  afterAll(async () => {
    judge?.close();
    await fleet?.stop();
  });

  it("takes every policy of the golden outputs", async () => {
    const policies = generated();
    expect(policies.length).toBeGreaterThan(15);
    const refusals = await Promise.all(policies.map(async (policy) => (await judge?.judge(policy))?.refusal));
    expect(refusals.filter((refusal) => refusal !== undefined)).toEqual([]);
  });

  it("refuses ports that are numbers, and more than forty in one entry", async () => {
    const [policy] = generated();
    const judged = async (ports: readonly object[]) => {
      const spec = { endpointSelector: {}, ingress: [{ toPorts: [{ ports }] }] };
      return (await judge?.judge({ ...policy, spec } as AnyResource))?.refusal ?? "";
    };
    expect(await judged([{ port: 8080, protocol: "TCP" }])).toContain("port");
    const many = Array.from({ length: 41 }, (_, i) => ({ port: String(8000 + i), protocol: "TCP" }));
    expect(await judged(many)).toContain("40");
    expect(await judged(many.slice(1))).toBe("");
  });
});

const OURS = { name: "accesspolicy-reviews", namespace: "bookinfo" };

/** Of one of our own kinds. */
function object({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }, name: string, spec: object): AnyResource {
  return { apiVersion, kind, metadata: { name, namespace: "gloo-mesh" }, spec };
}

function settings(discovery: object = {}): AnyResource {
  return object(Settings, "settings", { cilium: { accessPolicies: "ENABLED" }, discovery });
}

const readers = object(AccessPolicy, "readers", {
  sourceSelector: [{ kubeIdentityMatcher: { namespaces: ["bookinfo"] } }],
  destinationSelector: [{ kubeServiceRefs: { services: [{ name: "reviews", namespace: "bookinfo", clusterName: "cluster-1" }] } }],
});

/** An endpoint as Cilium's agent writes it. */
function endpoint(name: string, enforcing: boolean, owner = "Pod"): AnyResource {
  const { apiVersion, kind } = CiliumEndpoint;
  const labels = ["k8s:app=reviews", "k8s:io.cilium.k8s.policy.cluster=default", "k8s:io.kubernetes.pod.namespace=bookinfo"];
  return {
    apiVersion,
    kind,
    metadata: { name, namespace: "bookinfo", ownerReferences: [{ apiVersion: "v1", kind: owner, name, uid: `uid-of-${name}` }] },
    status: {
      id: 1234,
      identity: { id: 40_000, labels },
      networking: { addressing: [{ ipv4: "10.244.1.17" }], node: "172.18.0.2" },
      policy: { ingress: { enforcing, state: enforcing ? "enforcing" : "disabled" } },
      state: "ready",
    },
  };
}

// Server and agents as processes; the tests write what Cilium's agent would write.
describeReal("what is read back of Cilium", (components) => {
  let slice: Slice;
  let management: Cluster;
  let first: Cluster;

  beforeAll(async () => {
    slice = await startSlice(components);
    ({ management, first } = slice);
    await installCrds(first, ciliumCrds(components));
    await applyAll(first, [ciliumInstallation()]);
  });
  afterAll(() => slice?.stop());

  type Told = { readonly conditions?: readonly TimedCondition[]; readonly warnings?: readonly string[] };

  async function told(): Promise<Told & { readonly destinations?: Readonly<Record<string, Told>> }> {
    return ((await management.get(AccessPolicy, { name: "readers", namespace: "gloo-mesh" }))?.status ?? {}) as Told;
  }

  async function says(status: "True" | "False", message: string): Promise<void> {
    const policy = await first.get(CiliumNetworkPolicy, OURS);
    expect(policy).toBeDefined();
    const conditions = [{ type: "Valid", status, message, lastTransitionTime: "2026-01-01T00:00:00Z" }];
    await first.updateStatus({ ...policy, status: { conditions } } as AnyResource);
  }

  function enforced(wanted: { readonly status: string; readonly reason: string; readonly message: string }): Promise<true> {
    return waitFor(`the condition ${JSON.stringify(wanted)}`, async () => {
      expect((await told()).conditions?.find(({ type }) => type === "NetworkEnforced")).toMatchObject(wanted);
      return true;
    });
  }

  it("is in the status of an AccessPolicy: whether Cilium accepts the policy, and how many pods enforce it", async () => {
    await applyAll(management, [settings(), readers]);
    await waitFor("the CiliumNetworkPolicy", () => first.get(CiliumNetworkPolicy, OURS));
    await says("True", "Policy validation succeeded");
    await applyAll(first, [
      endpoint("reviews-v1", true),
      endpoint("reviews-v2", true),
      endpoint("reviews-v3", false),
      endpoint("cilium-health-node-1", true, "Node"),
    ]);
    await enforced({
      status: "False",
      reason: "NotEnforcing",
      message: "1 of 1 CiliumNetworkPolicy accepted; 2 of 3 endpoints enforce",
    });
    await applyAll(first, [endpoint("reviews-v3", true)]);
    await enforced({ status: "True", reason: "Enforced", message: "1 of 1 CiliumNetworkPolicy accepted; 3 of 3 endpoints enforce" });
  });

  it("is a warning where Cilium refuses the policy, and no more once it accepts it", async () => {
    await says("False", "Invalid CiliumNetworkPolicy spec");
    await enforced({ status: "False", reason: "RefusedByCilium", message: "1 of 1 CiliumNetworkPolicy refused; 3 of 3 endpoints enforce" });
    expect(JSON.stringify(await told())).toContain(
      "CiliumNetworkPolicy bookinfo/accesspolicy-reviews in cluster-1 is refused by Cilium (Invalid CiliumNetworkPolicy spec)",
    );
    await says("True", "Policy validation succeeded");
    await enforced({ status: "True", reason: "Enforced", message: "1 of 1 CiliumNetworkPolicy accepted; 3 of 3 endpoints enforce" });
    expect(JSON.stringify(await told())).not.toContain("refused by Cilium");
  });

  it("is Cilium's word alone where the Settings keep agents from watching endpoints", async () => {
    await applyAll(management, [settings({ cilium: { endpoints: "NONE" } })]);
    await enforced({ status: "True", reason: "Accepted", message: "1 of 1 CiliumNetworkPolicy accepted" });
    await applyAll(management, [settings({ cilium: { endpoints: "SUMMARY" } })]);
    await enforced({ status: "True", reason: "Enforced", message: "1 of 1 CiliumNetworkPolicy accepted; 3 of 3 endpoints enforce" });
  });

  it("is how much of Cilium there is, in the status of the mesh", async () => {
    const { apiVersion } = CiliumIdentity;
    const labels = { "k8s:app": "reviews" };
    await applyAll(first, [
      { apiVersion, kind: CiliumIdentity.kind, metadata: { name: "40000" }, "security-labels": labels },
      { apiVersion, kind: CiliumIdentity.kind, metadata: { name: "40001" }, "security-labels": labels },
      { apiVersion, kind: CiliumNode.kind, metadata: { name: "node-1" }, spec: {} },
    ] as readonly AnyResource[]);
    await waitFor("the numbers", async () => {
      const mesh = await management.get(Mesh, { name: "istiod-istio-system-cluster-1", namespace: "gloo-mesh" });
      expect(mesh?.status?.cilium).toEqual({ identities: 2, nodes: 1 });
      return true;
    });
  });

  it("leaves policies of users as they are, of namespaces and of the whole cluster", async () => {
    const spec = { endpointSelector: { matchLabels: { "k8s:app": "reviews" } }, ingress: [{ fromEntities: ["cluster"] }] };
    const { apiVersion, kind } = CiliumNetworkPolicy;
    const everywhere = { ...CiliumClusterwideNetworkPolicy, metadata: { name: "everywhere" }, spec };
    await applyAll(first, [
      { apiVersion, kind, metadata: { name: "theirs", namespace: "bookinfo" }, spec },
      { apiVersion, kind: everywhere.kind, metadata: everywhere.metadata, spec },
    ]);
    const theirs = () =>
      Promise.all([
        first.get(CiliumNetworkPolicy, { name: "theirs", namespace: "bookinfo" }),
        first.get(CiliumClusterwideNetworkPolicy, { name: "everywhere", namespace: "" }),
      ]);
    const before = await theirs();
    expect(before.map((one) => one?.metadata.name)).toEqual(["theirs", "everywhere"]);
    await management.delete({ ...readers, name: "readers", namespace: "gloo-mesh", clusterName: "" });
    await waitFor("our CiliumNetworkPolicy to go", async () => (await first.get(CiliumNetworkPolicy, OURS)) === undefined);
    expect(await theirs()).toEqual(before);
  });
});

function generated(): readonly AnyResource[] {
  const files = readdirSync(goldens).filter((file) => file.endsWith(".out.yaml"));
  const objects = files.flatMap((file) => readDocuments(readFileSync(join(goldens, file), "utf8")) as readonly AnyResource[]);
  return objects.filter((object) => object.kind === "CiliumNetworkPolicy" && "spec" in object);
}
