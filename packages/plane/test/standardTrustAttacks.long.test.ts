import { CertificateRequest, IssuedCertificate } from "@isthmus/api";
import { createMeshKey, createMeshRequest, createMeshRoot, fingerprints } from "@isthmus/certificates";
import type { AnyResource } from "@isthmus/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CLUSTERS, eventually, meshOf, NAMESPACE, placeOf, type StandardFleet, standardFleet, trusting } from "./standardFleet.ts";
import { clock, quiet } from "./virtualTime.ts";

// What somebody can do who may write some of the objects by which server and agent speak in a cluster without a relay.

let all: StandardFleet;
beforeEach(async () => {
  all = await standardFleet();
});
afterEach(() => all.stop());

const EVIL = "evil";
const cluster = () => all.clusterOf("cluster-1");
const identityOf = (namespace: string) => `spiffe://cluster.local/ns/${namespace}/sa/istiod`;

async function csrFor(uri: string): Promise<string> {
  const key = await createMeshKey(2048);
  return btoa(await createMeshRequest(key, { commonName: "evil", organization: "Istio", uris: [uri] }));
}

function requestOf(place: { readonly name: string; readonly namespace: string }, certificateSigningRequest: string): AnyResource {
  const { apiVersion, kind } = CertificateRequest;
  return { apiVersion, kind, metadata: place, spec: { certificateSigningRequest } } as AnyResource;
}

function orderOf(place: { readonly name: string; readonly namespace: string }, more: object): AnyResource {
  const { apiVersion, kind } = IssuedCertificate;
  return { apiVersion, kind, metadata: place, ...more } as AnyResource;
}

async function evilRoot(): Promise<string> {
  const options = { commonName: "evil", organization: "evil", lifetimeMs: 3650 * 86_400_000, now: clock.now() };
  return (await createMeshRoot(options, "P-256")).certificate;
}

const statusOfRequest = async (place: { readonly name: string; readonly namespace: string }) =>
  (await cluster().get(CertificateRequest, place))?.status;
const user = { fieldManager: "kubectl", force: true };
const signed = () => all.fleet.log.infos.filter((line) => line.startsWith("signed the CA")).length;

describe("a CertificateRequest", () => {
  it("in another namespace is nobody's, though pods there bear the label of the agent", async () => {
    await cluster().create({ apiVersion: "v1", kind: "Namespace", metadata: { name: EVIL } });
    const pod = {
      metadata: { name: "agent", namespace: EVIL, labels: { app: "gloo-mesh-agent" } },
      spec: { containers: [{ name: "agent", image: "evil" }] },
    };
    await cluster().create({ apiVersion: "v1", kind: "Pod", ...pod } as AnyResource);
    await all.finished();
    const before = signed();
    const place = { name: meshOf("cluster-1"), namespace: EVIL };
    const request = await csrFor(identityOf("istio-system"));
    await cluster().apply(requestOf(place, request), user);
    const labels = { "owner.networking.mesh.gloo.solo.io": NAMESPACE };
    const spec = (await all.orderIn("cluster-1"))?.spec;
    await cluster().apply({ ...orderOf(place, { spec }), metadata: { ...place, labels } } as AnyResource, user);
    await quiet(60_000);
    expect(await statusOfRequest(place)).toBeUndefined();
    expect(signed()).toBe(before);
  });

  it("in the namespace of the agent is not signed unless the agent says that it is its own, whatever is in it", async () => {
    await all.finished();
    const before = [signed(), await all.cacertsOf("cluster-1")];
    const contents = [await csrFor(identityOf("istio-system")), await csrFor(identityOf("other")), "A".repeat(900_000), btoa("no request")];
    for (const name of [meshOf("cluster-1"), meshOf("cluster-2"), "unknown"]) {
      for (const content of contents) {
        await cluster().apply(requestOf({ name, namespace: NAMESPACE }, content), user);
        await quiet(20_000);
        expect(await statusOfRequest({ name, namespace: NAMESPACE })).toBeUndefined();
      }
    }
    expect([signed(), await all.cacertsOf("cluster-1")]).toEqual(before);
    // The agent overwrites what stands in the place of its own.
    await all.write(trusting({ ttlDays: 30 }));
    await eventually(async () => expect(await all.cacertsOf("cluster-1")).not.toEqual(before[1]));
    await eventually(() => expect(all.statesNow()).toEqual(["FINISHED", "FINISHED"]));
    const [root] = await fingerprints(await all.rootOf());
    expect((await all.orderIn("cluster-1"))?.status?.installed?.roots).toEqual([root]);
  });

  it("of somebody who also acts as the agent gets no identity but that of the mesh, and no size stops the server", async () => {
    await all.finished();
    await all.stopCertificates("cluster-1");
    const before = signed();
    const reportedBy = (await all.orderIn("cluster-1"))?.status?.reportedBy ?? "";
    // As long as the Lease of the agent is not found to stand still.
    for (const content of [await csrFor(identityOf("other")), "A".repeat(900_000), btoa("no request")]) {
      await cluster().apply(requestOf(placeOf("cluster-1"), content), user);
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(content)));
      const requestSha256 = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
      const found = await all.orderIn("cluster-1");
      const status = { ...found?.status, reportedBy, requestSha256, observedGeneration: found?.metadata.generation };
      await cluster().applyStatus(orderOf(placeOf("cluster-1"), { status }), user);
      await eventually(async () => expect(await statusOfRequest(placeOf("cluster-1"))).toMatchObject({ state: "FAILED" }));
      const { state, error = "", signedCertificate } = (await statusOfRequest(placeOf("cluster-1"))) ?? {};
      expect([state, signedCertificate]).toEqual(["FAILED", undefined]);
      expect(error.length).toBeLessThan(2_000);
      await cluster().delete({
        apiVersion: CertificateRequest.apiVersion,
        kind: "CertificateRequest",
        ...placeOf("cluster-1"),
        clusterName: "cluster-1",
      });
      await quiet(1_000);
    }
    expect(signed()).toBe(before);
    all.startCertificates("cluster-1");
    await all.write(trusting({ ttlDays: 30 }));
    await eventually(() => expect(signed()).toBe(before + 2));
    await eventually(() => expect(all.statesNow()).toEqual(["FINISHED", "FINISHED"]));
  });
});

