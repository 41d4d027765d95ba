import { fingerprints } from "@isthmus/certificates";
import type { AnyResource } from "@isthmus/core";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { waitFor } from "../harness/waitFor.ts";
import { type EndToEnd, startEndToEnd } from "./endToEnd/endToEnd.ts";
import { hosts } from "./endToEnd/objects.ts";
import { describeMeshes } from "./harness/describeMeshes.ts";
import { expectAll } from "./harness/expectations.ts";
import { accessPolicy, services, virtualMesh } from "./harness/resources.ts";
import { writeTrustTopology } from "./harness/topology.ts";
import { GENERATED, GENERATED_ROOT, type MeshTrust, meshTrustOf, trusting } from "./trust/meshTrust.ts";
import { followStatus, podsWith, restartPods } from "./trust/userRestarts.ts";

// A rotation restarts every pod three times, one after the other.
vi.setConfig({ testTimeout: 1_200_000 });

// One story: each test continues where the one before it ended. Its user restarts what the status names; in that of rootChange.nightly.test.ts agents do.
describeMeshes("meshes that get one root, on real Istio", (parts) => {
  let endToEnd: EndToEnd;
  let trust: MeshTrust;

  beforeAll(async () => {
    endToEnd = await startEndToEnd(parts, { topologyName: "topology-trust.json", topology: writeTrustTopology, hasOwnRoots: true });
    trust = meshTrustOf(endToEnd);
  });
  afterAll(() => endToEnd?.stop());

  /** The first word on it is that it is not carried out yet. */
  async function begins(mesh: AnyResource): Promise<void> {
    const first = await waitFor("a status", async () => (await endToEnd.statusOf(mesh)).applied);
    expect(first).toBe("False");
  }

  it("is refused from one mesh to the other as long as each has a root of its own", async () => {
    await trust.write(virtualMesh());
    await endToEnd.soon({ host: hosts.reviews }, (answers) => expectAll(answers, 200, "cluster-1"));
    await endToEnd.soon({ host: hosts.reviewsOfTwo }, ({ status, servers }) => {
      expect([Object.keys(status), Object.keys(servers)]).toEqual([["503"], ["(none)"]]);
    });
    expect(await trust.trustedRoots()).toHaveLength(2);
  });

  it("brings running meshes below a generated root without a failed request, and opens the way between them", async () => {
    const local = endToEnd.stream("cluster-1", hosts.reviews);
    const mesh = trusting(GENERATED);
    await trust.write(mesh);
    await begins(mesh);
    await followStatus(endToEnd, () => trust.isApplied(mesh));
    const { failed, failures, sent } = await local.stop();
    expect([failures, failed]).toEqual([{}, 0]);
    expect(sent).toBeGreaterThan(500);
    expect(await trust.trustedRoots()).toEqual([await trust.rootIn(GENERATED_ROOT)]);
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
    await trust.write(trusting(GENERATED), allowsSleep);
    await endToEnd.soon({ host: hosts.reviewsOfTwo }, (answers) => expectAll(answers, 403));
    await endToEnd.soon({ client: "cluster-1/sleep", host: hosts.reviewsOfTwo }, (answers) => expectAll(answers, 200, "cluster-2"));
    await trust.write(trusting(GENERATED));
    await endToEnd.soon({ host: hosts.reviewsOfTwo }, (answers) => expectAll(answers, 200, "cluster-2"));
  });

  it("renews intermediates when their options change: no request fails, nothing restarts, and new pods get the new one", async () => {
    const before = await trust.cacertsOf("cluster-1");
    const stream = endToEnd.stream("cluster-1", hosts.reviewsOfTwo);
    await trust.write(trusting(GENERATED, { ttlDays: 30 }));
    await waitFor("a new intermediate", async () => (await trust.cacertsOf("cluster-1"))["ca-cert.pem"] !== before["ca-cert.pem"]);
    const after = await trust.cacertsOf("cluster-1");
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
});
