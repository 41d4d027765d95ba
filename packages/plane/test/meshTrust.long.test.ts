import { randomUUID, X509Certificate } from "node:crypto";
import { ConfigMap, Deployment, IssuedCertificate, Pod, Secret, VirtualMesh } from "@isthmus/api";
import { createAuthority, createMeshRoot, issueServerCertificate } from "@isthmus/certificates";
import type { AnyResource } from "@isthmus/core";
import type { SimulatedCluster } from "@isthmus/simulator";
import { memoryStore } from "@isthmus/store";
import { itAtNight } from "@isthmus/testing/atNight";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createJoinToken } from "../src/identity/joinTokens.ts";
import { secretOf, secretTexts } from "../src/identity/secretData.ts";
import { bookinfoMesh, demoFleet, type Fleet, register, statusOf } from "./fleet.ts";
import { type IstiodDouble, istiodDouble } from "./istiodDouble.ts";
import { lead } from "./lead.ts";
import { clock, quiet } from "./virtualTime.ts";

let fleet: Fleet;
let istiods: Record<string, IstiodDouble>;
/** The server to which agents are connected. */
let serving: string | undefined;
const CLUSTERS = ["cluster-1", "cluster-2"] as const;

beforeEach(async () => {
  fleet = demoFleet();
  await register(fleet);
  fleet.startServer();
  istiods = {};
  serving = undefined;
  for (const name of CLUSTERS) {
    await clusterOf(name).create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "gloo-mesh" } });
    fleet.startAgent(name);
  }
  // The pods of the demo are there.
  await quiet(10_000);
  for (const name of CLUSTERS) istiods[name] = await istiodDouble(clusterOf(name));
  await fleet.management.create(trusting);
});
afterEach(() => fleet.stop());

const trusting: VirtualMesh = {
  ...bookinfoMesh,
  spec: {
    ...bookinfoMesh.spec,
    mtlsConfig: {
      shared: {
        rootCertificateAuthority: { generated: { rsaKeySizeBytes: 2048 } },
        intermediateCertOptions: { rsaKeySizeBytes: 2048 },
      },
    },
  },
};

/** Lets time pass until `holds` does not throw. Keys take real time, so that no number of virtual minutes is enough for sure. */
async function eventually(holds: () => void | Promise<void>): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; ; await new Promise((resolve) => setTimeout(resolve, 2))) {
    await clock.advance(200);
    try {
      return await holds();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
  }
}

const PATIENCE_MS = 240_000;

function clusterOf(name: string): SimulatedCluster {
  const cluster = fleet.clusters[name];
  if (cluster === undefined) throw new Error(`no cluster ${name}`);
  return cluster;
}

async function cacertsOf(name: string): Promise<Readonly<Record<string, string>> | undefined> {
  const secret = await clusterOf(name).get(Secret, { name: "cacerts", namespace: "istio-system" });
  return secret === undefined ? undefined : secretTexts(secret);
}

async function rootSecret(): Promise<Readonly<Record<string, string>>> {
  const secret = await fleet.management.get(Secret, { name: "bookinfo.gloo-mesh", namespace: "gloo-mesh" });
  if (secret === undefined) throw new Error("no root");
  return secretTexts(secret);
}

function fail(): never {
  throw new Error("it is not there");
}

async function rootRef() {
  const place = { name: "bookinfo.gloo-mesh", namespace: "gloo-mesh" };
  await eventually(async () => expect(await fleet.management.get(Secret, place)).toBeDefined());
  return { apiVersion: "v1", kind: "Secret", ...place };
}

/** As a restored backup has it. */
function withoutVersion<R extends Secret | ConfigMap>(resource: R, namespace = resource.metadata.namespace): R {
  const { resourceVersion: _, uid: __, ...metadata } = resource.metadata;
  return { ...resource, metadata: { ...metadata, namespace } };
}

const SECRET = { apiVersion: "v1", kind: "Secret" };
const CACERTS = { name: "cacerts", namespace: "istio-system" };

function reportOf(name: string, mesh = `istiod-istio-system-${name}`): IssuedCertificate | undefined {
  const ref = { name: mesh, namespace: "gloo-mesh", clusterName: name };
  return fleet.server(serving).store.snapshotIn(name).of(IssuedCertificate).get(ref);
}

const stepsNow = () => CLUSTERS.map((name) => reportOf(name)?.spec?.trust?.step);
const statesNow = () => CLUSTERS.map((name) => reportOf(name)?.status?.state);

async function conditionOf(
  type: string,
): Promise<Readonly<Record<"status" | "reason" | "message" | "lastTransitionTime", string | undefined>>> {
  const { conditions = [] } = await statusOf(fleet, trusting);
  const { status, reason, message, lastTransitionTime } = { ...conditions.find((one) => one.type === type) };
  return { status, reason, message, lastTransitionTime };
}

async function warningsOf(mesh: string): Promise<string> {
  const { meshes = {} } = (await statusOf(fleet, trusting)) as { readonly meshes?: Readonly<Record<string, object>> };
  return JSON.stringify(Object.entries(meshes).find(([key]) => key.includes(mesh))?.[1] ?? {});
}

async function podsOf(clusterName: string, app: string): Promise<readonly string[]> {
  const { items } = await clusterOf(clusterName).list(Pod, { namespace: "bookinfo", labels: { matchLabels: { app } } });
  return items.map(({ metadata }) => metadata.name);
}

const certificatesIn = (pem = "") => pem.split("-----BEGIN").length - 1;

/** What each mesh is to trust. The step RETIRE itself is over as soon as an agent has carried it out. */
const installedRoots = () => Promise.all(CLUSTERS.map(async (name) => (await cacertsOf(name))?.["root-cert.pem"]));

async function generatedRootAlone(): Promise<readonly (string | undefined)[]> {
  const { "root-cert.pem": root } = await rootSecret();
  return CLUSTERS.map(() => root);
}

/** The control planes first; the proxies once it is known that they get what is new. */
async function restartAll(): Promise<void> {
  for (const name of CLUSTERS) await restart(name);
}

async function restart(name: string): Promise<void> {
  await eventually(() => expect(reportOf(name)?.status?.isControlPlaneOutdated).toBe(true));
  // Clocks of nodes may differ by some seconds.
  await quiet(10_000);
  await istiods[name]?.restart();
  await eventually(() => expect(reportOf(name)?.status?.isControlPlaneOutdated).toBeUndefined());
  await quiet(10_000);
  await istiods[name]?.restartProxies();
}

