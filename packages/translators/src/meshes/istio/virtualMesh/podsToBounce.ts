import type { PodBounceSelector, VirtualMesh } from "@isthmus/api";
import type { MeshInputs } from "../../inputs.ts";

/**
 * The pods that restart once a mesh has a new certificate authority, in order: istiod, which then signs with it; then the
 * gateways and every workload, each once the new root has reached its namespace. Empty unless the VirtualMesh asks for restarts.
 */
export function podsToBounce({ mesh, workloads }: MeshInputs, virtualMesh: VirtualMesh): readonly PodBounceSelector[] {
  if (virtualMesh.spec?.mtlsConfig?.autoRestartPods !== true) return [];
  const { installation = {}, ingressGateways = [] } = mesh.spec?.istio ?? {};
  const { namespace = "", podLabels = {} } = installation;
  const afterRoot = (podNamespace: string, labels: Readonly<Record<string, string>>): PodBounceSelector => ({
    namespace: podNamespace,
    labels,
    rootCertSync: {
      secretRef: { name: "cacerts", namespace },
      secretKey: ROOT_KEY,
      // istiod writes its root into every namespace under this name.
      configMapRef: { name: "istio-ca-root-cert", namespace: podNamespace },
      configMapKey: ROOT_KEY,
    },
  });
  const selectors: readonly PodBounceSelector[] = [
    { namespace, labels: podLabels, waitForReplicas: 1 },
    ...ingressGateways.map(({ workloadLabels = {} }) => afterRoot(namespace, workloadLabels)),
    ...workloads.flatMap(({ spec }) => {
      const { controller, podLabels: labels = {} } = spec?.kubernetes ?? {};
      return controller?.namespace === undefined ? [] : [afterRoot(controller.namespace, labels)];
    }),
  ];
  // No labels would mean every pod of the namespace.
  return selectors.filter(({ labels = {} }) => Object.keys(labels).length > 0);
}

const ROOT_KEY = "root-cert.pem";