describe("an IssuedCertificate", () => {
  it("that somebody else wrote is not followed, in whatever namespace and with whatever label", async () => {
    await all.finished();
    await cluster().create({ apiVersion: "v1", kind: "Namespace", metadata: { name: EVIL } });
    const root = await evilRoot();
    const [signer = ""] = await fingerprints(root);
    const before = await all.cacertsOf("cluster-1");
    const spec = (await all.orderIn("cluster-1"))?.spec;
    const forged = { ...spec, trust: { ...spec?.trust, step: "RETIRE", rootCertificates: root, signer } };
    const labels = { "owner.networking.mesh.gloo.solo.io": NAMESPACE };
    for (const namespace of [EVIL, NAMESPACE]) {
      for (const given of [{}, { labels }]) {
        const order = orderOf({ name: `forged-${Object.keys(given).length}`, namespace }, { spec: forged });
        await cluster().apply({ ...order, metadata: { ...order.metadata, ...given } } as AnyResource, user);
      }
    }
    await quiet(120_000);
    expect(await all.cacertsOf("cluster-1")).toEqual(before);
    expect(all.statesNow()).toEqual(["FINISHED", "FINISHED"]);
    expect(all.fleet.log.warnings.join("\n")).toMatch(/its spec was written by kubectl, and is not followed/);
  });

  it("of the server that somebody has edited is not followed, and restored", async () => {
    await all.finished();
    const before = await all.cacertsOf("cluster-1");
    const order = await all.orderIn("cluster-1");
    const root = await evilRoot();
    const [signer = ""] = await fingerprints(root);
    await cluster().apply(orderOf(placeOf("cluster-1"), { spec: { trust: { step: "TRUST_BOTH", rootCertificates: root, signer } } }), user);
    expect((await all.orderIn("cluster-1"))?.spec?.trust?.signer).toBe(signer);
    await eventually(async () => expect((await all.orderIn("cluster-1"))?.spec).toEqual(order?.spec));
    await quiet(120_000);
    expect(await all.cacertsOf("cluster-1")).toEqual(before);
    await eventually(() => expect(all.statesNow()).toEqual(["FINISHED", "FINISHED"]));
  });

  it("whose status somebody forged moves no other mesh: the agent says what is true again", async () => {
    await all.write(trusting());
    await eventually(() => expect(all.statesNow()).toEqual(["ISSUED", "ISSUED"]));
    const [root = ""] = await fingerprints(await all.rootOf());
    const found = await all.orderIn("cluster-1");
    const inForce = { trusted: [root], signers: [root] };
    const status = { ...found?.status, state: "FINISHED", inForce, isControlPlaneOutdated: false };
    await cluster().applyStatus(orderOf(placeOf("cluster-1"), { status }), user);
    await eventually(async () => expect((await all.orderIn("cluster-1"))?.status).toEqual(found?.status));
    await quiet(60_000);
    expect(all.stepsNow()).toEqual(["TRUST_BOTH", "TRUST_BOTH"]);
    expect(CLUSTERS.map(() => "ISSUED")).toEqual(all.statesNow());
  });
});