describe("a VirtualMesh with shared trust", () => {
  it("brings running meshes below a generated root in three steps, each of which waits for restarts in all of them", async () => {
    await eventually(() => expect(stepsNow()).toEqual(["TRUST_BOTH", "TRUST_BOTH"]));
    await eventually(async () => expect(certificatesIn((await cacertsOf("cluster-1"))?.["root-cert.pem"])).toBe(2));
    const root = await rootSecret();
    const own = istiods["cluster-1"]?.roots() ?? "";
    // Of itself, istiod continues with the CA that it has.
    expect(await cacertsOf("cluster-1")).toMatchObject({ "ca-cert.pem": own, "root-cert.pem": own + root["root-cert.pem"], "key.pem": "" });
    await eventually(async () => expect(await warningsOf("cluster-1")).toContain("restart istiod in namespace istio-system"));
    await eventually(async () => expect((await conditionOf("Applied")).status).toBe("False"));
    await quiet(60_000);
    expect(stepsNow()).toEqual(["TRUST_BOTH", "TRUST_BOTH"]);

    await restartAll();
    await eventually(() => expect(stepsNow()).toEqual(["REISSUE", "REISSUE"]));
    const issued = async () => new X509Certificate((await cacertsOf("cluster-1"))?.["ca-cert.pem"] ?? "");
    const isBelowRoot = async () => (await issued()).checkIssued(new X509Certificate(root["root-cert.pem"] ?? ""));
    await eventually(async () => expect(await isBelowRoot()).toBe(true));
    expect((await issued()).subjectAltName).toBe("URI:spiffe://cluster-1.example/ns/istio-system/sa/istiod");
    expect(certificatesIn((await cacertsOf("cluster-1"))?.["root-cert.pem"])).toBe(2);
    await quiet(60_000);
    expect(stepsNow()).toEqual(["REISSUE", "REISSUE"]);

    await restartAll();
    await eventually(async () => expect((await cacertsOf("cluster-1"))?.["root-cert.pem"]).toBe(root["root-cert.pem"]));
    await restartAll();
    await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
    expect(stepsNow()).toEqual(["KEEP", "KEEP"]);
    const expiries = fleet
      .server()
      .metrics()
      .filter(({ name }) => name === "gloo_mesh_certificate_expiry_timestamp_seconds");
    const expiryOf = (use: string, cluster: string) =>
      expiries.find(({ labels }) => labels["use"] === use && labels["cluster"] === cluster)?.value;
    expect(expiryOf("meshRoot", "")).toBe(Date.parse(new X509Certificate(root["root-cert.pem"] ?? "").validTo) / 1000);
    expect(expiryOf("meshIntermediate", "cluster-1")).toBe(Date.parse((await issued()).validTo) / 1000);
    await eventually(async () => expect((await conditionOf("Applied")).status).toBe("True"));
    expect((await cacertsOf("cluster-1"))?.["ca-key.pem"]).not.toBe((await cacertsOf("cluster-2"))?.["ca-key.pem"]);
  });

  it("holds while a cluster is offline, and continues when it is back; nothing is lost by restarts of server and agents", async () => {
    await eventually(() => expect(statesNow()).toEqual(["ISSUED", "ISSUED"]));
    await restart("cluster-1");
    await fleet.stopAgent("cluster-2");
    await quiet(60_000);
    expect(stepsNow()[0]).toBe("TRUST_BOTH");
    await fleet.stopServer();
    fleet.startServer();
    await eventually(() => expect(reportOf("cluster-1")?.spec?.trust?.step).toBe("TRUST_BOTH"));
    expect(reportOf("cluster-1")?.spec?.trust?.waitsFor).toContain("gloo-mesh/istiod-istio-system-cluster-2");
    fleet.startAgent("cluster-2");
    await restart("cluster-2");
    await eventually(() => expect(stepsNow()).toEqual(["REISSUE", "REISSUE"]));
    await fleet.stopAgent("cluster-1");
    fleet.startAgent("cluster-1");
    await fleet.stopServer();
    fleet.startServer();
    await restartAll();
    const root = await rootSecret();
    for (const name of CLUSTERS)
      await eventually(async () => expect((await cacertsOf(name))?.["root-cert.pem"]).toBe(root["root-cert.pem"]));
    // An order that is not answered yet is repeated, so each mesh was signed for once, and once more where the server had no memory of it.
    expect(fleet.log.infos.filter((line) => line.startsWith("signed the CA")).length).toBeLessThanOrEqual(2 * CLUSTERS.length);
  });

  it("shows the step of each mesh, since when, what blocks it, and which offline cluster holds it", async () => {
    const phase = async () => {
      const { meshes = {} } = (await statusOf(fleet, trusting)) as VirtualMesh["status"] & object;
      return meshes["istiod-istio-system-cluster-1.gloo-mesh."]?.trust;
    };
    await eventually(async () => expect(await phase()).toMatchObject({ state: "ISSUED", step: "TRUST_BOTH" }));
    await eventually(async () =>
      expect((await phase())?.blockedBy).toMatch(/^restart istiod in namespace istio-system of cluster cluster-1/),
    );
    await eventually(async () => expect(await conditionOf("TrustInForce")).toMatchObject({ status: "False", reason: "RootChanging" }));
    const since = (await phase())?.since ?? fail();
    expect(Date.parse(since)).toBeLessThanOrEqual(clock.now());
    expect((await conditionOf("TrustInForce")).lastTransitionTime).toBeDefined();
    await restart("cluster-1");
    await fleet.stopAgent("cluster-2");
    const held = { mesh: "gloo-mesh/istiod-istio-system-cluster-2", cluster: "cluster-2", offline: true };
    await eventually(async () => expect(await phase()).toMatchObject({ waitsFor: [held] }));
    await eventually(async () => expect((await conditionOf("TrustInForce")).reason).toBe("ClusterOffline"));
    expect((await conditionOf("TrustInForce")).message).toContain("gloo-mesh/istiod-istio-system-cluster-2 of cluster-2 (offline)");
    await fleet.stopServer();
    // The root is known late: until then the server orders no step.
    fleet.startServer("server", {
      over: (cluster) => ({ ...cluster, get: (...call) => clock.sleep(20_000).then(() => cluster.get(...call)) }),
    });
    await quiet(60_000);
    await eventually(async () => expect(await phase()).toMatchObject({ state: "ISSUED", step: "TRUST_BOTH", since, waitsFor: [held] }));
    fleet.startAgent("cluster-2");
    await restart("cluster-2");
    await eventually(async () => expect(await phase()).toMatchObject({ step: "REISSUE" }));
    expect(Date.parse((await phase())?.since ?? "")).toBeGreaterThan(Date.parse(since));
    for (let round = 0; round < 2; round++) await restartAll();
    await eventually(async () => expect(await phase()).toMatchObject({ state: "FINISHED", step: "KEEP" }));
    expect(await phase()).not.toHaveProperty("waitsFor");
    await eventually(async () => expect(await conditionOf("TrustInForce")).toMatchObject({ status: "True", reason: "RootInForce" }));
  });

  it("leaves cacerts as they are when it is deleted, and shows no key to anybody", async () => {
    await eventually(() => expect(statesNow()).toEqual(["ISSUED", "ISSUED"]));
    await restartAll();
    await eventually(async () => expect(certificatesIn((await cacertsOf("cluster-1"))?.["cert-chain.pem"])).toBe(2));
    const before = await cacertsOf("cluster-1");
    await fleet.management.delete({ ...trusting, name: "bookinfo", namespace: "gloo-mesh", clusterName: "" });
    await eventually(() => expect(reportOf("cluster-1")).toBeUndefined());
    await quiet(60_000);
    expect(await cacertsOf("cluster-1")).toEqual(before);
    const secret = [before?.["ca-key.pem"], (await cacertsOf("cluster-2"))?.["ca-key.pem"], (await rootSecret())["key.pem"]];
    const { infos, warnings, steps } = fleet.log;
    const inventory = fleet.server().certificates({ hasForecasts: true });
    expect(inventory.map(({ use }) => use)).toContain("meshRoot");
    const seen = JSON.stringify([everythingReported(), infos, warnings, steps, inventory]);
    for (const key of secret) {
      const [, line = ""] = (key ?? "").split("\n");
      expect(line.length).toBeGreaterThan(40);
      expect(seen).not.toContain(line);
      expect(seen).not.toContain(btoa(key ?? "").slice(0, 60));
    }
  });

  it("overwrites no cacerts of somebody else, and says what to do", async () => {
    await fleet.management.delete({ ...trusting, name: "bookinfo", namespace: "gloo-mesh", clusterName: "" });
    await eventually(() => expect(statesNow()).toEqual([undefined, undefined]));
    const foreign = secretOf({ name: "cacerts", namespace: "istio-system" }, { "ca-cert.pem": "theirs", "ca-key.pem": "theirs" });
    const first = clusterOf("cluster-1");
    const known = await first.get(Secret, { name: "cacerts", namespace: "istio-system" });
    await (known === undefined
      ? first.create(foreign)
      : first.update({ ...foreign, metadata: { ...foreign.metadata, resourceVersion: known.metadata.resourceVersion ?? "" } }));
    await fleet.management.create(trusting);
    await eventually(() => expect(reportOf("cluster-1")?.status?.state).toBe("FAILED"));
    await eventually(async () =>
      expect(await warningsOf("cluster-1")).toMatch(/istio-system\/cacerts was not written by this agent.*isthmus\.mesh\/adopt/),
    );
    await quiet(60_000);
    expect(await cacertsOf("cluster-1")).toEqual({ "ca-cert.pem": "theirs", "ca-key.pem": "theirs" });
    // The other mesh waits: what this one trusts is unknown.
    await eventually(() => expect(reportOf("cluster-2")?.spec?.trust?.waitsFor).toContain("gloo-mesh/istiod-istio-system-cluster-1"));
  });

  it("changes no root where ztunnel runs, which may trust a single one, and says so; a look-alike of a tenant stops nothing", async () => {
    await fleet.management.delete({ ...trusting, name: "bookinfo", namespace: "gloo-mesh", clusterName: "" });
    await eventually(() => expect(statesNow()).toEqual([undefined, undefined]));
    const ztunnel = (namespace: string) => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "ztunnel-x", namespace, labels: { app: "ztunnel" } },
      spec: { containers: [{ name: "istio-proxy", image: "docker.io/istio/ztunnel:1.27.1" }] },
    });
    await clusterOf("cluster-1").create(ztunnel("istio-system"));
    await clusterOf("cluster-2").create(ztunnel("bookinfo"));
    await fleet.management.create(trusting);
    await eventually(async () =>
      expect(await warningsOf("cluster-1")).toMatch(/ztunnel runs in cluster-1 \(pod ztunnel-x\).*nothing is changed/),
    );
    await quiet(60_000);
    expect(await cacertsOf("cluster-1")).toBeUndefined();
    // The other mesh trusts one root more, and waits.
    await eventually(() => expect(reportOf("cluster-2")?.spec?.trust?.waitsFor).toContain("gloo-mesh/istiod-istio-system-cluster-1"));
    expect(reportOf("cluster-2")?.spec?.trust?.step).toBe("TRUST_BOTH");
    await clusterOf("cluster-1").delete({
      apiVersion: "v1",
      kind: "Pod",
      name: "ztunnel-x",
      namespace: "istio-system",
      clusterName: "cluster-1",
    });
    await eventually(async () => expect(await cacertsOf("cluster-1")).toBeDefined());
  });

  it("leaves a mesh whose cacerts was deleted as it is, as istiod continues with the old CA, and continues when it is restored", async () => {
    await finished();
    const [first, others] = [clusterOf("cluster-1"), await cacertsOf("cluster-2")];
    const secret = (await first.get(Secret, CACERTS)) ?? fail();
    await first.delete({ ...SECRET, ...CACERTS, clusterName: "cluster-1" });
    await eventually(async () =>
      expect(await warningsOf("cluster-1")).toMatch(
        /Mesh gloo-mesh\/istiod-istio-system-cluster-1 is left as it is: Secret istio-system\/cacerts does not exist.*restore .* from a backup/,
      ),
    );
    await quiet(300_000);
    expect(await cacertsOf("cluster-1")).toBeUndefined();
    expect(await cacertsOf("cluster-2")).toEqual(others);
    await first.create(withoutVersion(secret));
    await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
    expect(await cacertsOf("cluster-1")).toEqual(secretTexts(secret));
  });

  it("believes no old cacerts that somebody restored, orders nothing, and continues when the last one is back", async () => {
    await finished();
    const first = clusterOf("cluster-1");
    const old = (await first.get(Secret, CACERTS)) ?? fail();
    await changeMesh({ ...trusting, metadata: { ...trusting.metadata, annotations: { "isthmus.mesh/root-generation": "2" } } });
    await eventually(() => expect(stepsNow()).toEqual(["TRUST_BOTH", "TRUST_BOTH"]));
    for (let round = 0; round < 3; round++) await restartAll();
    await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
    const now = (await first.get(Secret, CACERTS)) ?? fail();
    await first.update({ ...old, metadata: { ...old.metadata, resourceVersion: now.metadata.resourceVersion ?? "" } });
    await eventually(async () =>
      expect(await warningsOf("cluster-1")).toMatch(
        /Secret istio-system\/cacerts has other roots than istiod hands out in ConfigMap istio-system\/istio-ca-root-cert: its content was replaced.*restore/,
      ),
    );
    await quiet(300_000);
    expect(await cacertsOf("cluster-1")).toEqual(secretTexts(old));
    expect(reportOf("cluster-2")?.spec?.trust?.step).toBe("KEEP");
    const { resourceVersion = "" } = (await first.get(Secret, CACERTS))?.metadata ?? {};
    await first.update({ ...now, metadata: { ...now.metadata, resourceVersion } });
    await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
    expect(await cacertsOf("cluster-1")).toEqual(secretTexts(now));
  });

  it("takes over a cacerts of somebody else when a user permits it and istiod has read it, and not before", async () => {
    await fleet.management.delete({ ...trusting, name: "bookinfo", namespace: "gloo-mesh", clusterName: "" });
    await eventually(() => expect(statesNow()).toEqual([undefined, undefined]));
    const options = { commonName: "theirs", organization: "them", lifetimeMs: 3650 * DAY_MS, now: clock.now() };
    const theirs = await createMeshRoot(options, "P-256");
    const texts = { "ca-cert.pem": theirs.certificate, "ca-key.pem": theirs.key };
    const full = { ...texts, "cert-chain.pem": theirs.certificate, "root-cert.pem": theirs.certificate };
    const adopted = secretOf(CACERTS, full);
    const first = clusterOf("cluster-1");
    const known = await first.get(Secret, CACERTS);
    if (known !== undefined) await first.delete({ ...SECRET, ...CACERTS, clusterName: "cluster-1" });
    await first.create({ ...adopted, metadata: { ...adopted.metadata, annotations: { "isthmus.mesh/adopt": "true" } } });
    await fleet.management.create(trusting);
    await eventually(async () =>
      expect(await warningsOf("cluster-1")).toMatch(
        /Secret istio-system\/cacerts has other roots .*: istiod has not read it.*restart istiod/,
      ),
    );
    await quiet(120_000);
    expect(await cacertsOf("cluster-1")).toEqual(full);
    // Its user takes it into use, with all that it costs.
    await istiods["cluster-1"]?.restart();
    await istiods["cluster-1"]?.restartProxies();
    await eventually(async () => expect(certificatesIn((await cacertsOf("cluster-1"))?.["root-cert.pem"])).toBe(2));
    expect(await cacertsOf("cluster-1")).toMatchObject(texts);
    const { annotations = {} } = (await first.get(Secret, CACERTS))?.metadata ?? {};
    expect(Object.keys(annotations)).toEqual(["isthmus.mesh/trust"]);
    for (let round = 0; round < 3; round++) await restartAll();
    await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
    expect(await installedRoots()).toEqual(await generatedRootAlone());
  });

  it("knows nothing of a mesh without ConfigMap istio-ca-root-cert: it waits, says so, and continues when the ConfigMap is there", async () => {
    await eventually(() => expect(statesNow()).toEqual(["ISSUED", "ISSUED"]));
    const first = clusterOf("cluster-1");
    const place = { name: "istio-ca-root-cert", namespace: "istio-system" };
    await istiods["cluster-1"]?.restart();
    const configMap = (await first.get(ConfigMap, place)) ?? fail();
    const gone = { apiVersion: "v1", kind: "ConfigMap", ...place, clusterName: "cluster-1" };
    await first.delete(gone);
    await istiods["cluster-1"]?.restartProxies();
    await quiet(120_000);
    // Installed and not in force: not an error, but nothing follows.
    expect(reportOf("cluster-1")?.status).toMatchObject({ state: "ISSUED" });
    expect(stepsNow()).toEqual(["TRUST_BOTH", "TRUST_BOTH"]);
    await first.create(withoutVersion(configMap));
    await restart("cluster-1");
    await restart("cluster-2");
    for (let round = 0; round < 2; round++) await restartAll();
    await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
    await first.delete(gone);
    await eventually(async () =>
      expect(await warningsOf("cluster-1")).toMatch(/ConfigMap istio-system\/istio-ca-root-cert does not exist.*check/),
    );
    await first.create(withoutVersion((await first.get(ConfigMap, { ...place, namespace: "bookinfo" })) ?? fail(), "istio-system"));
    await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
  });

  it("renews a CA when little of its lifetime is left or its options change, without a restart", async () => {
    await finished();
    const before = await authorityOf("cluster-1");
    await changeMesh(withOptions({ rsaKeySizeBytes: 2048, ttlDays: 30 }));
    await eventually(async () => expect(Date.parse((await authorityOf("cluster-1")).validTo) - clock.now()).toBeLessThan(31 * DAY_MS));
    const renewed = await authorityOf("cluster-1");
    expect(renewed.publicKey.equals(before.publicKey)).toBe(false);
    await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
    // A tenth of 30 days, as nobody has set the ratio.
    await skip(26 * DAY_MS);
    expect((await authorityOf("cluster-1")).fingerprint256).toBe(renewed.fingerprint256);
    await skip(2 * DAY_MS);
    await eventually(async () => expect((await authorityOf("cluster-1")).fingerprint256).not.toBe(renewed.fingerprint256));
  });

  itAtNight("renews a CA below the old root as long as a cluster holds the rotation, and continues when it is back", async () => {
    const { mtlsConfig } = withOptions({ rsaKeySizeBytes: 2048, ttlDays: 30 }).spec ?? {};
    const shared = { ...mtlsConfig?.shared, rootCertificateAuthority: { generated: { rsaKeySizeBytes: 2048, ttlDays: 3650 } } };
    const long: VirtualMesh = { ...trusting, spec: { ...trusting.spec, mtlsConfig: { shared } } };
    await changeMesh(long);
    await fleet.management.delete({ ...(await rootRef()), clusterName: "" });
    await finished();
    const old = await rootSecret();
    await fleet.stopAgent("cluster-2");
    const other = { ...long, metadata: { ...long.metadata, annotations: { "isthmus.mesh/root-generation": "2" } } };
    await changeMesh(other);
    await eventually(async () => expect(certificatesIn((await cacertsOf("cluster-1"))?.["root-cert.pem"])).toBe(2));
    await restart("cluster-1");
    const before = await cacertsOf("cluster-1");
    const renewed = await authorityOf("cluster-1");
    for (const round of [1, 2]) {
      await fleet.stopAgent("cluster-1");
      await fleet.stopServer();
      await clock.advance(28 * DAY_MS);
      fleet.startServer();
      fleet.startAgent("cluster-1");
      const isLater = async () => Date.parse((await authorityOf("cluster-1")).validTo) - Date.parse(renewed.validTo);
      await eventually(async () => expect(await isLater()).toBeGreaterThan(27 * round * DAY_MS));
      expect(reportOf("cluster-1")?.spec?.trust?.step).toBe("TRUST_BOTH");
      expect((await authorityOf("cluster-1")).checkIssued(new X509Certificate(old["root-cert.pem"] ?? ""))).toBe(true);
      // The same bytes: istiod reads the new CA without a restart.
      expect((await cacertsOf("cluster-1"))?.["root-cert.pem"]).toBe(before?.["root-cert.pem"]);
      expect(reportOf("cluster-1")?.status?.isControlPlaneOutdated).toBeUndefined();
    }
    fleet.startAgent("cluster-2");
    await restart("cluster-2");
    for (let round = 0; round < 2; round++) await restartAll();
    await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
    const next = await fleet.management.get(Secret, { name: "bookinfo.gloo-mesh.root-2", namespace: "gloo-mesh" });
    expect((await cacertsOf("cluster-1"))?.["root-cert.pem"]).toBe(secretTexts(next ?? fail())["root-cert.pem"]);
    // An abort is possible as long as the old one is there.
    expect(await rootSecret()).toEqual(old);
  });

  it("goes back to the root before when a change is aborted before its last step, from TRUST_BOTH as from REISSUE", async () => {
    await finished();
    const [old, before] = [await rootSecret(), await Promise.all(CLUSTERS.map(cacertsOf))];
    const other = { ...trusting, metadata: { ...trusting.metadata, annotations: { "isthmus.mesh/root-generation": "2" } } };
    for (const step of ["TRUST_BOTH", "REISSUE"]) {
      await changeMesh(other);
      await eventually(async () => expect((await installedRoots()).map(certificatesIn)).toEqual([2, 2]));
      await restart("cluster-1");
      if (step === "REISSUE") await restart("cluster-2");
      await eventually(() => expect(reportOf("cluster-1")?.spec?.trust?.step).toBe(step));
      if (step === "REISSUE") {
        await eventually(async () => expect((await cacertsOf("cluster-1"))?.["ca-cert.pem"]).not.toBe(before[0]?.["ca-cert.pem"]));
        await restart("cluster-1");
      }
      await changeMesh(trusting);
      // What is to restart is known once keys are made, which takes real time.
      await eventually(async () => {
        await restartAsTold();
        expect(statesNow()).toEqual(["FINISHED", "FINISHED"]);
      });
      expect(await installedRoots()).toEqual(CLUSTERS.map(() => old["root-cert.pem"]));
      for (const name of CLUSTERS) {
        expect((await authorityOf(name)).checkIssued(new X509Certificate(old["root-cert.pem"] ?? ""))).toBe(true);
      }
    }
  });

  itAtNight("warns of changed options of a generated root until the next root is made with them", async () => {
    await finished();
    const [root, before] = [await rootSecret(), await Promise.all(CLUSTERS.map(cacertsOf))];
    const generated = { rsaKeySizeBytes: 2048, ttlDays: 30 };
    const { mtlsConfig } = trusting.spec ?? {};
    const shared = { ...mtlsConfig?.shared, rootCertificateAuthority: { generated } };
    const changed: VirtualMesh = { ...trusting, spec: { ...trusting.spec, mtlsConfig: { shared } } };
    await changeMesh(changed);
    const warnings = async () => JSON.stringify(((await statusOf(fleet, trusting)) as { readonly warnings?: unknown }).warnings ?? []);
    await eventually(async () =>
      expect(await warnings()).toMatch(
        /ttlDays 30 is not in force: the root in Secret gloo-mesh\/bookinfo\.gloo-mesh was made with ttlDays 365 .*meshctl cert rotate meshRoot\/bookinfo\.gloo-mesh/,
      ),
    );
    await eventually(async () => expect(await conditionOf("Applied")).toMatchObject({ status: "False", reason: "NotCarriedOut" }));
    expect([await rootSecret(), await Promise.all(CLUSTERS.map(cacertsOf))]).toEqual([root, before]);
    await changeMesh({ ...changed, metadata: { ...changed.metadata, annotations: { "isthmus.mesh/root-generation": "2" } } });
    await eventually(async () => expect(await warnings()).not.toContain("not in force"));
    const second = () => fleet.management.get(Secret, { name: "bookinfo.gloo-mesh.root-2", namespace: "gloo-mesh" });
    await eventually(async () => expect(await second()).toBeDefined());
    const made = new X509Certificate(secretTexts((await second()) ?? fail())["root-cert.pem"] ?? "");
    expect(Date.parse(made.validTo) - clock.now()).toBeLessThan(31 * DAY_MS);
    await quiet(60_000);
    expect(await warnings()).not.toContain("not in force");
  });

  itAtNight(
    "lists every certificate of the meshes, what a rotation restarts, and join tokens until they end, without their hash",
    async () => {
      await finished();
      const place = { namespace: "gloo-mesh", clock };
      const { token, expiresAt } = await createJoinToken(fleet.management, { ...place, clusterName: "east", lifetimeMs: 3_600_000 });
      const entries = () => fleet.server().certificates({ hasForecasts: true });
      await eventually(() => expect(entries().find(({ use }) => use === "joinToken")).toMatchObject({ cluster: "east", state: "VALID" }));
      const metric = () =>
        fleet
          .server()
          .metrics()
          .find(({ name, labels }) => name === "gloo_mesh_certificate_expiry_timestamp_seconds" && labels["use"] === "joinToken");
      expect(metric()).toMatchObject({ labels: { cluster: "east" }, value: expiresAt / 1000 });
      const [secret] = (await fleet.management.list(Secret, { namespace: "gloo-mesh" })).items.filter(
        ({ data }) => data?.["hash"] !== undefined,
      );
      const shown = JSON.stringify([entries(), [...fleet.server().view.snapshot.of(Secret)]]);
      expect(shown).not.toContain(secret?.data?.["hash"] ?? fail());
      expect(shown).not.toContain(token);
      const ca = entries().find(({ use, cluster }) => use === "meshIntermediate" && cluster === "cluster-1");
      expect(new X509Certificate(ca?.certificate ?? "").fingerprint256).toBe((await authorityOf("cluster-1")).fingerprint256);
      expect(ca?.forecast).toMatchObject({ isConnected: true, step: "KEEP", state: "FINISHED", autoRestartPods: false, waitsFor: [] });
      expect(ca?.forecast?.proxies).toBeGreaterThan(2);
      expect(ca?.forecast?.controlPlanePods).toBeGreaterThan(0);
      await clock.advance(3_600_000);
      expect(metric()).toBeUndefined();
    },
  );

  itAtNight("says on the VirtualMesh when a root or a CA expires and nobody renews it", async () => {
    await finished();
    const expiring = () => conditionOf("CertificateExpiring");
    await eventually(async () => expect(await expiring()).toMatchObject({ status: "False", reason: "RenewedInTime" }));
    await stopPlane();
    await clock.advance(310 * DAY_MS);
    startPlane();
    await eventually(async () => expect(await expiring()).toMatchObject({ status: "True", reason: "RenewalOverdue" }));
    expect((await expiring()).message).toMatch(/the root in Secret gloo-mesh\/bookinfo\.gloo-mesh expires at .*: meshctl cert rotate/);
    await stopPlane();
    await clock.advance(56 * DAY_MS);
    startPlane();
    await eventually(async () => expect(await expiring()).toMatchObject({ status: "True", reason: "Expired" }));
    // As soon as the agents have reported theirs again.
    const ofMesh = /the CA of Mesh istiod-istio-system-cluster-1 in Secret istio-system\/cacerts of cluster-1 expired at/;
    await eventually(async () => expect((await expiring()).message).toMatch(ofMesh));
  });

  itAtNight("signs a CA again that an agent had not taken before it expired", async () => {
    await finished();
    const { faults } = clusterOf("cluster-1");
    // The key is made and the CA signed, and the agent cannot install it.
    faults.fail({ code: "Unavailable", times: 1_000_000, matches: ({ verb, ref }) => verb !== "get" && ref.name === "cacerts" });
    await changeMesh(withOptions({ rsaKeySizeBytes: 2048, ttlDays: 1 }));
    await eventually(async () => expect(Date.parse((await authorityOf("cluster-2")).validTo) - clock.now()).toBeLessThan(2 * DAY_MS));
    // The server, which knows what it has signed, runs on.
    for (const name of CLUSTERS) await fleet.stopAgent(name);
    await clock.advance(2 * DAY_MS);
    faults.heal();
    for (const name of CLUSTERS) fleet.startAgent(name);
    await eventually(async () => {
      const left = Date.parse((await authorityOf("cluster-1")).validTo) - clock.now();
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThan(2 * DAY_MS);
    });
  });

  itAtNight("makes another key when another size is ordered while a request waits", async () => {
    await finished();
    const { faults } = clusterOf("cluster-1");
    faults.fail({ code: "Unavailable", times: 1_000_000, matches: ({ verb, ref }) => verb !== "get" && ref.name === "cacerts" });
    await changeMesh(withOptions({ rsaKeySizeBytes: 2048, ttlDays: 30 }));
    const keys = { name: "mesh-certificate-keys", namespace: "gloo-mesh" };
    await eventually(async () => {
      const secret = await clusterOf("cluster-1").get(Secret, keys);
      expect(Object.keys(secret === undefined ? {} : secretTexts(secret))).toEqual(["istiod-istio-system-cluster-1"]);
    });
    await changeMesh(withOptions({ rsaKeySizeBytes: 3072, ttlDays: 30 }));
    await quiet(10_000);
    faults.heal();
    for (const name of CLUSTERS)
      await eventually(async () => expect((await authorityOf(name)).publicKey.asymmetricKeyDetails?.modulusLength).toBe(3072));
    await eventually(async () => expect(Object.keys(secretTexts((await clusterOf("cluster-1").get(Secret, keys)) ?? fail()))).toEqual([]));
  });

  it("leaves the running trust byte for byte as it is with a root that cannot be used, and says why on each mesh", async () => {
    await finished();
    const running = await Promise.all(CLUSTERS.map(cacertsOf));
    const made = (commonName: string, lifetimeMs = 3650 * DAY_MS, now = clock.now()) =>
      createMeshRoot({ commonName, organization: "them", lifetimeMs, now }, "P-256");
    const [good, other, old] = [await made("good"), await made("other"), await made("old", DAY_MS, clock.now() - 2 * DAY_MS)];
    const leaf = await issueServerCertificate(good, { dnsNames: ["a.example"], now: clock.now() });
    const flat = await createAuthority(good, { commonName: "flat", now: clock.now() });
    const cases: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] = [
      [{ "root-cert.pem": good.certificate }, /key\.pem is missing: add the private key of the root/],
      [{ "root-cert.pem": good.certificate, "key.pem": other.key }, /key\.pem is not the private key of root-cert\.pem: replace one/],
      [{ "root-cert.pem": old.certificate, "key.pem": old.key }, /root-cert\.pem expired at .*: replace it and key\.pem/],
      [{ "root-cert.pem": leaf.certificate, "key.pem": leaf.key }, /root-cert\.pem is not a CA certificate .*: replace it/],
      [{ "root-cert.pem": flat.certificate, "key.pem": flat.key }, /path length of 0, which permits no intermediate CA .*: replace it/],
    ];
    await fleet.management.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "pki" } });
    for (const [i, [texts, message]] of cases.entries()) {
      const theirs = { name: `theirs-${i}`, namespace: "pki" };
      await fleet.management.create(secretOf(theirs, texts));
      const shared = { rootCertificateAuthority: { secret: theirs }, intermediateCertOptions: { rsaKeySizeBytes: 2048 } };
      await changeMesh({ ...trusting, spec: { ...trusting.spec, mtlsConfig: { shared } } });
      for (const name of CLUSTERS) {
        await eventually(async () => {
          const warnings = await warningsOf(name);
          expect(warnings).toMatch(message);
          expect(warnings).toContain(`Mesh gloo-mesh/istiod-istio-system-${name}`);
          expect(warnings).toContain(`Secret pki/theirs-${i} of the management cluster`);
        });
      }
      expect(await Promise.all(CLUSTERS.map(cacertsOf))).toEqual(running);
    }
    await changeMesh(trusting);
    await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
    expect(await Promise.all(CLUSTERS.map(cacertsOf))).toEqual(running);
  });

  it("names the Secret and the namespace when istiod's namespace is gone", async () => {
    await fleet.management.delete({ ...trusting, name: "bookinfo", namespace: "gloo-mesh", clusterName: "" });
    await eventually(() => expect(statesNow()).toEqual([undefined, undefined]));
    const { faults } = clusterOf("cluster-1");
    const message = 'namespaces "istio-system" not found';
    faults.fail({ code: "NotFound", message, times: 1_000_000, matches: ({ verb, ref }) => verb !== "get" && ref.name === "cacerts" });
    await fleet.management.create(trusting);
    await eventually(async () =>
      expect(await warningsOf("cluster-1")).toMatch(
        /Secret istio-system\/cacerts .*cluster-1: .*not found: install istiod .*, or remove the mesh/,
      ),
    );
    faults.heal();
    await eventually(() => expect(statesNow()).toEqual(["ISSUED", "ISSUED"]));
  });

  it("issues the CA of one mesh again on demand, and once", async () => {
    await finished();
    const [first, second] = [await authorityOf("cluster-1"), await authorityOf("cluster-2")];
    const annotations = { "reissue.isthmus.mesh/istiod-istio-system-cluster-1": "2026-11-24T12:00:00Z" };
    await changeMesh({ ...trusting, metadata: { ...trusting.metadata, annotations } });
    await eventually(async () => expect((await authorityOf("cluster-1")).fingerprint256).not.toBe(first.fingerprint256));
    const again = await authorityOf("cluster-1");
    expect(again.publicKey.equals(first.publicKey)).toBe(false);
    await changeMesh(trusting);
    await quiet(300_000);
    await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
    expect((await authorityOf("cluster-1")).fingerprint256).toBe(again.fingerprint256);
    expect((await authorityOf("cluster-2")).fingerprint256).toBe(second.fingerprint256);
  });

  it("leaves cacerts as they are when a mesh leaves it, or a cluster is deregistered", async () => {
    await finished();
    const before = await Promise.all(CLUSTERS.map(cacertsOf));
    const [first] = trusting.spec?.meshes ?? [];
    await changeMesh({ ...trusting, spec: { ...trusting.spec, meshes: [first ?? {}] } });
    await eventually(() => expect(reportOf("cluster-2")).toBeUndefined());
    const registration = {
      apiVersion: "multicluster.solo.io/v1alpha1",
      kind: "KubernetesCluster",
      namespace: "gloo-mesh",
      clusterName: "",
    };
    await fleet.management.delete({ ...registration, name: "cluster-1" });
    await eventually(() => expect(reportOf("cluster-1")).toBeUndefined());
    await quiet(120_000);
    expect(await Promise.all(CLUSTERS.map(cacertsOf))).toEqual(before);
  });

  it("moves meshes from the generated root to one of the user, and says what is wrong with it before", async () => {
    await finished();
    const running = await Promise.all(CLUSTERS.map(cacertsOf));
    const theirs = { name: "theirs", namespace: "pki" };
    // Other options at the same time: nothing is signed below the old root any more.
    const shared = { rootCertificateAuthority: { secret: theirs }, intermediateCertOptions: { rsaKeySizeBytes: 2048, ttlDays: 90 } };
    await changeMesh({ ...trusting, spec: { ...trusting.spec, mtlsConfig: { shared } } });
    await eventually(async () => expect(await warningsOf("cluster-1")).toMatch(/Secret pki\/theirs .*does not exist: create it/));
    expect(await Promise.all(CLUSTERS.map(cacertsOf))).toEqual(running);
    const options = { commonName: "their root", organization: "them", lifetimeMs: 3650 * DAY_MS, now: clock.now() };
    const root = await createMeshRoot(options, "P-256");
    await fleet.management.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "pki" } });
    await fleet.management.create(secretOf(theirs, { "root-cert.pem": root.certificate, "key.pem": root.key }));
    await eventually(() => expect(stepsNow()).toEqual(["TRUST_BOTH", "TRUST_BOTH"]));
    for (let round = 0; round < 3; round++) await restartAll();
    await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
    expect((await cacertsOf("cluster-2"))?.["root-cert.pem"]).toBe(root.certificate);
    expect((await authorityOf("cluster-2")).checkIssued(new X509Certificate(root.certificate))).toBe(true);

    // From one of their Secrets to another one.
    const others = { name: "others", namespace: "pki" };
    const next = await createMeshRoot({ ...options, commonName: "their next root" }, "P-256");
    await fleet.management.create(secretOf(others, { "root-cert.pem": next.certificate, "key.pem": next.key }));
    await changeMesh({
      ...trusting,
      spec: { ...trusting.spec, mtlsConfig: { shared: { ...shared, rootCertificateAuthority: { secret: others } } } },
    });
    await eventually(() => expect(stepsNow()).toEqual(["TRUST_BOTH", "TRUST_BOTH"]));
    for (let round = 0; round < 3; round++) await restartAll();
    await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
    for (const name of CLUSTERS) {
      expect((await cacertsOf(name))?.["root-cert.pem"]).toBe(next.certificate);
      expect((await authorityOf(name)).checkIssued(new X509Certificate(next.certificate))).toBe(true);
    }
  });

  it("says which right is missing and how it is granted, and installs once it is there", async () => {
    await fleet.management.delete({ ...trusting, name: "bookinfo", namespace: "gloo-mesh", clusterName: "" });
    await eventually(() => expect(statesNow()).toEqual([undefined, undefined]));
    const isOfAuthority = ({ name }: { readonly name: string }) => ["cacerts", "istio-ca-secret"].includes(name);
    const { faults } = clusterOf("cluster-1");
    faults.fail({ code: "Forbidden", times: 1_000_000, matches: ({ ref }) => isOfAuthority(ref) });
    await fleet.management.create(trusting);
    await eventually(async () => expect(await warningsOf("cluster-1")).toMatch(/istio-system.*meshCertificates\.namespaces/));
    faults.heal();
    await eventually(() => expect(statesNow()).toEqual(["ISSUED", "ISSUED"]));
  });

  it("orders of agents that are connected to another replica than the leader, and continues when that one leads", async () => {
    await fleet.stopServer();
    const leads = lead();
    const store = memoryStore({ clock, id: randomUUID });
    for (const name of ["a", "b"]) fleet.startServer(name, { store, leadership: leads.of(name) });
    fleet.route("cluster-1", "a");
    fleet.route("cluster-2", "b");
    serving = "a";
    await eventually(() => expect(stepsNow()).toEqual(["TRUST_BOTH", "TRUST_BOTH"]));
    await restartAll();
    await eventually(() => expect(stepsNow()).toEqual(["REISSUE", "REISSUE"]));
    leads.pass("b");
    serving = "b";
    await restartAll();
    await eventually(async () => expect(await installedRoots()).toEqual(await generatedRootAlone()));
    await restartAll();
    await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
    const root = await rootSecret();
    for (const name of CLUSTERS) expect((await cacertsOf(name))?.["root-cert.pem"]).toBe(root["root-cert.pem"]);
    // What is shared says who orders, and no key.
    const orders = JSON.stringify([...(await store.records("orders")).values()]);
    expect(orders).toContain("istiod-istio-system-cluster-2");
    expect(orders).not.toMatch(/PRIVATE KEY/);
  });

  it("withdraws what an earlier leader ordered and nobody wants any more", async () => {
    await fleet.stopServer();
    const leads = lead();
    const store = memoryStore({ clock, id: randomUUID });
    for (const name of ["a", "b"]) fleet.startServer(name, { store, leadership: leads.of(name) });
    for (const name of CLUSTERS) fleet.route(name, "b");
    serving = "b";
    await eventually(() => expect(stepsNow()).toEqual(["TRUST_BOTH", "TRUST_BOTH"]));
    await fleet.stopServer("a");
    await fleet.management.delete({ ...trusting, name: "bookinfo", namespace: "gloo-mesh", clusterName: "" });
    leads.pass("b");
    await eventually(() => expect(CLUSTERS.map((name) => reportOf(name))).toEqual([undefined, undefined]));
    await eventually(async () => expect((await store.records("orders")).size).toBe(0));
  });

  it("continues when another replica of the server leads: the root stays, and the step", async () => {
    await eventually(() => expect(statesNow()).toEqual(["ISSUED", "ISSUED"]));
    const root = await rootSecret();
    await restart("cluster-1");
    await fleet.stopServer();
    const leads = lead();
    const store = memoryStore({ clock, id: randomUUID });
    for (const name of ["a", "b"]) fleet.startServer(name, { store, leadership: leads.of(name) });
    for (const name of CLUSTERS) fleet.route(name, "a");
    serving = "a";
    await restart("cluster-2");
    await eventually(() => expect(stepsNow()).toEqual(["REISSUE", "REISSUE"]));
    leads.pass("b");
    for (const name of CLUSTERS) fleet.route(name, "b");
    serving = "b";
    await fleet.stopServer("a");
    await restartAll();
    await eventually(async () => expect(await installedRoots()).toEqual(await generatedRootAlone()));
    await restartAll();
    await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
    expect(await rootSecret()).toEqual(root);
  });

  it("restarts pods where users want it: as budgets allow, never two of a workload, until all is in force", async () => {
    const restarting: VirtualMesh = {
      ...trusting,
      spec: { ...trusting.spec, mtlsConfig: { ...trusting.spec?.mtlsConfig, autoRestartPods: true } },
    };
    const { faults } = clusterOf("cluster-1");
    faults.fail({
      code: "Blocked",
      message: "The disruption budget reviews needs 1 healthy pods and has 1 currently",
      times: 1_000_000,
      matches: ({ verb, ref }) => verb === "evict" && ref.name.startsWith("reviews"),
    });
    await changeMesh(restarting);
    const ending = new AbortController();
    const istiod = Promise.all(CLUSTERS.map((name) => istiods[name]?.serve(ending.signal)));
    await eventually(async () =>
      expect(await warningsOf("cluster-1")).toMatch(/pod bookinfo\/reviews.* cannot be evicted: The disruption budget reviews/),
    );
    expect(stepsNow()).toEqual(["TRUST_BOTH", "TRUST_BOTH"]);
    faults.heal();
    await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
    const root = await rootSecret();
    for (const name of CLUSTERS) expect((await cacertsOf(name))?.["root-cert.pem"]).toBe(root["root-cert.pem"]);
    ending.abort();
    await istiod;
  });

  it("names the budget that allows nothing, then how to continue, and continues without the workload that its user leaves out", async () => {
    const first = clusterOf("cluster-1");
    first.load([
      {
        apiVersion: "policy/v1",
        kind: "PodDisruptionBudget",
        metadata: { name: "ratings", namespace: "bookinfo" },
        spec: { minAvailable: 1, selector: { matchLabels: { app: "ratings" } } },
        status: { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1 },
      } as AnyResource,
    ]);
    const restarting = { ...trusting.spec, mtlsConfig: { ...trusting.spec?.mtlsConfig, autoRestartPods: true } };
    await changeMesh({ ...trusting, spec: restarting });
    const ending = new AbortController();
    const istiod = Promise.all(CLUSTERS.map((name) => istiods[name]?.serve(ending.signal)));
    const budget = /pod bookinfo\/ratings-v1\S+ cannot be evicted: The disruption budget ratings needs 1 healthy pods and has 1 currently/;
    await eventually(async () => expect(await warningsOf("cluster-1")).toMatch(budget));
    expect(await warningsOf("cluster-1")).not.toContain("--leave");
    const command = "meshctl cert rotate meshIntermediate/istiod-istio-system-cluster-1 --leave bookinfo/ratings-v1";
    await quiet(600_000);
    await eventually(async () => expect(await warningsOf("cluster-1")).toContain(command));
    expect(await warningsOf("cluster-1")).toMatch(budget);
    expect(stepsNow()).toEqual(["TRUST_BOTH", "TRUST_BOTH"]);
    const root = (await rootSecret())["root-cert.pem"] ?? "";
    const place = { name: "istiod-istio-system-cluster-1", namespace: "gloo-mesh" };
    const text = (of: string) => ({ [`leave.isthmus.mesh/${place.name}`]: `bookinfo/ratings-v1 to ${of}` });
    // Of another change of root it says nothing.
    await changeMesh({ ...trusting, metadata: { ...trusting.metadata, annotations: text("0".repeat(64)) }, spec: restarting });
    await quiet(60_000);
    expect(stepsNow()).toEqual(["TRUST_BOTH", "TRUST_BOTH"]);
    const fingerprint = new X509Certificate(root).fingerprint256.replaceAll(":", "").toLowerCase();
    const ratings = await podsOf("cluster-1", "ratings");
    await changeMesh({ ...trusting, metadata: { ...trusting.metadata, annotations: text(fingerprint) }, spec: restarting });
    await eventually(async () => expect(await installedRoots()).toEqual([root, root]));
    await eventually(() => expect(statesNow()).toEqual(["ISSUED", "FINISHED"]));
    expect(reportOf("cluster-1")?.status?.left).toEqual(["bookinfo/ratings-v1"]);
    expect(await podsOf("cluster-1", "ratings")).toEqual(ratings);
    await eventually(async () => {
      expect((await conditionOf("TrustInForce")).status).toBe("False");
      expect((await conditionOf("TrustInForce")).message).toMatch(/left out of the change of root .*: bookinfo\/ratings-v1/);
    });
    // An agent that starts again knows it as well.
    await fleet.stopAgent("cluster-1");
    fleet.startAgent("cluster-1");
    await quiet(60_000);
    expect(reportOf("cluster-1")?.status?.left).toEqual(["bookinfo/ratings-v1"]);
    for (const name of ratings)
      await first.delete({ apiVersion: "v1", kind: "Pod", name, namespace: "bookinfo", clusterName: "cluster-1" });
    await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
    await eventually(async () => expect((await conditionOf("TrustInForce")).status).toBe("True"));
    ending.abort();
    await istiod;
  });

  it("restarts workloads by rollouts where the agent may: none is ever without a ready pod, whatever budgets allow", async () => {
    for (const name of CLUSTERS) {
      await fleet.stopAgent(name);
      fleet.startAgent(name, { restartsByRollout: true });
      clusterOf(name).load(
        ["bookinfo", "istio-system"].map(
          (namespace) =>
            ({
              apiVersion: "policy/v1",
              kind: "PodDisruptionBudget",
              metadata: { name: "nothing", namespace },
              spec: { minAvailable: "100%", selector: {} },
              status: { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1 },
            }) as AnyResource,
        ),
      );
    }
    await changeMesh({ ...trusting, spec: { ...trusting.spec, mtlsConfig: { ...trusting.spec?.mtlsConfig, autoRestartPods: true } } });
    const ending = new AbortController();
    const istiod = Promise.all(CLUSTERS.map((name) => istiods[name]?.serve(ending.signal)));
    const without = new Set<string>();
    const watching = (async () => {
      while (!ending.signal.aborted) {
        await clock.sleep(100, ending.signal).catch(() => undefined);
        for (const name of CLUSTERS) {
          for (const one of clusterOf(name).objects()) {
            const { readyReplicas = 0 } = (one["status"] ?? {}) as { readonly readyReplicas?: number };
            if (one.kind === "Deployment" && readyReplicas < 1) without.add(`${one.metadata.namespace}/${one.metadata.name}`);
          }
        }
      }
    })();
    await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
    expect(await installedRoots()).toEqual(await generatedRootAlone());
    expect([...without]).toEqual([]);
    // So meshctl can say it of the next rotation beforehand.
    expect(reportOf("cluster-1")?.status?.restartsByRollout).toBe(true);
    const ratings = (await clusterOf("cluster-1").get(Deployment, { name: "ratings-v1", namespace: "bookinfo" })) ?? fail();
    // Once for each of the three steps.
    expect(ratings.metadata["generation"]).toBe(4);
    ending.abort();
    await Promise.all([istiod, watching]);
  });

  it("gives revisions of istiod that read one Secret one CA with the identities of all, and waits for each of them", async () => {
    await addControlPlane("cluster-1", { revision: "canary", namespace: "istio-system" });
    await changeMesh(withMesh(CANARY));
    await eventually(() => expect(reportOf("cluster-1", CANARY)?.spec?.trust?.step).toBe("TRUST_BOTH"));
    await eventually(async () => expect(certificatesIn((await cacertsOf("cluster-1"))?.["root-cert.pem"])).toBe(2));
    await quiet(10_000);
    await istiods["cluster-1"]?.restart("istiod");
    await quiet(60_000);
    // The other revision may still hand out the roots before.
    for (const mesh of [undefined, CANARY]) expect(reportOf("cluster-1", mesh)?.status?.isControlPlaneOutdated).toBe(true);
    for (let round = 0; round < 3; round++) await restartAll();
    await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
    await eventually(() => expect(reportOf("cluster-1", CANARY)?.status).toEqual(reportOf("cluster-1")?.status));
    const { subjectAltName, fingerprint256 } = await authorityOf("cluster-1");
    expect(subjectAltName).toContain("/sa/istiod-canary");
    expect(subjectAltName).toMatch(/\/sa\/istiod(,|$)/);
    await quiet(600_000);
    expect((await authorityOf("cluster-1")).fingerprint256).toBe(fingerprint256);
    expect(fleet.log.infos.filter((line) => line.startsWith("signed the CA"))).toHaveLength(2);
  });

  it("changes no Secret that control planes of two VirtualMeshes read, and says so on both", async () => {
    await addControlPlane("cluster-1", { revision: "canary", namespace: "istio-system" });
    await eventually(() => expect(stepsNow()).toEqual(["TRUST_BOTH", "TRUST_BOTH"]));
    const before = await cacertsOf("cluster-1");
    const meshes = [{ name: CANARY, namespace: "gloo-mesh" }];
    const other: VirtualMesh = { ...trusting, metadata: { name: "other", namespace: "gloo-mesh" }, spec: { ...trusting.spec, meshes } };
    await fleet.management.create(other);
    await eventually(async () =>
      expect(await warningsOf("cluster-1")).toMatch(
        /Secret istio-system\/cacerts of cluster-1 is read by several control planes .*VirtualMesh gloo-mesh\/other, .*VirtualMesh gloo-mesh\/bookinfo/,
      ),
    );
    await quiet(60_000);
    expect(await cacertsOf("cluster-1")).toEqual(before);
  });

  it("restarts no pod of another control plane, and says that its users have to", async () => {
    await addControlPlane("cluster-1", { revision: "other", namespace: "istio-other" });
    const first = clusterOf("cluster-1");
    await first.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "theirs", labels: { "istio.io/rev": "other" } } });
    const reviews = (await first.get(Deployment, { name: "reviews-v1", namespace: "bookinfo" })) ?? fail();
    await first.create({ ...reviews, metadata: { name: "reviews-v1", namespace: "theirs", labels: reviews.metadata.labels ?? {} } });
    const podsIn = async (namespace: string) => (await first.list(Pod, { namespace })).items.map(({ metadata }) => metadata.uid);
    await eventually(async () => expect(await podsIn("theirs")).toHaveLength(1));
    const [theirs, ours] = [await podsIn("theirs"), await podsIn("bookinfo")];
    await changeMesh({ ...trusting, spec: { ...trusting.spec, mtlsConfig: { ...trusting.spec?.mtlsConfig, autoRestartPods: true } } });
    const ending = new AbortController();
    const serving = Promise.all(CLUSTERS.map((name) => istiods[name]?.serve(ending.signal)));
    await eventually(async () =>
      expect(await warningsOf("cluster-1")).toMatch(
        /restart the workloads of these pods, which use earlier certificates: theirs\/reviews-v1-\S+"/,
      ),
    );
    expect(await podsIn("theirs")).toEqual(theirs);
    expect(ours.filter((uid) => uid !== undefined).length).toBeGreaterThan(0);
    const now = await podsIn("bookinfo");
    expect(now.filter((uid) => ours.includes(uid))).toEqual([]);
    ending.abort();
    await serving;
  });

  it("is never said to be applied before it is", async () => {
    await changeMesh(bookinfoMesh);
    await eventually(async () => expect((await conditionOf("Applied")).status).toBe("True"));
    const { clusterName: _, ...place } = { name: "bookinfo", namespace: "gloo-mesh", clusterName: "" };
    await changeMesh(trusting);
    const { generation } = (await fleet.management.get(VirtualMesh, place))?.metadata ?? {};
    const seen = new Set<string>();
    for (let i = 0; i < 500; i++) {
      const { conditions = [] } = await statusOf(fleet, trusting);
      const applied = conditions.find((one) => one.type === "Applied") as { status: string; observedGeneration?: number; message?: string };
      if (applied?.observedGeneration === generation) seen.add(`${applied?.status} ${applied?.message}`);
      await clock.advance(20);
    }
    expect([...seen].filter((one) => one.startsWith("True"))).toEqual([]);
    expect(seen.size).toBeGreaterThan(0);
  });

  it.each(["of the user", "of the next generation"])(
    "is never said to be applied when its root is another one, %s, before that is in force",
    async (which) => {
      await finished();
      const options = { commonName: "another root", organization: "ours", lifetimeMs: 3650 * 86_400_000, now: clock.now() };
      const { certificate, key } = await createMeshRoot(options, "P-256");
      const place = { name: "another-root", namespace: "gloo-mesh" };
      await fleet.management.create(secretOf(place, { "root-cert.pem": certificate, "key.pem": key }));
      const spec = { ...trusting.spec, mtlsConfig: { shared: { rootCertificateAuthority: { secret: place } } } };
      const annotations = { "isthmus.mesh/root-generation": "2" };
      await changeMesh(which === "of the user" ? { ...trusting, spec } : { ...trusting, metadata: { ...trusting.metadata, annotations } });
      const { generation } = (await fleet.management.get(VirtualMesh, { name: "bookinfo", namespace: "gloo-mesh" }))?.metadata ?? {};
      const [changed, seen] = [clock.now(), new Set<string>()];
      for (let i = 0; i < 500; i++) {
        await clock.advance(20);
        const { conditions = [] } = await statusOf(fleet, trusting);
        for (const type of ["Applied", "TrustInForce"]) {
          const found = conditions.find((one) => one.type === type) as { status: string; observedGeneration?: number; message?: string };
          if (found?.observedGeneration === generation)
            seen.add(`${found.status} ${type} ${found.message} after ${clock.now() - changed} ms`);
        }
      }
      // A root that is generated is no other spec: what was said of it before may stand for as long as it takes to look.
      expect([...seen].filter((one) => one.startsWith("True") && which === "of the user")).toEqual([]);
      expect([...seen].filter((one) => one.startsWith("False"))).not.toEqual([]);
    },
  );

  it("continues when server and agents restart at each step", async () => {
    await eventually(() => expect(stepsNow()).toEqual(["TRUST_BOTH", "TRUST_BOTH"]));
    for (let step = 0; step < 3; step++) {
      await restartPlane();
      await restartAll();
      await restartPlane();
    }
    await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
    const root = await rootSecret();
    for (const name of CLUSTERS) expect((await cacertsOf(name))?.["root-cert.pem"]).toBe(root["root-cert.pem"]);
  });
});

