import { X509Certificate } from "node:crypto";
import { Deployment, IssuedCertificate, Pod, Secret, VirtualMesh } from "@isthmus/api";
import type { SimulatedCluster } from "@isthmus/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { secretTexts } from "../src/identity/secretData.ts";
import { bookinfoMesh, demoFleet, type Fleet, register, statusOf } from "./fleet.ts";
import { type IstiodDouble, istiodDouble } from "./istiodDouble.ts";
import { clock, quiet } from "./virtualTime.ts";

// Control planes with ISTIO_MULTIROOT_MESH and proxies that ask them for another certificate whenever the bytes of the roots change. The
// oracle looks at every moment: no proxy meets a certificate that it does not trust, and none is restarted.

const CLUSTERS = ["cluster-1", "cluster-2"] as const;
const DAY_S = 86_400;
let fleet: Fleet;
let meshes: Record<string, Mesh>;

/** What a proxy has: the roots that it trusts, and the root of its certificate, PEM. */
interface Leaf {
  readonly roots: readonly string[];
  readonly signer: string;
  readonly endsAt: number;
}

interface Mesh {
  readonly cluster: SimulatedCluster;
  readonly istiod: IstiodDouble;
  /** By uid of the pod. */
  readonly leaves: Map<string, Leaf>;
  /** What istiod has read, the texts of the Secret. */
  texts: Readonly<Record<string, string>>;
  /** Proxies that istiod does not reach: by uid. */
  readonly cut: Set<string>;
  /** Whether somebody looks how old its certificates are. */
  isAsked: number;
}

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

beforeEach(async () => {
  fleet = demoFleet();
  await register(fleet);
  fleet.startServer();
  meshes = {};
  for (const name of CLUSTERS) {
    const cluster = fleet.clusters[name] as SimulatedCluster;
    await cluster.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "gloo-mesh" } });
    fleet.startAgent(name, { leafValidity: (address) => validityOf(name, address) });
  }
  await quiet(10_000);
  for (const name of CLUSTERS) {
    const cluster = fleet.clusters[name] as SimulatedCluster;
    await turnOn(cluster);
    await quiet(5_000);
    meshes[name] = { cluster, istiod: await istiodDouble(cluster), leaves: new Map(), texts: {}, cut: new Set(), isAsked: 0 };
  }
  await fleet.management.create(trusting);
});
afterEach(() => fleet.stop());

/** Sets ISTIO_MULTIROOT_MESH of istiod, whose pods are replaced. */
async function turnOn(cluster: SimulatedCluster): Promise<void> {
  const found = (await cluster.list(Deployment)).items.find(({ metadata }) => metadata.name === "istiod");
  if (found === undefined) throw new Error("no istiod");
  const raw = structuredClone(found) as unknown as { spec: { template: { spec: { containers: Record<string, unknown>[] } } } };
  const env = [{ name: "ISTIO_MULTIROOT_MESH", value: "true" }];
  raw.spec.template.spec.containers = raw.spec.template.spec.containers.map((one) => ({ ...one, env }));
  await cluster.update(raw as unknown as Deployment);
  for (const { apiVersion, kind, metadata } of (await cluster.list(Pod)).items) {
    if (metadata.labels?.["istio"] === "pilot")
      await cluster.delete({ apiVersion, kind, name: metadata.name, namespace: metadata.namespace ?? "", clusterName: cluster.name });
  }
}

async function validityOf(name: string, address: string) {
  const mesh = meshes[name];
  if (mesh === undefined) return undefined;
  mesh.isAsked++;
  const pod = (await rawPods(mesh)).find(({ status }) => status?.podIP === address);
  const leaf = mesh.leaves.get(pod?.metadata.uid ?? "");
  return leaf === undefined ? undefined : { secondsLeft: (leaf.endsAt - clock.now()) / 1_000, endsAt: leaf.endsAt };
}

type RawPod = Pod & { readonly status?: { readonly podIP?: string } };

