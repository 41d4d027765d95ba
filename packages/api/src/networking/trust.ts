import { Type } from "@sinclair/typebox";
import { certificateOptions } from "../shared/certificateOptions.ts";
import type { Value } from "../shared/defineKind.ts";
import { userObjectRef } from "../shared/refs.ts";
import { atMostOneOf, userFields } from "../shared/schema.ts";

const kubernetesAuth = userFields(
  {
    mountPath: Type.String({ description: "Where the Kubernetes method is mounted in Vault. Default /v1/auth/kubernetes." }),
    role: Type.String({ description: "Role of Vault to log in as; required." }),
    secretTokenKey: Type.String({ description: "Key of the token in the service account's Secret. Default token." }),
    serviceAccountRef: userObjectRef({ description: "Service account whose token logs in." }),
    mountedSaPath: Type.String({
      description: "File that holds the token. Default /var/run/secrets/kubernetes.io/serviceaccount. It wins over serviceAccountRef.",
    }),
  },
  { description: "Log in with a Kubernetes service account. It wins over tokenSecretRef." },
);

/** A certificate authority in HashiCorp Vault. */
const vaultAuthority = userFields(
  {
    caPath: Type.String({ description: "Path of the CA certificate in Vault." }),
    csrPath: Type.String({ description: "Path that signs intermediates." }),
    server: Type.String({ description: "URL of Vault." }),
    caBundle: Type.String({ format: "byte", description: "PEM certificates, base64, that Vault's own certificate is checked against." }),
    namespace: Type.String({ description: "Namespace of Vault." }),
    tokenSecretRef: userObjectRef({ description: "Secret that holds a Vault token." }),
    kubernetesAuth,
  },
  { description: "HashiCorp Vault signs." },
);

/** Where intermediate certificate authorities come from when their private keys never leave the clusters. */
export const intermediateCertificateAuthority = userFields(
  { vault: vaultAuthority },
  { description: "An authority outside signs the intermediates. It wins over rootCertificateAuthority." },
);

const rootCertificateAuthority = userFields(
  {
    generated: certificateOptions({ description: "A self-signed root is made with these options." }),
    secret: userObjectRef({
      description: "A Secret of the management cluster with root-cert.pem and key.pem. It wins over generated.",
    }),
  },
  { description: "The root that signs the intermediates." },
);

/** How the meshes of a VirtualMesh come to trust each other. */
export const mtlsConfig = userFields(
  {
    shared: userFields(
      {
        rootCertificateAuthority,
        intermediateCertificateAuthority,
        intermediateCertOptions: certificateOptions({ description: "Options of the intermediates that the meshes get." }),
      },
      { description: "All meshes have intermediates of one root. Without a member: a self-signed root is made." },
    ),
    limited: userFields({}, { description: "Not supported: a VirtualMesh that sets it gets an error." }),
    autoRestartPods: Type.Boolean({
      description: "Restart workloads when certificates change, so that they use the new ones. Off by default.",
    }),
  },
  { description: "Trust between the meshes. Omitted: certificates are left as they are.", ...atMostOneOf("shared", "limited") },
);

export type MtlsConfig = Value<typeof mtlsConfig>;
