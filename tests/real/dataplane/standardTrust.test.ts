import { CertificateRequest, IssuedCertificate, Secret } from "@isthmus/api";
import { fingerprints } from "@isthmus/certificates";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { waitFor } from "../harness/waitFor.ts";
import { type EndToEnd, startEndToEnd } from "./endToEnd/endToEnd.ts";
import { hosts } from "./endToEnd/objects.ts";
import { describeMeshes } from "./harness/describeMeshes.ts";
import { expectAll } from "./harness/expectations.ts";
import { virtualMesh } from "./harness/resources.ts";
import { clusterNames, type PairedCluster } from "./harness/testbed.ts";
import { writeTrustTopology } from "./harness/topology.ts";
import { freshConnections } from "./trust/freshConnections.ts";
import { followStatus } from "./trust/userRestarts.ts";

// Each rotation restarts every pod three times, one after the other.
vi.setConfig({ testTimeout: 1_200_000 });

const NAMESPACE = "gloo-mesh";
const orderName = (name: PairedCluster) => ({ name: `istiod-istio-system-${name}`, namespace: NAMESPACE });

function trusting(ttlDays?: number) {
  const intermediateCertOptions = { rsaKeySizeBytes: 2048, ...(ttlDays === undefined ? {} : { ttlDays }) };
  const rootCertificateAuthority = { generated: { rsaKeySizeBytes: 2048 } };
  return virtualMesh({ mtlsConfig: { shared: { rootCertificateAuthority, intermediateCertOptions } } });
}

// One story: each test continues where the one before it ended.
describeMeshes("meshes that get one root from a server that connects to their clusters itself, on real Istio", (parts) => {
  let endToEnd: EndToEnd;

  beforeAll(async () => {
    const topology = { topologyName: "topology-trust.json", topology: writeTrustTopology, hasOwnRoots: true };
    endToEnd = await startEndToEnd(parts, { ...topology, isStandard: true });
  });
  afterAll(() => endToEnd?.stop());

  const own = [freshConnections];
  const write = (mesh: ReturnType<typeof trusting>) => endToEnd.usersWrite({ management: [mesh], "cluster-1": own, "cluster-2": own });

  async function cacertsOf(name: PairedCluster): Promise<Readonly<Record<string, string>>> {
    const secret = await endToEnd.clusters[name].get(Secret, { name: "cacerts", namespace: "istio-system" });
    return Object.fromEntries(Object.entries(secret?.data ?? {}).map(([key, value]) => [key, atob(value)]));
  }

  it("brings running meshes below a generated root by objects in their clusters, and opens the way between them", async () => {
    const mesh = trusting();
    await write(mesh);
    await followStatus(endToEnd, async () => (await endToEnd.statusOf(mesh)).applied === "True");
    const root = await endToEnd.clusters.management.get(Secret, { name: "virtual-mesh.gloo-mesh", namespace: NAMESPACE });
    const [generated] = await fingerprints(atob(root?.data?.["root-cert.pem"] ?? ""));
    for (const name of clusterNames) {
      expect(await fingerprints((await cacertsOf(name))["root-cert.pem"] ?? "")).toEqual([generated]);
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
    const before = await cacertsOf("cluster-1");
    const stream = endToEnd.stream("cluster-1", hosts.reviewsOfTwo);
    await write(trusting(30));
    await waitFor("a new intermediate", async () => (await cacertsOf("cluster-1"))["ca-cert.pem"] !== before["ca-cert.pem"]);
    expect((await cacertsOf("cluster-1"))["root-cert.pem"]).toBe(before["root-cert.pem"]);
    const since = stream.sent();
    await waitFor("requests since", () => stream.sent() > since + 150);
    const { failed, failures } = await stream.stop();
    expect([failures, failed]).toEqual([{}, 0]);
  });
});
