import { Type } from "@sinclair/typebox";
import { certificateOptions } from "../shared/certificateOptions.ts";
import type { Value } from "../shared/defineKind.ts";
import { userObjectRef } from "../shared/refs.ts";
import { atMostOneOf, userFields } from "../shared/schema.ts";

const kubernetesAuth = userFields(
  {
    mountPath: Type.String({ description: "Mount path of the Kubernetes auth method in Vault. Default /v1/auth/kubernetes." }),
    role: Type.String({ description: "Vault role to log in as. Required." }),
    secretTokenKey: Type.String({ description: "Key of the token in the Secret of the service account. Default token." }),
    serviceAccountRef: userObjectRef({ description: "Service account whose token is used to log in." }),
    mountedSaPath: Type.String({
      description: "File with the token. Default /var/run/secrets/kubernetes.io/serviceaccount. Takes precedence over serviceAccountRef.",
    }),
  },
  { description: "Log in with a Kubernetes service account. Takes precedence over tokenSecretRef." },
);

/** A certificate authority in HashiCorp Vault. */
const vaultAuthority = userFields(
  {
    caPath: Type.String({ description: "Path in Vault that signs intermediate CA certificates, such as pki/root/sign-intermediate." }),
    csrPath: Type.String({
      description: "Not used: agents make keys and requests themselves, so that private keys stay in their clusters.",
    }),
    server: Type.String({
      description: "URL of Vault. Agents call only the servers in the value meshCertificates.vault.servers of their chart.",
    }),
    caBundle: Type.String({ format: "byte", description: "CA certificates to verify Vault's server certificate with; PEM, base64." }),
    namespace: Type.String({ description: "Vault namespace." }),
    tokenSecretRef: userObjectRef({
      description: "Secret with a Vault token in key token, in the namespace of the agent of each cluster; its name begins with vault-.",
    }),
    kubernetesAuth,
  },
  { description: "HashiCorp Vault signs the certificates, on request of the agent of each cluster." },
);

/** Where intermediate certificate authorities come from when their private keys never leave the clusters. */
export const intermediateCertificateAuthority = userFields(
  { vault: vaultAuthority },
  {
    description:
      "An external certificate authority signs the intermediate CA certificates. Takes precedence over rootCertificateAuthority.",
  },
);

const rootCertificateAuthority = userFields(
  {
    generated: certificateOptions({ description: "Generates a self-signed root certificate with these options." }),
    secret: userObjectRef({
      description: "Secret in the management cluster with root-cert.pem and key.pem. Takes precedence over generated.",
    }),
  },
  { description: "Root certificate authority that signs the intermediate CA certificates." },
);

/** How the meshes of a VirtualMesh come to trust each other. */
export const mtlsConfig = userFields(
  {
    shared: userFields(
      {
        rootCertificateAuthority,
        intermediateCertificateAuthority,
        intermediateCertOptions: certificateOptions({ description: "Options of the intermediate CA certificates of the meshes." }),
      },
      { description: "All meshes have intermediate CA certificates of one root. If empty, a self-signed root certificate is generated." },
    ),
    limited: userFields({}, { description: "Not supported: a VirtualMesh that sets it is rejected." }),
    autoRestartPods: Type.Boolean({
      description: "Restarts workloads when certificates change, so that they use the new ones. Default false.",
    }),
  },
  { description: "Trust between the meshes. If omitted, certificates are not managed.", ...atMostOneOf("shared", "limited") },
);

export type MtlsConfig = Value<typeof mtlsConfig>;
