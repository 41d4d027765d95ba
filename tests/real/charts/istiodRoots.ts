import { ConfigMap } from "@isthmus/api";
import { createMeshRoot } from "@isthmus/certificates";
import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { applyAll } from "../harness/manifests.ts";

const ROOT = "istio-system";

/** What istiod leaves in a cluster when it starts without `cacerts`: a CA of its own, whose root it hands out. */
export async function leaveOwnAuthority(cluster: Cluster, namespaces: readonly string[]): Promise<void> {
  const options = { commonName: "own", organization: "cluster.local", lifetimeMs: 3650 * 86_400_000, now: Date.now() };
  const { certificate, key } = await createMeshRoot(options, "P-256");
  const data = { "ca-cert.pem": btoa(certificate), "ca-key.pem": btoa(key) };
  await applyAll(cluster, [
    { apiVersion: "v1", kind: "Secret", metadata: { name: "istio-ca-secret", namespace: ROOT }, data } as AnyResource,
  ]);
  await handOut(cluster, certificate, namespaces);
}

/** Roots, as istiod hands them out in each namespace. */
export async function handOut(cluster: Cluster, roots: string, namespaces: readonly string[]): Promise<void> {
  const { apiVersion, kind } = ConfigMap;
  const metadata = (namespace: string) => ({ name: "istio-ca-root-cert", namespace });
  await applyAll(
    cluster,
    namespaces.map((namespace) => ({ apiVersion, kind, metadata: metadata(namespace), data: { "root-cert.pem": roots } }) as AnyResource),
  );
}
