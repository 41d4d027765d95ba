import { Secret, type VirtualMesh } from "@isthmus/api";
import { displayName, type Report, refOf } from "@isthmus/core";
import { reportOf, warningFinding } from "../../../findings.ts";
import { changedRootOptions } from "../../../policy/generatedRoots.ts";
import { emptyTranslation, type TargetTranslation, type VirtualMeshInputs } from "../../inputs.ts";
import { bareOutputOf, originOf } from "../../outputMetadata.ts";
import { certificateAuthorityOf } from "./certificateAuthority.ts";
import { hasAgent } from "./mtls.ts";

/** The type of a Secret that holds a generated root. */
const GENERATED_ROOT_TYPE = "certificates.mesh.gloo.solo.io/generated_signing_cert";
/** Stands for a value that translation may neither make nor read: the certificates loop makes it, once. */
const GENERATED_VALUE = "<generated>";

/**
 * The Secret of a VirtualMesh's generated root. One that exists is desired as it is; what translation may not read of it reads
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
  return { outputs: [secret], reports: rootSecret === undefined ? [] : keptOptions(virtualMesh, rootSecret) };
}

/** The root stays as it was made: its key is in use. */
function keptOptions(virtualMesh: VirtualMesh, rootSecret: Secret): readonly Report[] {
  const { wanted, made } = changedRootOptions(virtualMesh, rootSecret);
  if (wanted.length === 0) return [];
  const { name } = rootSecret.metadata;
  const message =
    `spec.mtlsConfig.shared.rootCertificateAuthority.generated: ${wanted.join(", ")} ${wanted.length === 1 ? "is" : "are"} not in force: the root in Secret ` +
    `${displayName(rootSecret.metadata)} was made with ${made.join(", ")} and stays as it is: run "meshctl cert rotate meshRoot/${name}" to replace it, or set ` +
    "the former values";
  return [reportOf(refOf(virtualMesh), warningFinding("RootOptionsKept", message))];
}