/** What has to restart now, in all clusters: after an abort not each mesh has as much to do. */
async function restartAsTold(): Promise<void> {
  await quiet(30_000);
  for (const name of CLUSTERS) if (reportOf(name)?.status?.isControlPlaneOutdated === true) await istiods[name]?.restart();
  await quiet(240_000);
  for (const name of CLUSTERS) if ((reportOf(name)?.status?.podsToRestart ?? []).length > 0) await istiods[name]?.restartProxies();
  await quiet(30_000);
}

const DAY_MS = 86_400_000;
const CANARY = "istiod-canary-istio-system-cluster-1";

function withMesh(name: string): VirtualMesh {
  return { ...trusting, spec: { ...trusting.spec, meshes: [...(trusting.spec?.meshes ?? []), { name, namespace: "gloo-mesh" }] } };
}

/** Another revision of istiod. */
async function addControlPlane(clusterName: string, { revision, namespace }: { revision: string; namespace: string }): Promise<void> {
  const cluster = clusterOf(clusterName);
  const name = `istiod-${revision}`;
  const place = { namespace: "istio-system" };
  const istiod = (await cluster.get(Deployment, { ...place, name: "istiod" })) ?? fail();
  const config = (await cluster.get(ConfigMap, { ...place, name: "istio" })) ?? fail();
  if (namespace !== "istio-system") await cluster.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  await cluster.create({ ...config, metadata: { name: `istio-${revision}`, namespace } });
  const labels = { app: name, istio: "pilot", "istio.io/rev": revision };
  const template = {
    ...istiod.spec?.template,
    metadata: { labels: { ...labels, "sidecar.istio.io/inject": "false" } },
    spec: { ...istiod.spec?.template?.spec, serviceAccountName: name },
  };
  const spec = { ...istiod.spec, selector: { matchLabels: labels }, template };
  await cluster.create({ ...istiod, metadata: { name, namespace, labels }, spec } as Deployment);
  await quiet(10_000);
}

