import {
  IssuedCertificate,
  type IssuedCertificateSpec,
  type Mesh,
  type MtlsConfig,
  PodBounceDirective,
  type VirtualMesh,
} from "@isthmus/api";
import { type ObjectRef, refOf } from "@isthmus/core";
import { type Finding, reportOf } from "../../../findings.ts";
import { emptyTranslation, type MeshInputs, type TargetTranslation } from "../../inputs.ts";
import { type OutputIdentity, originOf, outputOf } from "../../outputMetadata.ts";
import { type CertificateAuthority, certificateAuthorityOf } from "./certificateAuthority.ts";
import { podsToBounce } from "./podsToBounce.ts";
import { trustProgress } from "./trustProgress.ts";

/**
 * Asks a mesh's agent for a certificate authority below the VirtualMesh's root, and says which pods restart with it. The key is
 * made in the mesh's cluster and never leaves it; signing is not translation's business.
 */
export function certificatesOf(inputs: MeshInputs): TargetTranslation {
  const { mesh, virtualMesh, rootSecret, translationContext } = inputs;
  if (virtualMesh === undefined) return emptyTranslation;
  const authority = certificateAuthorityOf(virtualMesh, translationContext.namespace, rootSecret);
  if (authority.type === "none") return emptyTranslation;
  if (authority.type === "invalid") {
    // A mesh that gets no certificate anyway, as it has no agent, stays in force whatever is to sign them.
    const isMissed = hasAgent(mesh) || virtualMesh.spec?.mtlsConfig?.shared === undefined;
    const finding: Finding = isMissed ? authority.finding : { ...authority.finding, state: "WARNING" };
    return { outputs: [], reports: [reportOf(refOf(virtualMesh), finding, refOf(mesh))] };
  }
  // Without an agent there is nobody to make a key.
  if (!hasAgent(mesh)) return { outputs: [], reports: trustProgress(inputs, virtualMesh, undefined) };

  const identity = outputIdentity(inputs, virtualMesh);
  const bounced = podsToBounce(inputs, virtualMesh);
  const directive = bounced.length === 0 ? undefined : { name: identity.name, namespace: identity.namespace };
  const spec = certificateSpec(mesh, virtualMesh.spec?.mtlsConfig ?? {}, authority, directive);
  const progress = trustProgress(inputs, virtualMesh, spec);
  const certificate = outputOf(identity, IssuedCertificate, spec);
  if (directive === undefined) return { outputs: [certificate], reports: progress };
  return { outputs: [certificate, outputOf(identity, PodBounceDirective, { podsToBounce: bounced })], reports: progress };
}

/** Whether an agent runs in the mesh's cluster that can make certificates for it. */
export function hasAgent(mesh: Mesh): boolean {
  return mesh.spec?.agentInfo !== undefined;
}

type SigningAuthority = Exclude<CertificateAuthority, { type: "none" | "invalid" }>;

function certificateSpec(
  mesh: Mesh,
  { shared }: MtlsConfig,
  authority: SigningAuthority,
  podBounceDirective: ObjectRef | undefined,
): IssuedCertificateSpec {
  const { installation = {}, trustDomain, istiodServiceAccount } = mesh.spec?.istio ?? {};
  const namespace = installation.namespace || DEFAULT_NAMESPACE;
  const options = shared?.intermediateCertOptions ?? {};
  return {
    hosts: [`spiffe://${trustDomain || "cluster.local"}/ns/${namespace}/sa/${istiodServiceAccount || "istio-citadel"}`],
    org: DEFAULT_ORGANISATION,
    // Zero stands for the default, as everywhere in the published API.
    certOptions: {
      orgName: options.orgName || DEFAULT_ORGANISATION,
      ttlDays: options.ttlDays || 365,
      rsaKeySizeBytes: options.rsaKeySizeBytes || 4096,
      secretRotationGracePeriodRatio: options.secretRotationGracePeriodRatio || 0.1,
    },
    ...(authority.type === "external"
      ? { agentCa: authority.authority }
      : { glooMeshCa: { signingCertificateSecret: authority.secret }, signingCertificateSecret: authority.secret }),
    // Where istiod finds its own CA. Source: istio.io, "Plug in CA Certificates".
    issuedCertificateSecret: { name: "cacerts", namespace },
    ...(podBounceDirective === undefined ? {} : { podBounceDirective }),
  };
}

function outputIdentity({ mesh, translationContext }: MeshInputs, virtualMesh: VirtualMesh): OutputIdentity {
  return {
    name: mesh.metadata.name,
    namespace: mesh.spec?.agentInfo?.agentNamespace ?? "",
    clusterName: mesh.spec?.istio?.installation?.cluster ?? "",
    origin: originOf({ translationContext, parents: [virtualMesh] }),
  };
}

const DEFAULT_NAMESPACE = "istio-system";
const DEFAULT_ORGANISATION = "Istio";
