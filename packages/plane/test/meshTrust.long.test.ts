import { X509Certificate } from "node:crypto";
import { IssuedCertificate, Secret, type VirtualMesh } from "@isthmus/api";
import type { SimulatedCluster } from "@isthmus/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { secretOf, secretTexts } from "../src/identity/secretData.ts";
import { bookinfoMesh, demoFleet, type Fleet, register, statusOf } from "./fleet.ts";
import { type IstiodDouble, istiodDouble } from "./istiodDouble.ts";
import { clock, quiet } from "./virtualTime.ts";

let fleet: Fleet;
let istiods: Record<string, IstiodDouble>;
const CLUSTERS = ["cluster-1", "cluster-2"] as const;

beforeEach(async () => {
  fleet = demoFleet();
  await register(fleet);
  fleet.startServer();
  istiods = {};
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

function reportOf(name: string): IssuedCertificate | undefined {
  const ref = { name: `istiod-istio-system-${name}`, namespace: "gloo-mesh", clusterName: name };
  return fleet.server().store.snapshotIn(name).of(IssuedCertificate).get(ref);
}

const stepsNow = () => CLUSTERS.map((name) => reportOf(name)?.spec?.trust?.step);
const statesNow = () => CLUSTERS.map((name) => reportOf(name)?.status?.state);

async function conditionOf(type: string): Promise<{ readonly status?: string; readonly message?: string }> {
  const { conditions = [] } = await statusOf(fleet, trusting);
  return conditions.find((one) => one.type === type) ?? {};
}

async function warningsOf(mesh: string): Promise<string> {
  const { meshes = {} } = (await statusOf(fleet, trusting)) as { readonly meshes?: Readonly<Record<string, object>> };
  return JSON.stringify(Object.entries(meshes).find(([key]) => key.includes(mesh))?.[1] ?? {});
}

const certificatesIn = (pem = "") => pem.split("-----BEGIN").length - 1;

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
    // Of itself, istiod goes on with the CA that it has.
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
    expect((await issued()).subjectAltName).toBe("URI:spiffe://cluster.local/ns/istio-system/sa/istiod");
    expect(certificatesIn((await cacertsOf("cluster-1"))?.["root-cert.pem"])).toBe(2);
    await quiet(60_000);
    expect(stepsNow()).toEqual(["REISSUE", "REISSUE"]);

    await restartAll();
    await eventually(async () => expect((await cacertsOf("cluster-1"))?.["root-cert.pem"]).toBe(root["root-cert.pem"]));
    await restartAll();
    await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
    expect(stepsNow()).toEqual(["KEEP", "KEEP"]);
    await eventually(async () => expect((await conditionOf("Applied")).status).toBe("True"));
    expect((await cacertsOf("cluster-1"))?.["ca-key.pem"]).not.toBe((await cacertsOf("cluster-2"))?.["ca-key.pem"]);
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
    const seen = JSON.stringify([everythingReported(), infos, warnings, steps]);
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
    expect(reportOf("cluster-2")?.spec?.trust?.waitsFor).toContain("gloo-mesh/istiod-istio-system-cluster-1");
  });
});

function everythingReported(): unknown {
  return CLUSTERS.map((name) => {
    const snapshot = fleet.server().store.snapshotIn(name);
    return [...snapshot.collections().values()].map((collection) => [...collection]);
  });
}
