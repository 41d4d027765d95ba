import { X509Certificate } from "node:crypto";
import type { AnyResource, ResourceRef } from "@isthmus/core";
import type { SimulatedCluster } from "@isthmus/simulator";
import type { Fleet } from "../fleet.ts";
import { type FleetTrust, isBrokenOwn, isListed, virtualMeshSpec } from "./fleetTrust.ts";
import { dataOf, type MeshDouble } from "./meshDouble.ts";
import { CACERTS, ISTIO, meshName, OWN_CA, rootSecret, VIRTUAL_MESH } from "./objects.ts";

interface Clusters {
  readonly management: SimulatedCluster;
  readonly clusters: ReadonlyMap<string, SimulatedCluster>;
}

/** What is not as it ought to be of the meshes' certificates, now that everything is healed and has had its time. `places`: the clusters that are registered. */
export function trustProblems(
  world: FleetTrust,
  { management, clusters, date }: Clusters & Pick<Fleet, "date">,
  places: ReadonlySet<string>,
): string[] {
  const spec = virtualMeshSpec(management);
  if (spec?.mtlsConfig?.shared === undefined) return [];
  const { status, message = "" } = conditionOf(management.object(VIRTUAL_MESH));
  const listed = [...clusters].filter(([name]) => isListed(spec, name));
  const absent = listed.filter(([name, cluster]) => !places.has(name) || cluster.object(ISTIOD) === undefined);
  if (absent.length > 0) {
    // One of which no mesh is known is INVALID, and names them in its errors.
    const told = [message, ...errorsOf(management.object(VIRTUAL_MESH))].join("; ");
    const unnamed = absent.filter(([name]) => !told.includes(meshName(name)));
    if (status === "True") return ["the VirtualMesh says that its root is in force, though meshes are away"];
    return unnamed.map(([name]) => `the VirtualMesh does not say that ${meshName(name)} is away: ${told}`);
  }
  const root = rootNow(management);
  const problems = listed.flatMap(([name, cluster]) => {
    const leaves = [...(world.meshes.get(name)?.proxies.values() ?? [])];
    const others = leaves.filter(({ roots, signer }) => signer !== root || roots.length !== 1);
    const isBelow = dataOf(cluster.object(CACERTS))["root-cert.pem"] === root;
    return others.length === 0 && isBelow
      ? []
      : [`the mesh of ${name} is not below the root: ${others.length} of ${leaves.length} proxies`];
  });
  problems.push(...listed.flatMap(([name, cluster]) => expiryProblems(name, { cluster, mesh: world.meshes.get(name), now: date() })));
  if (listed.length > 0 && status !== "True") problems.push(`the VirtualMesh does not say that its root is in force: ${message}`);
  return problems;
}

/** A CA is renewed when a tenth of its life is left, and the control plane signs with none that has expired. */
function expiryProblems(
  name: string,
  { cluster, mesh, now }: { readonly cluster: SimulatedCluster; readonly mesh: MeshDouble | undefined; readonly now: number },
): string[] {
  const lifeOf = (pem: string) => {
    const { validFrom, validTo } = new X509Certificate(pem);
    return { from: Date.parse(validFrom), to: Date.parse(validTo) };
  };
  const problems: string[] = [];
  const installed = dataOf(cluster.object(CACERTS))["ca-cert.pem"];
  if (installed !== undefined) {
    const { from, to } = lifeOf(installed);
    const late = now - (to - (to - from) * DUE_RATIO);
    // Clocks of agents may be slow.
    if (late > GREATEST_SKEW_MS)
      problems.push(`the CA of the mesh of ${name} was not renewed, ${Math.round(late / 60_000)} minutes after it was due`);
  }
  const inUse = mesh?.authority?.certificate;
  if (inUse !== undefined && lifeOf(inUse).to <= now) problems.push(`the control plane of ${name} signs with a CA that has expired`);
  return problems;
}

// The default of secretRotationGracePeriodRatio.
const DUE_RATIO = 0.1;
const GREATEST_SKEW_MS = 2 * 3_600_000;

