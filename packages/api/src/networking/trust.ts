import { Type } from "@sinclair/typebox";
import { certificateOptions } from "../shared/certificateOptions.ts";
import type { Value } from "../shared/defineKind.ts";
import { userObjectRef } from "../shared/refs.ts";
import { atMostOneOf, userFields } from "../shared/schema.ts";

const kubernetesAuth = userFields(
  {
    mountPath: Type.String({ description: "Mount path of the Kubernetes auth method in Vault. Default: `/v1/auth/kubernetes`." }),
    role: Type.String({ description: "Vault role to log in as. Required." }),
    secretTokenKey: Type.String({ description: "Not used: the agent logs in with the token of its own service account." }),
    serviceAccountRef: userObjectRef({
      description: "Not supported: the agent logs in with its own service account, and does not log in if another one is set.",
    }),
    mountedSaPath: Type.String({
      description:
        "Where the token of the agent's own service account is. With another place the agent does not log in. Default: `/var/run/secrets/kubernetes.io/serviceaccount`.",
    }),
  },
  { description: "Log in with the service account of the agent. Takes precedence over tokenSecretRef. Default: tokenSecretRef is used." },
);

/** A certificate authority in HashiCorp Vault. */
const vaultAuthority = userFields(
  {
    caPath: Type.String({
      description: "Path in Vault that signs intermediate CA certificates, such as pki/root/sign-intermediate. Required.",
    }),
    csrPath: Type.String({
      description: "Not used: agents make keys and requests themselves, so that private keys stay in their clusters.",
    }),
    server: Type.String({
      description: "URL of Vault. Agents call only the servers in the value meshCertificates.vault.servers of their chart. Required.",
    }),
    caBundle: Type.String({
      format: "byte",
      description: "CA certificates to verify Vault's server certificate with; PEM, base64. Empty: those that the agent trusts anyway.",
    }),
    namespace: Type.String({ description: "Vault namespace. Empty: none." }),
    tokenSecretRef: userObjectRef({
      description:
        "Secret with a Vault token in key token, in the namespace of the agent of each cluster; its name begins with vault-. Required unless kubernetesAuth is set.",
    }),
    kubernetesAuth,
  },
  { description: "HashiCorp Vault signs the certificates, on request of the agent of each cluster. Required." },
);

/** Where intermediate certificate authorities come from when their private keys never leave the clusters. */
export const intermediateCertificateAuthority = userFields(
  { vault: vaultAuthority },
  {
    description:
      "An external certificate authority signs the intermediate CA certificates. Takes precedence over rootCertificateAuthority. Default: the root certificate authority signs them.",
  },
);

const rootCertificateAuthority = userFields(
  {
    generated: certificateOptions("gloo-mesh", {
      description: "Generates a self-signed root certificate with these options. Required unless secret is set.",
    }),
    secret: userObjectRef({
      description:
        "Secret in the management cluster with root-cert.pem and key.pem. Takes precedence over generated. Required unless generated is set.",
    }),
  },
  {
    description:
      "Root certificate authority that signs the intermediate CA certificates. Default: a self-signed root certificate is generated.",
  },
);

/** How the meshes of a VirtualMesh come to trust each other. */
export const mtlsConfig = userFields(
  {
    shared: userFields(
      {
        rootCertificateAuthority,
        intermediateCertificateAuthority,
        intermediateCertOptions: certificateOptions("Istio", { description: "Options of the intermediate CA certificates of the meshes." }),
      },
      {
        description:
          "All meshes have intermediate CA certificates of one root. If empty, a self-signed root certificate is generated. Required.",
      },
    ),
    limited: userFields({}, { description: "Not supported: a VirtualMesh that sets it is rejected." }),
    autoRestartPods: Type.Boolean({
      description: "Restarts workloads when certificates change, so that they use the new ones. Default: false.",
    }),
  },
  { description: "Trust between the meshes. Default: certificates are not managed.", ...atMostOneOf("shared", "limited") },
);

export type MtlsConfig = Value<typeof mtlsConfig>;
