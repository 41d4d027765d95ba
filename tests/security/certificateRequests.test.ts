import { CertificateRequest, IssuedCertificate, VirtualMesh } from "@isthmus/api";
import { createMeshKey, createMeshRequest } from "@isthmus/certificates";
import type { AnyResource, Resource } from "@isthmus/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { NAMESPACE, type Replica, type Replicas, replicasOf, type TestAgent, until } from "./harness/replicas.ts";

let plane: Replicas;
let replica: Replica;
let [victim, evil]: (TestAgent | undefined)[] = [];
beforeEach(async () => {
  plane = await replicasOf();
  replica = await plane.start();
  victim = await connected("victim");
  evil = await connected("evil");
  await plane.management.create(virtualMesh);
  await until(() => orderOf(victim) !== undefined && orderOf(evil) !== undefined, "the CAs of both meshes are ordered");
});
afterEach(() => plane.stop());

test("an agent that requests the CA of another mesh gets none, and the VirtualMesh says so without its word", async () => {
  const before = JSON.stringify(orderOf(victim));
  const key = await createMeshKey(2048);
  for (const foreign of [[identityOf("victim")], [identityOf("evil"), identityOf("victim")]]) {
    await request(key, foreign);
    await until(async () => (await trustInForce()).includes(identityOf("victim")), "the VirtualMesh says so");
    expect(await trustInForce()).toMatch(
      /^False Failed Mesh gloo-mesh\/istiod-istio-system-evil is FAILED: .*asks for the identity spiffe:\/\/victim\/ns\/istio-system\/sa\/istiod, which is not that of this mesh \(spiffe:\/\/evil\/.*"meshctl cluster revoke"/,
    );
    expect(answersTo(evil).every(({ status }) => status?.state === "FAILED" && status.signedCertificate === undefined)).toBe(true);
    await request(key, undefined);
    await until(async () => !(await trustInForce()).includes("asks for the identity"), "it is not requested any more");
  }
  expect(answersTo(evil).length).toBeGreaterThan(0);
  expect(JSON.stringify(orderOf(victim))).toBe(before);
  expect(answersTo(victim)).toEqual([]);
  expect(plane.lines.join("\n")).not.toContain("signed the CA of a mesh");

  await request(key, [identityOf("evil")]);
  await until(() => answersTo(evil).at(-1)?.status?.signedCertificate !== undefined, "its own is signed");
});

async function connected(clusterName: string): Promise<TestAgent> {
  const agent = await plane.agent({ replica, clusterName });
  await until(agent.isConnected, `${clusterName} is connected`);
  agent.link.observe({ put: meshIn(clusterName), remove: [] });
  return agent;
}

/** What the agent of `evil` reports: that it has what is ordered, and a request for a CA with these identities. */
async function request(key: string, uris: readonly string[] | undefined): Promise<void> {
  const metadata = { name: meshOf("evil"), namespace: NAMESPACE, clusterName: "evil" };
  const { apiVersion, kind } = CertificateRequest;
  if (uris === undefined) return evil?.link.observe({ put: [], remove: [{ apiVersion, kind, ...metadata }] });
  const csr = btoa(await createMeshRequest(key, { commonName: metadata.name, organization: "Istio", uris }));
  const claimed = { apiVersion: IssuedCertificate.apiVersion, kind: IssuedCertificate.kind, metadata, status: { state: "FINISHED" } };
  evil?.link.observe({ put: [claimed, { apiVersion, kind, metadata, spec: { certificateSigningRequest: csr } } as Resource], remove: [] });
}

const meshOf = (clusterName: string) => `istiod-istio-system-${clusterName}`;
const identityOf = (trustDomain: string) => `spiffe://${trustDomain}/ns/istio-system/sa/istiod`;

const answersTo = (agent: TestAgent | undefined) =>
  (agent?.told ?? []).filter(({ kind }) => kind === CertificateRequest.kind) as readonly CertificateRequest[];
const orderOf = (agent: TestAgent | undefined) => agent?.told.findLast(({ kind }) => kind === IssuedCertificate.kind);

async function trustInForce(): Promise<string> {
  const found = await plane.management.get(VirtualMesh, { name: "shop", namespace: NAMESPACE });
  const { conditions = [] } = (found?.status ?? {}) as { conditions?: readonly Readonly<Record<string, string>>[] };
  const { status, reason, message } = { ...conditions.find(({ type }) => type === "TrustInForce") };
  return `${status} ${reason} ${message}`;
}

const virtualMesh: VirtualMesh = {
  apiVersion: VirtualMesh.apiVersion,
  kind: VirtualMesh.kind,
  metadata: { name: "shop", namespace: NAMESPACE },
  spec: {
    meshes: ["victim", "evil"].map((clusterName) => ({ name: meshOf(clusterName), namespace: NAMESPACE })),
    mtlsConfig: { shared: { rootCertificateAuthority: { generated: { rsaKeySizeBytes: 2048 } } } },
  },
};

const meshIn = (clusterName: string): readonly AnyResource[] => [
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "istiod", namespace: "istio-system", clusterName },
    spec: {
      selector: { matchLabels: { app: "istiod" } },
      template: {
        metadata: { labels: { app: "istiod" } },
        spec: { serviceAccountName: "istiod", containers: [{ name: "discovery", image: "istio/pilot:1.27.0" }] },
      },
    },
  },
  {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "istio", namespace: "istio-system", clusterName },
    data: { mesh: `trustDomain: ${clusterName}` },
  },
];