/** What a user does about Secrets that are not as they were: puts them back where there were some, deletes what no control plane can use, and restarts everything, as the status says. */
export async function mendTrust({ meshes, tampered, lastSecret }: FleetTrust, { clusters }: Clusters): Promise<void> {
  for (const name of tampered) {
    const [cluster, secret, mesh] = [clusters.get(name), lastSecret(name), meshes.get(name)];
    if (cluster === undefined || mesh === undefined) continue;
    // A control plane makes itself another one, also where that Secret was deleted.
    if (isBrokenOwn(cluster)) await cluster.delete({ ...OWN_CA, clusterName: name });
    if (secret !== undefined) await restored(cluster, secret);
    else await adopted(cluster);
    mesh.restart("control plane");
    mesh.restartProxies();
  }
}

/** Users restart what the status of the VirtualMesh names, where they have not asked the agents to: the control planes first. */
export async function restartByUsers({ meshes }: FleetTrust, { management, clock }: Clusters & Pick<Fleet, "clock">): Promise<void> {
  const { shared, autoRestartPods } = virtualMeshSpec(management)?.mtlsConfig ?? {};
  const { status } = conditionOf(management.object(VIRTUAL_MESH));
  if (shared === undefined || autoRestartPods === true || status === "True") return;
  // Times of pods are whole seconds, and clocks may differ by some.
  await clock.advance(SKEW_MS);
  for (const mesh of meshes.values()) mesh.restart("control plane");
  await clock.advance(READ_MS);
  for (const mesh of meshes.values()) mesh.restartProxies();
}

const SKEW_MS = 6_500;
// The agent looks every 5 s, and counts what starts 5 s after that.
const READ_MS = 20_000;

async function restored(cluster: SimulatedCluster, secret: AnyResource): Promise<void> {
  const { resourceVersion: _, uid: __, managedFields: ___, creationTimestamp: ____, ...metadata } = secret.metadata;
  const there = cluster.object(CACERTS);
  if (there === undefined) await cluster.create({ ...secret, metadata });
  else await cluster.update({ ...secret, metadata: { ...metadata, resourceVersion: there.metadata.resourceVersion ?? "" } });
}

/** A user permits to replace what somebody else has put there, and deletes what is no CA at all. */
async function adopted(cluster: SimulatedCluster): Promise<void> {
  const there = cluster.object(CACERTS);
  if (there === undefined) return;
  const { "ca-cert.pem": certificate, "ca-key.pem": key } = dataOf(there);
  if (certificate === undefined || key === undefined) {
    await cluster.delete({ ...CACERTS, clusterName: cluster.name });
    return;
  }
  const annotations = { ...there.metadata.annotations, "isthmus.mesh/adopt": "true" };
  const { managedFields: _, ...metadata } = there.metadata;
  await cluster.update({ ...there, metadata: { ...metadata, annotations } });
}

const ISTIOD: Omit<ResourceRef, "clusterName"> = { apiVersion: "apps/v1", kind: "Deployment", name: "istiod", namespace: ISTIO };

/** The root that the VirtualMesh names, in PEM. */
function rootNow(management: SimulatedCluster): string | undefined {
  const named = virtualMeshSpec(management)?.mtlsConfig?.shared?.rootCertificateAuthority?.secret;
  const generation = management.object(VIRTUAL_MESH)?.metadata.annotations?.["isthmus.mesh/root-generation"] ?? "1";
  const place =
    named === undefined ? rootSecret(generation === "2" ? "generated 2" : "generated 1") : { ...named, namespace: VIRTUAL_MESH.namespace };
  return dataOf(management.object({ apiVersion: "v1", kind: "Secret", ...place }))["root-cert.pem"];
}

function errorsOf(virtualMesh: AnyResource | undefined): readonly string[] {
  return ((virtualMesh?.["status"] ?? {}) as { readonly errors?: readonly string[] }).errors ?? [];
}

function conditionOf(virtualMesh: AnyResource | undefined): { readonly status?: string; readonly message?: string } {
  const { conditions = [] } = (virtualMesh?.["status"] ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
  };
  return conditions.find(({ type }) => type === "TrustInForce") ?? {};
}
