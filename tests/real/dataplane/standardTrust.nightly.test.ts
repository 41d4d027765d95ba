import { copyFileSync } from "node:fs";
import { CertificateRequest, IssuedCertificate } from "@isthmus/api";
import { fingerprints } from "@isthmus/certificates";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { waitFor } from "../harness/waitFor.ts";
import { type EndToEnd, startEndToEnd } from "./endToEnd/endToEnd.ts";
import { hosts } from "./endToEnd/objects.ts";
import { describeMeshes } from "./harness/describeMeshes.ts";
import { expectAll } from "./harness/expectations.ts";
import { clusterNames, type PairedCluster } from "./harness/testbed.ts";
import { GENERATED, GENERATED_ROOT, type MeshTrust, meshTrustOf, trusting } from "./trust/meshTrust.ts";
import { followStatus } from "./trust/userRestarts.ts";

// A rotation restarts every pod three times, one after the other: here each workload has one, as requests during it are looked at by trust.test.ts.
vi.setConfig({ testTimeout: 1_200_000 });

const NAMESPACE = "gloo-mesh";
const orderName = (name: PairedCluster) => ({ name: `istiod-istio-system-${name}`, namespace: NAMESPACE });

// One story: each test continues where the one before it ended.
describeMeshes("meshes that get one root from a server that connects to their clusters itself, on real Istio", (parts) => {
  let endToEnd: EndToEnd;
  let trust: MeshTrust;

  beforeAll(async () => {
    endToEnd = await startEndToEnd(parts, { topology: copyFileSync, hasOwnRoots: true, isStandard: true });
    trust = meshTrustOf(endToEnd);
  });
  afterAll(() => endToEnd?.stop());

  it("brings running meshes below a generated root by objects in their clusters, and opens the way between them", async () => {
    const mesh = trusting(GENERATED);
    await trust.write(mesh);
    await followStatus(endToEnd, () => trust.isApplied(mesh));
    const generated = await trust.rootIn(GENERATED_ROOT);
    for (const name of clusterNames) {
      expect(await fingerprints((await trust.cacertsOf(name))["root-cert.pem"] ?? "")).toEqual([generated]);
      const order = await endToEnd.clusters[name].get(IssuedCertificate, orderName(name));
      expect([order?.status?.state, order?.status?.observedGeneration]).toEqual(["FINISHED", order?.metadata.generation]);
      // What is between server and agents holds no key.
      const request = await endToEnd.clusters[name].get(CertificateRequest, orderName(name));
      expect(JSON.stringify([order, request])).not.toContain("PRIVATE KEY");
    }
    await endToEnd.soon({ host: hosts.reviewsOfTwo }, (answers) => {
      expectAll(answers, 200, "cluster-2");
      expect(answers.last?.headers["x-forwarded-client-cert"]).toMatch(
        /By=spiffe:\/\/cluster-2\/ns\/bookinfo\/sa\/bookinfo-reviews;.*URI=spiffe:\/\/cluster-1\/ns\/bookinfo\/sa\/bookinfo-productpage/,
      );
    });
  });

  it("renews the intermediates without a failed request", async () => {
    const before = await trust.cacertsOf("cluster-1");
    const stream = endToEnd.stream("cluster-1", hosts.reviewsOfTwo);
    await trust.write(trusting(GENERATED, { ttlDays: 30 }));
    await waitFor("a new intermediate", async () => (await trust.cacertsOf("cluster-1"))["ca-cert.pem"] !== before["ca-cert.pem"]);
    expect((await trust.cacertsOf("cluster-1"))["root-cert.pem"]).toBe(before["root-cert.pem"]);
    const since = stream.sent();
    await waitFor("requests since", () => stream.sent() > since + 150);
    const { failed, failures } = await stream.stop();
    expect([failures, failed]).toEqual([{}, 0]);
  });
});
