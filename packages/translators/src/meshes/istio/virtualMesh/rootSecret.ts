import { Secret } from "@isthmus/api";
import { emptyTranslation, type TargetTranslation, type VirtualMeshInputs } from "../../inputs.ts";
import { bareOutputOf, originOf } from "../../outputMetadata.ts";
import { certificateAuthorityOf } from "./certificateAuthority.ts";
import { hasAgent } from "./mtls.ts";

/** The type of a Secret that holds a generated root. */
const GENERATED_ROOT_TYPE = "certificates.mesh.gloo.solo.io/generated_signing_cert";
/** Stands for a value that translation may neither make nor read: the certificates loop makes it, once. */
const GENERATED_VALUE = "<generated>";

/**
 * The Secret of a VirtualMesh's generated root. One that exists is wanted as it is; what translation may not read of it reads
 * `<generated>`, as do the values of one that is yet to be made.
 */
export function rootSecretOf({ virtualMesh, meshes, rootSecret, translationContext }: VirtualMeshInputs): TargetTranslation {
  const authority = certificateAuthorityOf(virtualMesh, translationContext.namespace, rootSecret);
  if (authority.type !== "generated" || !meshes.some((mesh) => mesh.spec?.istio !== undefined && hasAgent(mesh))) return emptyTranslation;
  const existing = rootSecret?.type === GENERATED_ROOT_TYPE ? rootSecret.data : {};
  const data = Object.fromEntries(
    Object.entries({ "root-cert.pem": "", "key.pem": "", ...existing }).map(([key, value]) => [key, value || GENERATED_VALUE]),
  );
  const secret = bareOutputOf(
    { ...authority.secret, clusterName: "", origin: originOf({ translationContext, parents: [virtualMesh] }) },
    { apiVersion: Secret.apiVersion, kind: Secret.kind, type: GENERATED_ROOT_TYPE, data },
  );
  return { outputs: [secret], reports: [] };
}
