import { setMaxListeners } from "node:events";
import { CertificateRequest, IssuedCertificate, Secret, type VirtualMesh } from "@isthmus/api";
import type { SimulatedCluster } from "@isthmus/simulator";
import { networkingOwner } from "@isthmus/translators";
import { expect } from "vitest";
import { secretTexts } from "../src/identity/secretData.ts";
import { type CertificateAgent, startCertificateAgent, startElection } from "../src/index.ts";
import { bookinfoMesh, demoFleet, type Fleet, register, statusOf } from "./fleet.ts";
import { type IstiodDouble, istiodDouble } from "./istiodDouble.ts";
import { clock, meanwhile, quiet } from "./virtualTime.ts";

export const CLUSTERS = ["cluster-1", "cluster-2"] as const;
export const NAMESPACE = "gloo-mesh";
const LEASE = "gloo-mesh-agent";
let processes = 0;

export const meshOf = (name: string) => `istiod-istio-system-${name}`;
export const placeOf = (name: string) => ({ name: meshOf(name), namespace: NAMESPACE });

/** The VirtualMesh of both clusters, whose meshes come below a generated root. */
export function trusting({ ttlDays, generation }: { ttlDays?: number; generation?: string } = {}): VirtualMesh {
  const intermediateCertOptions = { rsaKeySizeBytes: 2048, ...(ttlDays === undefined ? {} : { ttlDays }) };
  const rootCertificateAuthority = { generated: { rsaKeySizeBytes: 2048 } };
  const annotations = generation === undefined ? {} : { "isthmus.mesh/root-generation": generation };
  return {
    ...bookinfoMesh,
    metadata: { ...bookinfoMesh.metadata, annotations },
    spec: { ...bookinfoMesh.spec, mtlsConfig: { shared: { rootCertificateAuthority, intermediateCertOptions } } },
  };
}

/** Lets time pass until `holds` does not throw. Keys take real time. */
export async function eventually(holds: () => void | Promise<void>): Promise<void> {
  for (const end = performance.now() + 120_000; ; await new Promise((resolve) => setTimeout(resolve, 2))) {
    await clock.advance(200);
    try {
      return await holds();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
  }
}

/** Clusters that the server connects to itself; in each of them an agent looks after certificates, and has no connection to the server. */
export interface StandardFleet {
  readonly fleet: Fleet;
  readonly istiods: Readonly<Record<string, IstiodDouble>>;
  clusterOf(name: string): SimulatedCluster;
  /** The agent for certificates. */
  startCertificates(name: string): void;
  stopCertificates(name: string): Promise<void>;
  /** The server's own loops for a cluster. */
  connect(name: string): void;
  write(mesh: VirtualMesh): Promise<void>;
  orderIn(name: string): Promise<IssuedCertificate | undefined>;
  requestIn(name: string): Promise<CertificateRequest | undefined>;
  cacertsOf(name: string): Promise<Readonly<Record<string, string>>>;
  rootOf(name?: string): Promise<string>;
  /** Of the orders as the server knows them. */
  stepsNow(): readonly (string | undefined)[];
  statesNow(): readonly (string | undefined)[];
  phaseOf(name: string): Promise<Readonly<Record<string, unknown>> | undefined>;
  /** As the status says: the control planes first; the proxies once it is known that they get what is new. */
  restartAll(): Promise<void>;
  /** Below the root, with everything restarted. */
  finished(): Promise<void>;
  stop(): Promise<void>;
}

export async function standardFleet(): Promise<StandardFleet> {
  const fleet = demoFleet();
  await register(fleet);
  fleet.startServer();
  const istiods: Record<string, IstiodDouble> = {};
  const agents = new Map<string, { readonly agent: CertificateAgent; readonly stop: AbortController }>();

  function clusterOf(name: string): SimulatedCluster {
    const cluster = fleet.clusters[name];
    if (cluster === undefined) throw new Error(`no cluster ${name}`);
    return cluster;
  }

  function reportOf(name: string): IssuedCertificate | undefined {
    return fleet
      .server()
      .store.snapshotIn(name)
      .of(IssuedCertificate)
      .get({ ...placeOf(name), clusterName: name });
  }

  const it: StandardFleet = {
    fleet,
    istiods,
    clusterOf,
    startCertificates(name) {
      const stop = new AbortController();
      setMaxListeners(0, stop.signal);
      const identity = `agent-${++processes}`;
      const basic = { cluster: clusterOf(name), clock, random: () => 0, log: fleet.log };
      const leadership = startElection({ ...basic, lease: { name: LEASE, namespace: NAMESPACE }, identity }, stop.signal);
      const options = { ...basic, namespace: NAMESPACE, owners: [networkingOwner(NAMESPACE)], leadership, identity };
      agents.set(name, { agent: startCertificateAgent(options, stop.signal), stop });
    },
    async stopCertificates(name) {
      const one = agents.get(name);
      agents.delete(name);
      one?.stop.abort(new Error("the agent was killed"));
      if (one !== undefined) await meanwhile(one.agent.ended);
    },
    connect: (name) => fleet.startAgent(name, { storesOrders: { lease: LEASE } }),
    async write(mesh) {
      await fleet.management.apply(mesh, { fieldManager: "user", force: true });
    },
    orderIn: (name) => clusterOf(name).get(IssuedCertificate, placeOf(name)),
    requestIn: (name) => clusterOf(name).get(CertificateRequest, placeOf(name)),
    async cacertsOf(name) {
      const secret = await clusterOf(name).get(Secret, { name: "cacerts", namespace: "istio-system" });
      return secret === undefined ? {} : secretTexts(secret);
    },
    async rootOf(name = "bookinfo.gloo-mesh") {
      const secret = await fleet.management.get(Secret, { name, namespace: NAMESPACE });
      return secret === undefined ? "" : (secretTexts(secret)["root-cert.pem"] ?? "");
    },
    stepsNow: () => CLUSTERS.map((name) => reportOf(name)?.spec?.trust?.step),
    statesNow: () => CLUSTERS.map((name) => reportOf(name)?.status?.state),
    async phaseOf(name) {
      const { meshes = {} } = (await statusOf(fleet, trusting())) as VirtualMesh["status"] & object;
      return meshes[`${meshOf(name)}.gloo-mesh.`]?.trust;
    },
    async restartAll() {
      for (const name of CLUSTERS) {
        const isOutdated = async () => (await it.orderIn(name))?.status?.isControlPlaneOutdated;
        await eventually(async () => expect(await isOutdated()).toBe(true));
        await quiet(10_000);
        await istiods[name]?.restart();
        await eventually(async () => expect(await isOutdated()).toBeUndefined());
        await quiet(10_000);
        await istiods[name]?.restartProxies();
      }
    },
    async finished() {
      await it.write(trusting());
      for (let round = 0; round < 3; round++) await it.restartAll();
      await eventually(() => expect(it.statesNow()).toEqual(["FINISHED", "FINISHED"]));
    },
    async stop() {
      for (const name of CLUSTERS) await it.stopCertificates(name);
      await fleet.stop();
    },
  };

  for (const name of CLUSTERS) {
    await clusterOf(name).create({ apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } });
    it.connect(name);
    it.startCertificates(name);
  }
  // The pods of the demo are there.
  await quiet(10_000);
  for (const name of CLUSTERS) istiods[name] = await istiodDouble(clusterOf(name));
  return it;
}
