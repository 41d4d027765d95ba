import { type Resource, snapshotOf } from "@isthmus/core";
import { expect, it } from "vitest";
import { emptyFleet, type Fleet } from "../../client/data/fleet.ts";
import type { Destination, Mesh, TrafficPolicy, Workload } from "../../client/data/kinds.ts";
import { comparedFields } from "../../client/model/lines/comparison.ts";
import { meshMember, shortFingerprint } from "../../client/model/meshMembers.ts";
import { workloadFacts } from "../../client/model/workloadFacts.ts";

const fleetOf = (objects: readonly Resource[]): Fleet => ({ ...emptyFleet(), snapshot: snapshotOf(objects) });
const DISCOVERY = "discovery.mesh.gloo.solo.io/v1";
const meshRef = (name: string) => ({ name, namespace: "gloo-mesh" });
const metadata = (name: string, clusterName: string) => ({
  name,
  namespace: "gloo-mesh",
  labels: { "cluster.discovery.mesh.gloo.solo.io": clusterName },
});
const mesh = (name: string, cluster: string, trustDomain: string): Mesh => ({
  apiVersion: DISCOVERY,
  kind: "Mesh",
  metadata: metadata(name, cluster),
  spec: { istio: { trustDomain, installation: { cluster } } },
});
const workload = (name: string, cluster: string, of: string): Workload => ({
  apiVersion: DISCOVERY,
  kind: "Workload",
  metadata: metadata(`${name}-${cluster}`, cluster),
  spec: {
    mesh: meshRef(of),
    kubernetes: {
      controller: { name, namespace: "shop", clusterName: cluster },
      serviceAccountName: "web",
      podLabels: { app: name },
    },
  },
});
const destination = (name: string, cluster: string, status: Destination["status"] = {}): Destination => ({
  apiVersion: DISCOVERY,
  kind: "Destination",
  metadata: metadata(name, cluster),
  spec: {
    mesh: meshRef(`m-${cluster}`),
    kubeService: { ref: { name, namespace: "shop", clusterName: cluster }, workloadSelectorLabels: { app: "web" } },
  },
  status,
});
const root = "3f9a00ff1122".padEnd(64, "0");
const certificate = (name: string, clusterName: string, roots: readonly string[]): Resource =>
  ({
    apiVersion: "certificates.mesh.gloo.solo.io/v1",
    kind: "IssuedCertificate",
    metadata: { name, namespace: "gloo-mesh", clusterName },
    status: { installed: { roots } },
  }) as Resource;
const policyRef = (name: string) => ({ name, namespace: "shop" });

it("counts what a mesh brings into a VirtualMesh, and has the roots that its own cluster reports", () => {
  const [one, two] = [mesh("m-c1", "c1", ""), mesh("m-c2", "c2", "other")];
  const fleet = fleetOf([
    one,
    two,
    workload("web", "c1", "m-c1"),
    workload("job", "c1", "m-c1"),
    workload("web", "c2", "m-c2"),
    destination("cart", "c1"),
    certificate("m-c1", "c1", [root]),
    // Another cluster has no say in it.
    certificate("m-c1", "c2", ["ab"]),
  ]);
  expect(meshMember(fleet, one)).toEqual({ workloads: 2, destinations: 1, roots: [root] });
  expect(meshMember(fleet, two)).toEqual({ workloads: 1, destinations: 0, roots: [] });
  expect(shortFingerprint(root)).toBe("3F:9A:00:FF:11:22:…");
  expect(shortFingerprint("ab")).toBe("AB");
});

it("says by which identity rules name a workload, and how many policies are in force on what selects it", () => {
  const status = {
    appliedTrafficPolicies: [{ ref: policyRef("slow") }, { ref: policyRef("shift") }],
    appliedAccessPolicies: [{ ref: policyRef("readers") }],
  };
  const [web, job] = [workload("web", "c1", "m-c1"), workload("job", "c1", "m-none")];
  // Both Destinations select it, and have a policy in common.
  const more = destination("shop", "c1", { appliedTrafficPolicies: [{ ref: policyRef("slow") }] });
  const fleet = fleetOf([mesh("m-c1", "c1", ""), web, job, destination("cart", "c1", status), more]);
  expect(workloadFacts(fleet, web)()).toEqual({
    identity: "cluster.local/ns/shop/sa/web",
    trustDomain: "cluster.local",
    policies: "TP 2 · AP 1",
  });
  expect(workloadFacts(fleet, job)()).toEqual({ identity: "", trustDomain: "", policies: "" });
  expect(workloadFacts(fleetOf([mesh("m-c1", "c1", "corp")]), web)().identity).toBe("corp/ns/shop/sa/web");
});

it("puts a rejected policy beside those in force that are about the same", () => {
  const applied = (name: string, policy: object) => ({ ref: policyRef(name), spec: { policy } });
  const cart = destination("cart", "c1", {
    appliedTrafficPolicies: [applied("slow", { requestTimeout: "5s", mtls: { istio: {} } }), applied("cors", { corsPolicy: {} })],
  });
  const policy = (rules: object): TrafficPolicy => ({
    apiVersion: "networking.mesh.gloo.solo.io/v1",
    kind: "TrafficPolicy",
    metadata: { name: "fast", namespace: "shop" },
    spec: { policy: rules, httpRequestMatchers: [{ uri: { prefix: "/a" } }] },
  });
  const slow = { name: "slow", namespace: "shop", clusterName: "" };
  expect(comparedFields(cart, policy({ requestTimeout: "1s", retries: { attempts: 2 } }))).toEqual([
    { field: "mtls", own: undefined, inForce: [{ policy: slow, value: "istio", isOther: false }] },
    { field: "requestTimeout", own: "1s", inForce: [{ policy: slow, value: "5s", isOther: true }] },
    { field: "retries", own: "attempts 2", inForce: [] },
    { field: "requests", own: "uri (prefix /a)", inForce: [{ policy: slow, value: "", isOther: false }] },
    { field: "sources", own: undefined, inForce: [{ policy: slow, value: "", isOther: false }] },
  ]);
  expect(comparedFields(cart, policy({ requestTimeout: "5s" }))[1]?.inForce[0]?.isOther).toBe(false);
  // Nothing in force is about that.
  expect(comparedFields(cart, policy({ retries: { attempts: 2 } }))).toEqual([]);
});
