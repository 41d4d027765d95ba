import { Secret } from "@isthmus/api";
import { createMeshRoot, fingerprints } from "@isthmus/certificates";
import type { AnyResource } from "@isthmus/core";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { applyAll } from "../harness/manifests.ts";
import { waitFor } from "../harness/waitFor.ts";
import { type EndToEnd, startEndToEnd } from "./endToEnd/endToEnd.ts";
import { hosts } from "./endToEnd/objects.ts";
import { describeMeshes } from "./harness/describeMeshes.ts";
import { expectAll } from "./harness/expectations.ts";
import { accessPolicy, services, virtualMesh } from "./harness/resources.ts";
import { clusterNames, type PairedCluster } from "./harness/testbed.ts";
import { writeTrustTopology } from "./harness/topology.ts";
import { freshConnections } from "./trust/freshConnections.ts";
import { followStatus, podsWith, restartPods, trustStatusOf } from "./trust/userRestarts.ts";

// Each rotation restarts every pod three times, one after the other.
vi.setConfig({ testTimeout: 1_200_000 });

const ROTATION = { timeoutMs: 900_000, everyMs: 1_000 };
const GENERATED = { generated: { rsaKeySizeBytes: 2048 } };
const THEIRS = { name: "their-root", namespace: "gloo-mesh" };
const SLOTS = {
  "cluster-1": [
    "productpage-v1",
    "productpage-v1~2",
    "sleep",
    "reviews-v1",
    "reviews-v1~2",
    "istio-ingressgateway",
    "istio-ingressgateway~2",
  ],
  "cluster-2": ["productpage-v1", "productpage-v1~2", "reviews-v1", "reviews-v1~2", "istio-ingressgateway", "istio-ingressgateway~2"],
} as const;

/** One of each workload stays: a second eviction is refused until the first pod is back. */
const budgets = ["productpage", "reviews"].map((app): AnyResource => {
  const spec = { minAvailable: 1, selector: { matchLabels: { app } } };
  return { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: app, namespace: "bookinfo" }, spec };
});

function trusting(
  rootCertificateAuthority: object,
  { ttlDays, autoRestartPods = false }: { ttlDays?: number; autoRestartPods?: boolean } = {},
) {
  const intermediateCertOptions = { rsaKeySizeBytes: 2048, ...(ttlDays === undefined ? {} : { ttlDays }) };
  return virtualMesh({ mtlsConfig: { shared: { rootCertificateAuthority, intermediateCertOptions }, autoRestartPods } });
}

