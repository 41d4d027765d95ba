import { X509Certificate } from "node:crypto";
import { IssuedCertificate, type Secret, VirtualMesh } from "@isthmus/api";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MODE_MARK } from "../src/agent/modeMarks.ts";
import { secretTexts } from "../src/identity/secretData.ts";
import { statusOf } from "./fleet.ts";
import { CLUSTERS, eventually, NAMESPACE, type StandardFleet, standardFleet, trusting } from "./standardFleet.ts";
import { quiet } from "./virtualTime.ts";

let all: StandardFleet;
beforeEach(async () => {
  all = await standardFleet();
});
afterEach(() => all.stop());

const there = () => Promise.all(CLUSTERS.map(async (name) => (await all.orderIn(name))?.status?.state));

describe("a VirtualMesh over clusters that the server connects to itself", () => {
  it("has the agent write nothing in a cluster that is observed or frozen, by what its orders say, until it is managed again", async () => {
    const modeOf = async (mode: string) => {
      const registration = {
        apiVersion: "multicluster.solo.io/v1alpha1",
        kind: "KubernetesCluster",
        metadata: { name: "cluster-1", namespace: NAMESPACE },
      };
      await all.fleet.management.apply({ ...registration, spec: { mode } } as never, { fieldManager: "user", force: true });
    };
    const cacerts = { apiVersion: "v1", kind: "Secret", name: "cacerts", namespace: "istio-system", clusterName: "" };
    const isThere = async () => (await all.cacertsOf("cluster-1"))["ca-cert.pem"] !== undefined;
    await all.write(trusting());
    await eventually(async () => expect(await isThere()).toBe(true));
    for (const mode of ["observe", "freeze"]) {
      await modeOf(mode);
      await eventually(async () =>
        expect((await all.orderIn("cluster-1"))?.metadata.annotations?.[MODE_MARK]).toContain(`"mode":"${mode}"`),
      );
      await quiet(5_000);
      if (await isThere()) await all.clusterOf("cluster-1").delete(cacerts, {});
      // Also where the agent starts again.
      await all.stopCertificates("cluster-1");
      all.startCertificates("cluster-1");
      await quiet(180_000);
      expect(await isThere(), mode).toBe(false);
    }
    await modeOf("manage");
    await eventually(async () => expect(await isThere()).toBe(true));
  });

  it("writes no order without a step over one that stands there, while a server that starts has not read the root", async () => {
    await all.write(trusting());
    await eventually(() => expect(all.stepsNow()).toEqual(["TRUST_BOTH", "TRUST_BOTH"]));
    await eventually(async () => expect(await there()).toEqual(["ISSUED", "ISSUED"]));
    for (let round = 0; round < 3; round++) {
      await all.fleet.stopServer();
      for (const name of CLUSTERS) await all.fleet.stopAgent(name);
      const seen: (string | undefined)[] = [];
      const stop = new AbortController();
      const watching = CLUSTERS.map(async (name) => {
        const { resourceVersion } = await all.clusterOf(name).list(IssuedCertificate);
        const changes = all.clusterOf(name).watch(IssuedCertificate, resourceVersion, {}, stop.signal);
        for await (const change of changes) if (change.type === "put") seen.push(change.resource.spec?.trust?.step);
      });
      all.fleet.startServer();
      for (const name of CLUSTERS) all.connect(name);
      await quiet(60_000);
      stop.abort(new Error("the test has seen enough"));
      await Promise.allSettled(watching);
      // The order is another one, of another connection; its step is the same.
      expect(seen.length).toBeGreaterThan(0);
      expect(seen).not.toContain(undefined);
    }
  });

  it("brings running meshes below one root, renews a CA, and moves to another root, by objects in the clusters alone", async () => {
    await all.write(trusting());
    await eventually(() => expect(all.stepsNow()).toEqual(["TRUST_BOTH", "TRUST_BOTH"]));
    await eventually(async () => expect(await there()).toEqual(["ISSUED", "ISSUED"]));
    await eventually(async () => expect((await all.phaseOf("cluster-1"))?.blockedBy).toMatch(/^restart istiod in namespace istio-system/));
    for (let round = 0; round < 3; round++) await all.restartAll();
    await eventually(() => expect(all.statesNow()).toEqual(["FINISHED", "FINISHED"]));
    await eventually(async () => expect(await there()).toEqual(["FINISHED", "FINISHED"]));
    await eventually(async () => expect(await all.phaseOf("cluster-1")).toMatchObject({ state: "FINISHED", step: "KEEP" }));
    const root = await all.rootOf();
    const authorities = await Promise.all(
      CLUSTERS.map(async (name) => new X509Certificate((await all.cacertsOf(name))["ca-cert.pem"] ?? "")),
    );
    for (const [i, name] of CLUSTERS.entries()) {
      expect((await all.cacertsOf(name))["root-cert.pem"]).toBe(root);
      expect(authorities[i]?.checkIssued(new X509Certificate(root))).toBe(true);
      // Answered and installed, a request is gone.
      await eventually(async () => expect(await all.requestIn(name)).toBeUndefined());
    }
    expect(authorities[0]?.publicKey.equals(authorities[1]?.publicKey as never)).toBe(false);

    await all.write(trusting({ ttlDays: 30 }));
    await eventually(async () => expect((await all.cacertsOf("cluster-1"))["ca-cert.pem"]).not.toBe(authorities[0]?.toString()));
    await eventually(() => expect(all.statesNow()).toEqual(["FINISHED", "FINISHED"]));
    expect((await all.cacertsOf("cluster-1"))["root-cert.pem"]).toBe(root);

    await all.write(trusting({ ttlDays: 30, generation: "2" }));
    await eventually(() => expect(all.stepsNow()).toEqual(["TRUST_BOTH", "TRUST_BOTH"]));
    for (let round = 0; round < 3; round++) await all.restartAll();
    await eventually(() => expect(all.statesNow()).toEqual(["FINISHED", "FINISHED"]));
    const next = await all.rootOf("bookinfo.gloo-mesh.root-2");
    for (const name of CLUSTERS) expect((await all.cacertsOf(name))["root-cert.pem"]).toBe(next);
    await noKeyElsewhere();
  });

  /** Each key is in the Secrets of the cluster that made it, and in no other object of any cluster. */
  async function noKeyElsewhere(): Promise<void> {
    const clusters = [all.fleet.management, ...CLUSTERS.map(all.clusterOf)];
    for (const owner of clusters) {
      const texts = owner.objects().flatMap((one) => (one.kind === "Secret" ? Object.values(secretTexts(one as Secret)) : []));
      const keys = texts.filter((text) => text.includes("PRIVATE KEY"));
      for (const key of keys) {
        const [, line = ""] = key.split("\n");
        expect(line.length).toBeGreaterThan(40);
        for (const cluster of clusters) {
          const others = cluster.objects().filter(({ kind }) => kind !== "Secret" || cluster !== owner);
          expect(others.some((one) => JSON.stringify(one).includes(line) || JSON.stringify(one).includes(btoa(key).slice(100, 160)))).toBe(
            false,
          );
        }
      }
    }
  }

  it("continues after restarts of server and agents at each step, and waits for a mesh whose agent is offline", async () => {
    await all.write(trusting());
    await eventually(async () => expect(await there()).toEqual(["ISSUED", "ISSUED"]));
    await all.stopCertificates("cluster-2");
    for (let round = 0; round < 2; round++) {
      await all.fleet.stopServer();
      for (const name of CLUSTERS) await all.fleet.stopAgent(name);
      all.fleet.startServer();
      for (const name of CLUSTERS) all.connect(name);
      await quiet(60_000);
      expect((await all.orderIn("cluster-1"))?.spec?.trust?.step).toBe("TRUST_BOTH");
    }
    all.startCertificates("cluster-2");
    for (let round = 0; round < 3; round++) {
      await all.restartAll();
      await all.stopCertificates("cluster-1");
      all.startCertificates("cluster-1");
      await all.fleet.stopAgent("cluster-2");
      all.connect("cluster-2");
    }
    await eventually(() => expect(all.statesNow()).toEqual(["FINISHED", "FINISHED"]));
    for (const name of CLUSTERS) expect((await all.cacertsOf(name))["root-cert.pem"]).toBe(await all.rootOf());
  });

  it("goes by the last accepted form while the VirtualMesh has an error, in the middle of a move to another root as well", async () => {
    await all.finished();
    const root = await all.rootOf();
    const orders = async () => {
      const specs = await Promise.all(CLUSTERS.map(async (name) => (await all.orderIn(name))?.spec));
      // Terms name connections.
      return specs.map((one) => ({ ...one, trust: { ...one?.trust, term: "" } }));
    };
    const { metadata, spec, ...type } = trusting({ generation: "2" });
    const status = async () => (await statusOf(all.fleet, trusting())) as { readonly state?: string; readonly lastAccepted?: object };
    await eventually(async () => expect((await status()).lastAccepted).toBeDefined());
    const before = await orders();
    // Another root, that of a Secret which is not there, and half of a reference.
    const secret = { name: "of-the-user", namespace: NAMESPACE };
    const mistaken = { meshes: [{ name: "half" }], mtlsConfig: { shared: { rootCertificateAuthority: { secret } } } };
    await all.fleet.management.update({ ...(await live()), spec: mistaken } as VirtualMesh);
    await eventually(async () => expect((await status()).state).toBe("INVALID"));
    await quiet(120_000);
    expect(await orders()).toEqual(before);
    await all.fleet.stopServer();
    for (const name of CLUSTERS) await all.fleet.stopAgent(name);
    all.fleet.startServer();
    for (const name of CLUSTERS) all.connect(name);
    await quiet(120_000);
    expect(await orders()).toEqual(before);
    for (const name of CLUSTERS) expect((await all.cacertsOf(name))["root-cert.pem"]).toBe(root);
    // The annotation is no part of what is wrong.
    const annotated = { ...(await live()), ...type, metadata: { ...(await live()).metadata, ...metadata }, spec: mistaken };
    await all.fleet.management.update(annotated as VirtualMesh);
    await eventually(() => expect(all.stepsNow()).toEqual(["TRUST_BOTH", "TRUST_BOTH"]));
    await all.fleet.management.update({ ...(await live()), spec } as VirtualMesh);
    for (let round = 0; round < 3; round++) await all.restartAll();
    await eventually(() => expect(all.statesNow()).toEqual(["FINISHED", "FINISHED"]));
    const next = await all.rootOf("bookinfo.gloo-mesh.root-2");
    for (const name of CLUSTERS) expect((await all.cacertsOf(name))["root-cert.pem"]).toBe(next);
  });

  async function live(): Promise<VirtualMesh> {
    const found = await all.fleet.management.get(VirtualMesh, { name: "bookinfo", namespace: NAMESPACE });
    if (found === undefined) throw new Error("there is no VirtualMesh");
    return found;
  }

  it("leaves cacerts as it is when the VirtualMesh is deleted, and takes its orders back", async () => {
    await all.finished();
    const before = await Promise.all(CLUSTERS.map(all.cacertsOf));
    await all.fleet.management.delete({ ...trusting(), name: "bookinfo", namespace: NAMESPACE, clusterName: "" });
    await eventually(async () => expect(await Promise.all(CLUSTERS.map(all.orderIn))).toEqual([undefined, undefined]));
    await quiet(120_000);
    expect(await Promise.all(CLUSTERS.map(all.cacertsOf))).toEqual(before);
  });

  it("says of an agent that is gone that nothing is reported, and takes no step on what it said before", async () => {
    await all.write(trusting());
    await eventually(async () => expect(await there()).toEqual(["ISSUED", "ISSUED"]));
    await all.stopCertificates("cluster-2");
    await quiet(90_000);
    await eventually(async () =>
      expect((await all.phaseOf("cluster-2"))?.["blockedBy"]).toMatch(/the agent of cluster cluster-2 has reported nothing/),
    );
    // All that restarts would be needed for has restarted: but nobody says so.
    for (const name of CLUSTERS) {
      await all.istiods[name]?.restart();
      await quiet(20_000);
      await all.istiods[name]?.restartProxies();
    }
    await quiet(120_000);
    expect((await all.orderIn("cluster-1"))?.spec?.trust?.step).toBe("TRUST_BOTH");
    all.startCertificates("cluster-2");
    await eventually(async () => expect((await all.orderIn("cluster-2"))?.status?.podsToRestartCount).toBeGreaterThan(0));
    // It counts what starts after it has seen that the control plane hands out the new roots.
    await quiet(20_000);
    await all.istiods["cluster-2"]?.restartProxies();
    await eventually(() => expect(all.stepsNow()).toEqual(["REISSUE", "REISSUE"]));
  });
});