async function rawPods({ cluster }: Mesh): Promise<readonly RawPod[]> {
  const { items } = await cluster.list(Pod, { transform: (pod) => pod });
  return items as readonly RawPod[];
}

const certificatesIn = (pem: string) => pem.split(/(?=-----BEGIN CERTIFICATE-----)/).filter((one) => one.includes("BEGIN"));
const same = (a: string, b: string) => a.trim() === b.trim();

/** One step of a mesh: istiod reads what changed, if it may; proxies that are new, or that learn of other roots, get a certificate. */
async function act(mesh: Mesh): Promise<void> {
  const secret = await mesh.cluster.get(Secret, { name: "cacerts", namespace: "istio-system" });
  const texts = secret === undefined ? {} : secretTexts(secret);
  const before = mesh.istiod.roots();
  if (mesh.texts["root-cert.pem"] !== undefined && mesh.texts !== texts) {
    const [old, next] = [certificatesIn(before), certificatesIn(texts["root-cert.pem"] ?? "")];
    const contains = (a: readonly string[], b: readonly string[]) => b.every((one) => a.some((other) => same(one, other)));
    if (contains(old, next) || contains(next, old)) {
      await mesh.istiod.reload();
      mesh.texts = texts;
    }
  }
  const pods = (await rawPods(mesh)).filter(({ metadata }) => metadata.labels?.["istio"] !== "pilot");
  const hasOther = mesh.istiod.roots() !== before;
  for (const { metadata } of pods) {
    const uid = metadata.uid ?? "";
    if (mesh.leaves.has(uid) && (!hasOther || mesh.cut.has(uid))) continue;
    const roots = certificatesIn(mesh.istiod.roots());
    const chain = certificatesIn(mesh.texts["cert-chain.pem"] ?? mesh.istiod.roots());
    mesh.leaves.set(uid, { roots, signer: chain.at(-1) ?? "", endsAt: clock.now() + DAY_S * 1_000 });
  }
  const present = new Set(pods.map(({ metadata }) => metadata.uid));
  for (const uid of mesh.leaves.keys()) if (!present.has(uid)) mesh.leaves.delete(uid);
}

/** The pods trust each other within a mesh ever, and across meshes once they have. */
let friends = new Set<string>();
function check(): void {
  for (const one of CLUSTERS) {
    for (const other of CLUSTERS) {
      const [clients, servers] = [[...(meshes[one]?.leaves.values() ?? [])], [...(meshes[other]?.leaves.values() ?? [])]];
      const trusts = clients.every(({ roots }) => servers.every(({ signer }) => roots.some((root) => same(root, signer))));
      if (trusts) friends.add(`${one} ${other}`);
      else expect(friends.has(`${one} ${other}`), `${one} trusts ${other}`).toBe(false);
    }
  }
}

