import type { VirtualMesh } from "@isthmus/api";
import { demoPolicies } from "@isthmus/simulator";
import { DEMO_ROOT } from "./proxyTrust.ts";

/** Joins both meshes below the root that their users have made: every service of each can be called from the other, and takes over from it. */
export const demoVirtualMesh: VirtualMesh = {
  ...demoPolicies.virtualMesh,
  spec: {
    ...demoPolicies.virtualMesh.spec,
    mtlsConfig: {
      shared: { rootCertificateAuthority: { secret: DEMO_ROOT }, intermediateCertOptions: { rsaKeySizeBytes: 2048 } },
      // The CAs that users have made are left by one restart of istiod; all that follows is taken over while it runs.
      autoRestartPods: true,
    },
    federation: { ...demoPolicies.virtualMesh.spec?.federation, failover: {} },
  },
};

/** The same for the meshes of some clusters. */
export function demoVirtualMeshOf(clusters: readonly string[]): VirtualMesh {
  const meshes = clusters.map((name) => ({ name: `istiod-istio-system-${name}`, namespace: demoVirtualMesh.metadata.namespace ?? "" }));
  return { ...demoVirtualMesh, spec: { ...demoVirtualMesh.spec, meshes } };
}

/** The same below the root that comes after the one in use: a generated one, and the next one each time. */
export function withNextRoot(mesh: VirtualMesh): VirtualMesh {
  const { metadata, spec } = mesh;
  const shared = spec?.mtlsConfig?.shared;
  const isGenerated = shared?.rootCertificateAuthority?.generated !== undefined;
  const generation = Number(metadata.annotations?.[GENERATION] ?? 1) + (isGenerated ? 1 : 0);
  const annotations = {
    ...metadata.annotations,
    [GENERATION]: String(generation),
    // So that the change can be undone.
    ...(isGenerated
      ? { [PREVIOUS_GENERATION]: `${generation - 1}, before ${generation}` }
      : { "isthmus.mesh/previous-roots": `${DEMO_ROOT.namespace}/${DEMO_ROOT.name}` }),
  };
  const rootCertificateAuthority = { generated: { rsaKeySizeBytes: 2048, ttlDays: 365 } };
  return {
    ...mesh,
    metadata: { ...metadata, annotations },
    spec: { ...spec, mtlsConfig: { ...spec?.mtlsConfig, shared: { ...shared, rootCertificateAuthority } } },
  };
}

const GENERATION = "isthmus.mesh/root-generation";
// By which `meshctl cert rotate --abort` knows where to go back.
const PREVIOUS_GENERATION = "isthmus.mesh/previous-root-generation";