// One story: each test continues where the one before it ended. At first its user restarts what the status names, then the agents do.
describeMeshes("meshes that get one root, on real Istio", (parts) => {
  let endToEnd: EndToEnd;

  beforeAll(async () => {
    endToEnd = await startEndToEnd(parts, { topologyName: "topology-trust.json", topology: writeTrustTopology, hasOwnRoots: true });
  });
  afterAll(() => endToEnd?.stop());

  const own = [freshConnections, ...budgets];
  const write = (...management: readonly AnyResource[]) => endToEnd.usersWrite({ management, "cluster-1": own, "cluster-2": own });

  async function cacertsOf(name: PairedCluster): Promise<Readonly<Record<string, string>>> {
    const secret = await endToEnd.clusters[name].get(Secret, { name: "cacerts", namespace: "istio-system" });
    return Object.fromEntries(Object.entries(secret?.data ?? {}).map(([key, value]) => [key, atob(value)]));
  }

  async function rootIn(ref: { readonly name: string; readonly namespace: string }): Promise<string> {
    const secret = await endToEnd.clusters.management.get(Secret, ref);
    const [fingerprint = ""] = await fingerprints(atob(secret?.data?.["root-cert.pem"] ?? ""));
    return fingerprint;
  }

  /** What each proxy trusts, without repeats. */
  async function trustedRoots(): Promise<readonly string[]> {
    const all = await endToEnd.certificatesOf(clusterNames.flatMap((name) => SLOTS[name].map((slot) => `${name}/${slot}`)));
    return [...new Set(Object.values(all).flatMap(({ roots }) => roots))];
  }

  const isApplied = async (mesh: AnyResource) => (await endToEnd.statusOf(mesh)).applied === "True";

  /** The first word on it is that it is not carried out yet. */
  async function begins(mesh: AnyResource): Promise<void> {
    const first = await waitFor("a status", async () => (await endToEnd.statusOf(mesh)).applied);
    expect(first).toBe("False");
  }

  it("is refused from one mesh to the other as long as each has a root of its own", async () => {
    await write(virtualMesh());
    await endToEnd.soon({ host: hosts.reviews }, (answers) => expectAll(answers, 200, "cluster-1"));
    await endToEnd.soon({ host: hosts.reviewsOfTwo }, ({ status, servers }) => {
      expect([Object.keys(status), Object.keys(servers)]).toEqual([["503"], ["(none)"]]);
    });
    expect(await trustedRoots()).toHaveLength(2);
  });

  it("brings running meshes below a generated root without a failed request, and opens the way between them", async () => {
    const local = endToEnd.stream("cluster-1", hosts.reviews);
    const mesh = trusting(GENERATED);
    await write(mesh);
    await begins(mesh);
    await followStatus(endToEnd, () => isApplied(mesh));
    const { failed, failures, sent } = await local.stop();
    expect([failures, failed]).toEqual([{}, 0]);
    expect(sent).toBeGreaterThan(500);
    expect(await trustedRoots()).toEqual([await rootIn({ name: "virtual-mesh.gloo-mesh", namespace: "gloo-mesh" })]);
    await endToEnd.soon({ host: hosts.reviewsOfTwo }, (answers) => {
      expectAll(answers, 200, "cluster-2");
      expect(answers.last?.headers["x-forwarded-client-cert"]).toMatch(
        /By=spiffe:\/\/cluster-2\/ns\/bookinfo\/sa\/bookinfo-reviews;.*URI=spiffe:\/\/cluster-1\/ns\/bookinfo\/sa\/bookinfo-productpage/,
      );
    });
  });

  it("knows callers of the other mesh by their identities: an AccessPolicy denies all but one", async () => {
    const serviceAccounts = [{ name: "sleep", namespace: "bookinfo", clusterName: "cluster-1" }];
    const allowsSleep = accessPolicy({
      sourceSelector: [{ kubeServiceAccountRefs: { serviceAccounts } }],
      destinationSelector: services("reviews"),
    });
    await write(trusting(GENERATED), allowsSleep);
    await endToEnd.soon({ host: hosts.reviewsOfTwo }, (answers) => expectAll(answers, 403));
    await endToEnd.soon({ client: "cluster-1/sleep", host: hosts.reviewsOfTwo }, (answers) => expectAll(answers, 200, "cluster-2"));
    await write(trusting(GENERATED));
    await endToEnd.soon({ host: hosts.reviewsOfTwo }, (answers) => expectAll(answers, 200, "cluster-2"));
  });

  it("renews intermediates when their options change: no request fails, nothing restarts, and new pods get the new one", async () => {
    const before = await cacertsOf("cluster-1");
    const stream = endToEnd.stream("cluster-1", hosts.reviewsOfTwo);
    await write(trusting(GENERATED, { ttlDays: 30 }));
    await waitFor("a new intermediate", async () => (await cacertsOf("cluster-1"))["ca-cert.pem"] !== before["ca-cert.pem"]);
    const after = await cacertsOf("cluster-1");
    expect(after["root-cert.pem"]).toBe(before["root-cert.pem"]);
    const [issued = ""] = await fingerprints(after["ca-cert.pem"] ?? "");
    const hasNewChain = async () => {
      const [sleep] = await podsWith(endToEnd.clusters["cluster-1"], { namespace: "bookinfo", app: "sleep" });
      await restartPods(endToEnd.clusters["cluster-1"], [sleep]);
      const { "cluster-1/sleep": found } = await endToEnd.certificatesOf(["cluster-1/sleep"]);
      return found?.chain.some(({ sha256 }) => sha256 === issued);
    };
    await waitFor("a new pod with a certificate of it", hasNewChain, { timeoutMs: 120_000 });
    await endToEnd.soon({ client: "cluster-1/sleep", host: hosts.reviewsOfTwo }, (answers) => expectAll(answers, 200, "cluster-2"));
    const { failed, failures } = await stream.stop();
    expect([failures, failed]).toEqual([{}, 0]);
  });

  it("moves to a root of the user, by evictions that budgets allow and without a failed request, holds while a cluster is cut off, and trusts the old root nowhere", async () => {
    const old = await rootIn({ name: "virtual-mesh.gloo-mesh", namespace: "gloo-mesh" });
    const options = { commonName: "their root", organization: "them", lifetimeMs: 3650 * 86_400_000, now: Date.now() };
    const { certificate, key } = await createMeshRoot(options, "P-256");
    const data = { "root-cert.pem": btoa(certificate), "key.pem": btoa(key) };
    await applyAll(endToEnd.clusters.management, [{ apiVersion: "v1", kind: "Secret", metadata: THEIRS, data } as AnyResource]);
    const theirs = await rootIn(THEIRS);
    const stream = endToEnd.stream("cluster-1", hosts.reviewsOfTwo);
    const mesh = trusting({ secret: THEIRS }, { ttlDays: 30, autoRestartPods: true });
    await write(mesh);
    await waitFor("both roots in both clusters", async () => {
      const all = await Promise.all(clusterNames.map(async (name) => fingerprints((await cacertsOf(name))["root-cert.pem"] ?? "")));
      return all.every((roots) => roots.join() === [old, theirs].join());
    });
    // In the middle of the first step a cluster is cut off.
    await endToEnd.agents["cluster-2"].program.kill();
    const waits = /it waits for gloo-mesh\/istiod-istio-system-cluster-2/;
    await waitFor("cluster-1 to wait", async () => waits.test(await trustStatusOf(endToEnd, "cluster-1")), ROTATION);
    const held = await cacertsOf("cluster-1");
    const since = stream.sent();
    await waitFor("requests meanwhile", () => stream.sent() > since + 150);
    expect(await cacertsOf("cluster-1")).toEqual(held);
    expect(await fingerprints(held["root-cert.pem"] ?? "")).toEqual([old, theirs]);
    await endToEnd.agents["cluster-2"].restart();
    await waitFor("the rotation to be over", () => isApplied(mesh), ROTATION);
    const { failed, failures, sent } = await stream.stop();
    expect([failures, failed]).toEqual([{}, 0]);
    expect(sent).toBeGreaterThan(1_000);
    expect(await trustedRoots()).toEqual([theirs]);
    for (const name of clusterNames) expect(await fingerprints((await cacertsOf(name))["root-cert.pem"] ?? "")).toEqual([theirs]);
  });
});
