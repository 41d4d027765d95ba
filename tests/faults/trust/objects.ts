import { createMeshRoot } from "@isthmus/certificates";
import type { AnyResource } from "@isthmus/core";
import { meshConfig, virtualMesh } from "../objects.ts";

/** What a mesh with certificates has beside what every cluster of a schedule has. */

export const ISTIO = meshConfig(0).metadata.namespace ?? "";
export const SECRET = { apiVersion: "v1", kind: "Secret" } as const;
export const CACERTS = { ...SECRET, name: "cacerts", namespace: ISTIO } as const;
/** Of a control plane that has made its own CA. Source: Istio, security/pkg/pki/ca. */
export const OWN_CA = { ...SECRET, name: "istio-ca-secret", namespace: ISTIO } as const;
/** The one sign of the roots that a control plane has read. */
export const HANDED_OUT = "istio-ca-root-cert";

/** What makes pods, and how many of them. That of the control plane is first. */
export const REPLICA_SETS = [
  { name: "istiod-1", namespace: ISTIO, replicas: 1 },
  { name: "edge-1", namespace: ISTIO, replicas: 2 },
] as const;

const CONTROL_PLANE = { app: "istiod", istio: "pilot" };

export function isControlPlane({ metadata }: AnyResource): boolean {
  return metadata.namespace === ISTIO && metadata.labels?.["istio"] === CONTROL_PLANE.istio;
}

export function replicaSet({ name, namespace }: { readonly name: string; readonly namespace: string }): AnyResource {
  const { labels, spec } = templateOf(name);
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: { name, namespace, labels },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: spec as never } },
  };
}

/** A pod as its ReplicaSet makes it. */
export function podOf(owner: AnyResource, name: string): AnyResource {
  const { namespace = "", labels = {}, uid = "" } = owner.metadata;
  const isIstio = namespace === ISTIO;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace,
      labels,
      ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: owner.metadata.name, uid, controller: true }],
    },
    spec: isIstio ? templateOf(owner.metadata.name).spec : templateOf("edge-1").spec,
  };
}

function templateOf(name: string) {
  const container =
    name === REPLICA_SETS[0].name
      ? { name: "discovery", image: "docker.io/istio/pilot:1.27.0" }
      : { name: "istio-proxy", image: "docker.io/istio/proxyv2:1.27.1" };
  return { labels: name === REPLICA_SETS[0].name ? CONTROL_PLANE : { app: "edge" }, spec: { containers: [container] } };
}

/** Where a VirtualMesh has its root from. */
export const ROOTS = ["generated 1", "generated 2", "secret 1", "secret 2"] as const;
export type RootName = (typeof ROOTS)[number];

const { apiVersion, kind, metadata: PLACE } = virtualMesh([], 0);
export const VIRTUAL_MESH = { apiVersion, kind, name: PLACE.name, namespace: PLACE.namespace ?? "" } as const;

export function rootSecret(root: RootName): { readonly name: string; readonly namespace: string } {
  const names: Readonly<Record<RootName, string>> = {
    "generated 1": `${PLACE.name}.${PLACE.namespace}`,
    "generated 2": `${PLACE.name}.${PLACE.namespace}.root-2`,
    "secret 1": "root-one",
    "secret 2": "root-two",
  };
  return { name: names[root], namespace: VIRTUAL_MESH.namespace };
}

/** What those who look after certificates say of the VirtualMesh: others decide about everything else of it. */
export function trustOf(root: RootName, { restartsPods }: { readonly restartsPods: boolean }): AnyResource {
  const isGenerated = root.startsWith("generated");
  const authority = isGenerated ? { generated: { rsaKeySizeBytes: KEY_BITS } } : { secret: rootSecret(root) };
  const annotations = { "isthmus.mesh/root-generation": root === "generated 2" ? "2" : "1" };
  const shared = { rootCertificateAuthority: authority, intermediateCertOptions: { rsaKeySizeBytes: KEY_BITS, ttlDays: 30 } };
  return {
    apiVersion,
    kind,
    metadata: { ...PLACE, annotations },
    spec: { mtlsConfig: { shared, ...(restartsPods ? { autoRestartPods: true } : {}) } },
  } as AnyResource;
}

/** A demand to issue the CA of a mesh again; another text is another demand. */
export function reissueOf(clusterName: string, text: string): AnyResource {
  return { apiVersion, kind, metadata: { ...PLACE, annotations: { [`reissue.isthmus.mesh/${meshName(clusterName)}`]: text } } };
}

/** A CA of somebody else, in the place of that of the mesh. */
export async function foreignAuthority(now: number): Promise<AnyResource> {
  const { certificate, key } = await createMeshRoot(
    { commonName: "theirs", organization: "users", lifetimeMs: 3650 * 86_400_000, now },
    "P-256",
  );
  const texts = { "ca-cert.pem": certificate, "ca-key.pem": key, "cert-chain.pem": certificate, "root-cert.pem": certificate };
  const data = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, btoa(text)]));
  const { name, namespace } = CACERTS;
  return { ...SECRET, metadata: { name, namespace }, data };
}

/** The name of a cluster's mesh. */
export function meshName(clusterName: string): string {
  return `istiod-${ISTIO}-${clusterName}`;
}

// The least that is taken.
const KEY_BITS = 2048;
