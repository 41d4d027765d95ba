import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT_OPTIONS, type VirtualMesh } from "@isthmus/api";
import { createMeshRoot, fingerprints } from "@isthmus/certificates";
import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { rootOptionsOf } from "@isthmus/translators";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { applyAll } from "../harness/manifests.ts";
import { waitFor } from "../harness/waitFor.ts";
import { type EndToEnd, startEndToEnd } from "./endToEnd/endToEnd.ts";
import { hosts } from "./endToEnd/objects.ts";
import { describeMeshes } from "./harness/describeMeshes.ts";
import { expectAll } from "./harness/expectations.ts";
import { MANY_REQUESTS_PER_SECOND } from "./harness/stream.ts";
import { clusterNames } from "./harness/testbed.ts";
import { writeTrustTopology } from "./harness/topology.ts";
import { GENERATED, GENERATED_ROOT, type MeshTrust, meshTrustOf, trusting } from "./trust/meshTrust.ts";
import { podsOf, trustStatusOf } from "./trust/userRestarts.ts";

// A rotation restarts every pod three times, one after the other.
vi.setConfig({ testTimeout: 1_200_000 });

const ROTATION = { timeoutMs: 900_000, everyMs: 1_000 };
const THEIRS = { name: "their-root", namespace: "gloo-mesh" };
const FROM_GENERATED = trusting(GENERATED, { ttlDays: 30 });

// One story: it begins where that of trust.test.ts ends, below a root that was generated for the VirtualMesh, but no rotation is spent on it: the
// testbed's root takes the place of the generated one, and the CAs that istiod has are below it.
describeMeshes("meshes that get one root, on real Istio", (parts) => {
  let endToEnd: EndToEnd;
  let trust: MeshTrust;

  beforeAll(async () => {
    endToEnd = await startEndToEnd(parts, { topologyName: "topology-trust.json", topology: writeTrustTopology });
    trust = meshTrustOf(endToEnd);
    await giveGeneratedRoot(endToEnd.clusters.management, join(endToEnd.directory, "state/certs/root"));
    for (const name of clusterNames) await letAdopt(endToEnd.clusters[name]);
  });
  afterAll(() => endToEnd?.stop());

  it("adopts the CAs that users had installed below the same root, and restarts nothing", async () => {
    const before = await Promise.all(
      clusterNames.map(async (name) => [await podsOf(endToEnd.clusters[name]), await trust.cacertsOf(name)]),
    );
    await trust.write(FROM_GENERATED);
    await waitFor("the root to be in force", () => trust.isApplied(FROM_GENERATED), ROTATION);
    await endToEnd.soon({ host: hosts.reviewsOfTwo }, (answers) => expectAll(answers, 200, "cluster-2"));
    expect(await trust.trustedRoots()).toEqual([await trust.rootIn(GENERATED_ROOT)]);
    const after = await Promise.all(clusterNames.map(async (name) => [await podsOf(endToEnd.clusters[name]), await trust.cacertsOf(name)]));
    expect(after).toEqual(before);
  });

  it("moves to a root of the user, by evictions that budgets allow and without a failed request, holds while a cluster is cut off, and trusts the old root nowhere", async () => {
    const old = await trust.rootIn(GENERATED_ROOT);
    const options = { commonName: "their root", organization: "them", lifetimeMs: 3650 * 86_400_000, now: Date.now() };
    const { certificate, key } = await createMeshRoot(options, "P-256");
    const data = { "root-cert.pem": btoa(certificate), "key.pem": btoa(key) };
    await applyAll(endToEnd.clusters.management, [{ apiVersion: "v1", kind: "Secret", metadata: THEIRS, data } as AnyResource]);
    const theirs = await trust.rootIn(THEIRS);
    const stream = endToEnd.stream("cluster-1", hosts.reviewsOfTwo, MANY_REQUESTS_PER_SECOND);
    const mesh = trusting({ secret: THEIRS }, { ttlDays: 30, autoRestartPods: true });
    await trust.write(mesh);
    await waitFor("both roots in both clusters", async () => {
      const all = await Promise.all(clusterNames.map(async (name) => fingerprints((await trust.cacertsOf(name))["root-cert.pem"] ?? "")));
      return all.every((roots) => roots.join() === [old, theirs].join());
    });
    // In the middle of the first step a cluster is cut off.
    await endToEnd.agents["cluster-2"].program.kill();
    const waits = /it waits for gloo-mesh\/istiod-istio-system-cluster-2/;
    await waitFor("cluster-1 to wait", async () => waits.test(await trustStatusOf(endToEnd, "cluster-1")), ROTATION);
    const held = await trust.cacertsOf("cluster-1");
    const since = stream.sent();
    await waitFor("requests meanwhile", () => stream.sent() > since + 150);
    expect(await trust.cacertsOf("cluster-1")).toEqual(held);
    expect(await fingerprints(held["root-cert.pem"] ?? "")).toEqual([old, theirs]);
    await endToEnd.agents["cluster-2"].restart();
    await waitFor("the rotation to be over", () => trust.isApplied(mesh), ROTATION);
    const { failed, failures, sent } = await stream.stop();
    expect([failures, failed]).toEqual([{}, 0]);
    expect(sent).toBeGreaterThan(20_000);
    expect(await trust.trustedRoots()).toEqual([theirs]);
    for (const name of clusterNames) expect(await fingerprints((await trust.cacertsOf(name))["root-cert.pem"] ?? "")).toEqual([theirs]);
  });
});

/** The root of the testbed, as the server keeps one that it made for the VirtualMesh. */
async function giveGeneratedRoot(management: Cluster, folder: string): Promise<void> {
  const read = (file: string) => btoa(readFileSync(join(folder, file), "utf8"));
  const annotations = { [ROOT_OPTIONS]: JSON.stringify(rootOptionsOf(FROM_GENERATED as VirtualMesh)) };
  const data = { "root-cert.pem": read("root-cert.pem"), "key.pem": read("root-key.pem") };
  // Source of the type: specification of the published product, "Generated root".
  const type = "certificates.mesh.gloo.solo.io/generated_signing_cert";
  await applyAll(management, [
    { apiVersion: "v1", kind: "Secret", metadata: { ...GENERATED_ROOT, annotations }, type, data } as AnyResource,
  ]);
}

/** As a user says that an agent may replace the CA of a mesh. */
async function letAdopt(cluster: Cluster): Promise<void> {
  const metadata = { name: "cacerts", namespace: "istio-system", annotations: { "isthmus.mesh/adopt": "true" } };
  await applyAll(cluster, [{ apiVersion: "v1", kind: "Secret", metadata } as AnyResource]);
}