async function eventually(holds: () => void | Promise<void>): Promise<void> {
  for (const end = performance.now() + 120_000; ; await new Promise((resolve) => setTimeout(resolve, 2))) {
    await clock.advance(500);
    for (const mesh of Object.values(meshes)) await act(mesh);
    check();
    try {
      return await holds();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
  }
}

async function passes(ms: number): Promise<void> {
  const end = clock.now() + ms;
  await eventually(() => expect(clock.now()).toBeGreaterThan(end));
}

function reportOf(name: string): IssuedCertificate | undefined {
  const ref = { name: `istiod-istio-system-${name}`, namespace: "gloo-mesh", clusterName: name };
  return fleet.server().store.snapshotIn(name).of(IssuedCertificate).get(ref);
}
const statesNow = () => CLUSTERS.map((name) => reportOf(name)?.status?.state);
const uidsNow = async () =>
  (await Promise.all(CLUSTERS.map((name) => rawPods(meshes[name] as Mesh)))).flat().map(({ metadata }) => metadata.uid);

/** The first `cacerts` needs a restart of each istiod, as one without does not watch for it. */
async function firstRestart(): Promise<void> {
  for (const name of CLUSTERS) {
    const mesh = meshes[name] as Mesh;
    await eventually(() => expect(reportOf(name)?.status?.isControlPlaneOutdated).toBe(true));
    await quiet(10_000);
    await mesh.istiod.restart();
    const secret = await mesh.cluster.get(Secret, { name: "cacerts", namespace: "istio-system" });
    mesh.texts = secret === undefined ? {} : secretTexts(secret);
    // Its proxies connect again, and get its roots.
    mesh.leaves.clear();
  }
}

describe("a mesh with several roots at a time", () => {
  beforeEach(async () => {
    friends = new Set();
    await firstRestart();
    await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
  });

  const rotate = async () => {
    const known = await fleet.management.get(VirtualMesh, { name: "bookinfo", namespace: "gloo-mesh" });
    const annotations = { ...known?.metadata.annotations, "isthmus.mesh/root-generation": "2" };
    await fleet.management.update({ ...(known as VirtualMesh), metadata: { ...(known as VirtualMesh).metadata, annotations } });
  };
  const rootsInUse = () =>
    CLUSTERS.map((name) => [...new Set([...(meshes[name]?.leaves.values() ?? [])].map(({ signer }) => signer.trim()))]);

  it("goes to another root without a restart of any pod", async () => {
    const pods = await uidsNow();
    const [[before]] = rootsInUse() as [string[], string[]];
    await rotate();
    await eventually(() => expect(CLUSTERS.map((name) => reportOf(name)?.spec?.trust?.step)).toEqual(["REISSUE", "REISSUE"]));
    await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
    expect(await uidsNow()).toEqual(pods);
    const [first = [], second] = rootsInUse();
    expect(first).toHaveLength(1);
    expect(second).toEqual(first);
    expect(first[0]).not.toBe(before);
    for (const { leaves } of Object.values(meshes))
      for (const { roots } of leaves.values()) expect(roots.map((one) => one.trim())).toEqual(first);
    expect(new X509Certificate(first[0] ?? "").ca).toBe(true);
    expect(fleet.log.infos.join()).not.toContain("evicted");
  });

  it("waits for a proxy that has not renewed its certificate, and says after minutes that it is to restart", async () => {
    const mesh = meshes["cluster-1"] as Mesh;
    const [uid = ""] = mesh.leaves.keys();
    const pod = (await rawPods(mesh)).find(({ metadata }) => metadata.uid === uid);
    mesh.cut.add(uid);
    await rotate();
    const status = () => reportOf("cluster-1")?.status;
    await eventually(() => expect(status()?.restart).toMatch(/^nothing restarts, as istiod has ISTIO_MULTIROOT_MESH: 1 proxies/));
    await eventually(() => expect(status()?.podsToRestart).toEqual([`${pod?.metadata.namespace}/${pod?.metadata.name}`]));
    await passes(600_000);
    expect(CLUSTERS.map((name) => reportOf(name)?.spec?.trust?.step)).toEqual(["TRUST_BOTH", "TRUST_BOTH"]);
    mesh.cut.delete(uid);
    await mesh.cluster.delete({
      apiVersion: "v1",
      kind: "Pod",
      name: pod?.metadata.name ?? "",
      namespace: pod?.metadata.namespace ?? "",
      clusterName: "cluster-1",
    });
    await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
  });

  it("is shown as such beforehand, and continues where it was when agents start again", async () => {
    await eventually(() => expect(CLUSTERS.map((name) => reportOf(name)?.status?.isMultiRoot)).toEqual([true, true]));
    const pods = await uidsNow();
    await rotate();
    for (let round = 0; round < 6; round++) {
      await passes(20_000);
      await fleet.stopAgent("cluster-1");
      fleet.startAgent("cluster-1", { leafValidity: (address) => validityOf("cluster-1", address) });
    }
    await eventually(() => expect(statesNow()).toEqual(["FINISHED", "FINISHED"]));
    expect(await uidsNow()).toEqual(pods);
    await eventually(async () => {
      const { conditions = [] } = await statusOf(fleet, trusting);
      expect(conditions.find(({ type }) => type === "Applied")?.status).toBe("True");
    });
  });
});
