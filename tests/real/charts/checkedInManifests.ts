import type { RenderOptions } from "../harness/helm.ts";

/** A file of deploy/manifests. */
export interface CheckedInManifest extends Omit<RenderOptions, "components"> {
  readonly file: string;
  /** Who needs it, and what is to be done with it. */
  readonly about: string;
}

/** Every file of deploy/manifests. */
export const manifests: readonly CheckedInManifest[] = [
  {
    file: "gloo-mesh-agent.yaml",
    chart: "gloo-mesh-agent",
    kubeVersion: "1.30.0",
    // No name that the schema admits could be mistaken for one of these.
    skipsSchema: true,
    values: { relay: { cluster: "CLUSTER_NAME", serverAddress: "RELAY_ADDRESS", authority: "RELAY_AUTHORITY" } },
    about: `The agent, for its own cluster: replace CLUSTER_NAME (the name of the cluster), RELAY_ADDRESS (host:port of the management server) and
RELAY_AUTHORITY (a DNS name in the server's certificate, by default gloo-mesh-mgmt-server.gloo-mesh). The namespace gloo-mesh, the CRDs and the
Secrets relay-root-tls-secret and relay-identity-token-secret are not part of it; meshctl cluster token prints those Secrets. Kubernetes before 1.30 has no
ValidatingAdmissionPolicies: leave them out there.`,
  },
  {
    file: "gloo-mesh-mgmt-server.yaml",
    chart: "gloo-mesh-mgmt-server",
    about: `The management server with a Redis of its own, in the namespace gloo-mesh, which is not part of it. The CRDs (deploy/crds) come first.
The server generates its certificates and the token when their Secrets are absent.`,
  },
];