/** Below the root, with all that it needs of restarts. */
async function finished(): Promise<void> {
  await eventually(() => expect(stepsNow()).toEqual(["TRUST_BOTH", "TRUST_BOTH"]));
  for (let round = 0; round < 3; round++) await restartAll();
  await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
}

async function authorityOf(name: string): Promise<X509Certificate> {
  return new X509Certificate((await cacertsOf(name))?.["ca-cert.pem"] ?? "");
}

function withOptions(intermediateCertOptions: object): VirtualMesh {
  const { mtlsConfig } = trusting.spec ?? {};
  return { ...trusting, spec: { ...trusting.spec, mtlsConfig: { shared: { ...mtlsConfig?.shared, intermediateCertOptions } } } };
}

async function changeMesh(next: VirtualMesh): Promise<void> {
  const known = await fleet.management.get(VirtualMesh, { name: "bookinfo", namespace: "gloo-mesh" });
  await fleet.management.update({ ...next, metadata: { ...next.metadata, resourceVersion: known?.metadata.resourceVersion ?? "" } });
}

/** Days pass while nothing of ours runs, and some minutes after they have. */
async function skip(ms: number): Promise<void> {
  await stopPlane();
  await clock.advance(ms);
  startPlane();
  await quiet(120_000);
}

async function stopPlane(): Promise<void> {
  for (const name of CLUSTERS) await fleet.stopAgent(name);
  await fleet.stopServer();
}

function startPlane(): void {
  fleet.startServer();
  for (const name of CLUSTERS) fleet.startAgent(name);
}

async function restartPlane(): Promise<void> {
  await stopPlane();
  startPlane();
}

function everythingReported(): unknown {
  return CLUSTERS.map((name) => {
    const snapshot = fleet.server(serving).store.snapshotIn(name);
    return [...snapshot.collections().values()].map((collection) => [...collection]);
  });
}
