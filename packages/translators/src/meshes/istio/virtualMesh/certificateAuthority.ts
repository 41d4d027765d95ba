import type { IssuedCertificateSpec, MtlsConfig, VirtualMesh } from "@isthmus/api";
import type { ObjectRef, Resource } from "@isthmus/core";
import { type Finding, invalidFinding } from "../../../findings.ts";
import { generatedRootName, ROOT_GENERATION, rootGenerationOf } from "../../../policy/generatedRoots.ts";

/** What signs the certificate authorities of a VirtualMesh's meshes. */
export type CertificateAuthority =
  /** Certificates are left as they are. */
  | { readonly type: "none" }
  /** A root that is made once and lives in a Secret of the management cluster. */
  | { readonly type: "generated"; readonly secret: ObjectRef; readonly options: GeneratedRootOptions }
  /** A root that the user keeps in a Secret of the management cluster. */
  | { readonly type: "secret"; readonly secret: ObjectRef }
  /** An authority outside, which agents ask themselves. */
  | { readonly type: "external"; readonly authority: NonNullable<IssuedCertificateSpec["agentCa"]> }
  | { readonly type: "invalid"; readonly finding: Finding };

/** How a self-signed root is made; every field has its default. */
export type GeneratedRootOptions = NonNullable<NonNullable<NonNullable<MtlsConfig["shared"]>["rootCertificateAuthority"]>["generated"]>;

/**
 * What `spec.mtlsConfig` asks for. `rootSecret` is the Secret of the generated root, when there is one already: its key was made
 * once and stays, whatever the options say now.
 */
export function certificateAuthorityOf(
  virtualMesh: VirtualMesh,
  namespace: string,
  rootSecret: Resource | undefined,
): CertificateAuthority {
  const { mtlsConfig } = virtualMesh.spec ?? {};
  if (mtlsConfig === undefined) return { type: "none" };
  const { shared, limited } = mtlsConfig;
  if (shared === undefined) return { type: "invalid", finding: limited === undefined ? TRUST_MODEL_MISSING : LIMITED_TRUST_UNSUPPORTED };

  const { intermediateCertificateAuthority, rootCertificateAuthority, intermediateCertOptions } = shared;
  if ((intermediateCertOptions?.secretRotationGracePeriodRatio ?? 0) >= 1) return { type: "invalid", finding: RENEWED_AT_ONCE };
  // Where several are set, the published product takes the one that its API declares last.
  if (intermediateCertificateAuthority !== undefined) {
    if (intermediateCertificateAuthority.vault !== undefined) return { type: "external", authority: intermediateCertificateAuthority };
    return { type: "invalid", finding: sourceMissing("intermediateCertificateAuthority", "vault") };
  }
  // `shared: {}` is documented as a generated, self-signed root.
  if (rootCertificateAuthority === undefined) return generatedRoot(virtualMesh, namespace, {}, rootSecret);
  const { generated, secret } = rootCertificateAuthority;
  if (secret !== undefined) return userRoot(secret);
  if (generated === undefined) return { type: "invalid", finding: sourceMissing("rootCertificateAuthority", "generated or secret") };
  return generatedRoot(virtualMesh, namespace, generated, rootSecret);
}

/** The Secret that holds the generated root of a VirtualMesh. */
function generatedRootRef(virtualMesh: VirtualMesh, namespace: string): ObjectRef {
  return { name: generatedRootName(virtualMesh), namespace };
}

function generatedRoot(
  virtualMesh: VirtualMesh,
  namespace: string,
  options: GeneratedRootOptions,
  rootSecret: Resource | undefined,
): CertificateAuthority {
  if (rootGenerationOf(virtualMesh) === undefined) {
    const message = `metadata.annotations[${ROOT_GENERATION}]: is not a number from 1: set the number of the root, or run "meshctl cert rotate"`;
    return { type: "invalid", finding: invalidFinding("RootGenerationInvalid", message) };
  }
  const size = options.rsaKeySizeBytes ?? 0;
  if (rootSecret === undefined && size !== 0 && size < MINIMUM_KEY_BITS) {
    const message =
      `spec.mtlsConfig.shared.rootCertificateAuthority.generated.rsaKeySizeBytes: ` +
      `${size} bits are fewer than ${MINIMUM_KEY_BITS}: set ${MINIMUM_KEY_BITS} or more, or remove it to get 4096`;
    return { type: "invalid", finding: invalidFinding("KeyTooSmall", message) };
  }
  return { type: "generated", secret: generatedRootRef(virtualMesh, namespace), options };
}

function userRoot({ name = "", namespace = "" }: { readonly name?: string; readonly namespace?: string }): CertificateAuthority {
  if (name !== "" && namespace !== "") return { type: "secret", secret: { name, namespace } };
  const message =
    "spec.mtlsConfig.shared.rootCertificateAuthority.secret: name and namespace are required: name a Secret of the management cluster with root-cert.pem and key.pem";
  return { type: "invalid", finding: invalidFinding("RootSecretIncomplete", message) };
}

function sourceMissing(field: string, members: string): Finding {
  return invalidFinding(
    "CertificateAuthorityMissing",
    `spec.mtlsConfig.shared.${field}: has no source: set ${members}, or remove ${field} to get a self-signed root`,
  );
}

const TRUST_MODEL_MISSING = invalidFinding("TrustModelMissing", "spec.mtlsConfig: has no trust model: set shared, or remove mtlsConfig");
const LIMITED_TRUST_UNSUPPORTED = invalidFinding("LimitedTrustUnsupported", "spec.mtlsConfig.limited: is not supported: use shared");
const RENEWED_AT_ONCE = invalidFinding(
  "RenewalRatioTooLarge",
  "spec.mtlsConfig.shared.intermediateCertOptions.secretRotationGracePeriodRatio: is not less than 1, so each certificate would be renewed as soon as it is " +
    "issued: set a fraction such as 0.1, or remove it",
);
// Shorter RSA keys count as broken. Source: NIST SP 800-131A.
const MINIMUM_KEY_BITS = 2048;
