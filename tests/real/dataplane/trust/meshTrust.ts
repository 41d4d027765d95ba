import { Secret } from "@isthmus/api";
import { fingerprints } from "@isthmus/certificates";
import type { AnyResource } from "@isthmus/core";
import type { EndToEnd } from "../endToEnd/endToEnd.ts";
import { virtualMesh } from "../harness/resources.ts";
import { clusterNames, type PairedCluster } from "../harness/testbed.ts";
import { freshConnections } from "./freshConnections.ts";

/** A root that the server makes, and where it keeps it. */
export const GENERATED = { generated: { rsaKeySizeBytes: 2048 } };
export const GENERATED_ROOT = { name: "virtual-mesh.gloo-mesh", namespace: "gloo-mesh" };
const SLOTS = {
  "cluster-1": [
    "productpage-v1",
    "productpage-v1~2",
    "sleep",
    "reviews-v1",
    "reviews-v1~2",
    "istio-ingressgateway",
    "istio-ingressgateway~2",
  ],
  "cluster-2": ["productpage-v1", "productpage-v1~2", "reviews-v1", "reviews-v1~2", "istio-ingressgateway", "istio-ingressgateway~2"],
} as const;

/** One of each workload stays: a second eviction is refused until the first pod is back. */
const budgets = ["productpage", "reviews"].map((app): AnyResource => {
  const spec = { minAvailable: 1, selector: { matchLabels: { app } } };
  return { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: app, namespace: "bookinfo" }, spec };
});

/** A VirtualMesh of both meshes with one root. */
export function trusting(
  rootCertificateAuthority: object,
  { ttlDays, autoRestartPods = false }: { readonly ttlDays?: number; readonly autoRestartPods?: boolean } = {},
): AnyResource {
  const intermediateCertOptions = { rsaKeySizeBytes: 2048, ...(ttlDays === undefined ? {} : { ttlDays }) };
  return virtualMesh({ mtlsConfig: { shared: { rootCertificateAuthority, intermediateCertOptions }, autoRestartPods } });
}

/** What stories about the roots of two meshes do and look at. */
export interface MeshTrust {
  /** Makes these the objects of users in the management cluster, beside what each story has in the others. */
  write(...management: readonly AnyResource[]): Promise<void>;
  isApplied(mesh: AnyResource): Promise<boolean>;
  /** The texts of Secret cacerts. */
  cacertsOf(name: PairedCluster): Promise<Readonly<Record<string, string>>>;
  /** Fingerprint of the root in a Secret of the management cluster. */
  rootIn(ref: { readonly name: string; readonly namespace: string }): Promise<string>;
  /** What each proxy trusts, without repeats. */
  trustedRoots(): Promise<readonly string[]>;
}

export function meshTrustOf(endToEnd: EndToEnd): MeshTrust {
  const own = [freshConnections, ...budgets];
  return {
    write: (...management) => endToEnd.usersWrite({ management, "cluster-1": own, "cluster-2": own }),
    isApplied: async (mesh) => (await endToEnd.statusOf(mesh)).applied === "True",
    async cacertsOf(name) {
      const secret = await endToEnd.clusters[name].get(Secret, { name: "cacerts", namespace: "istio-system" });
      return Object.fromEntries(Object.entries(secret?.data ?? {}).map(([key, value]) => [key, atob(value)]));
    },
    async rootIn(ref) {
      const secret = await endToEnd.clusters.management.get(Secret, ref);
      const [fingerprint = ""] = await fingerprints(atob(secret?.data?.["root-cert.pem"] ?? ""));
      return fingerprint;
    },
    async trustedRoots() {
      const all = await endToEnd.certificatesOf(clusterNames.flatMap((name) => SLOTS[name].map((slot) => `${name}/${slot}`)));
      return [...new Set(Object.values(all).flatMap(({ roots }) => roots))];
    },
  };
}
