import { AuthorizationPolicy, type IngressGateway, type Mesh, type VirtualMesh } from "@isthmus/api";
import { equalJson, md5Hex, type Output, sanitizedName } from "@isthmus/core";
import { isAccessClosed } from "../../../policy/virtualMeshDoubts.ts";
import { emptyTranslation, type IngressGatewayRef, type MeshInputs, type TargetTranslation } from "../../inputs.ts";
import { originOf, outputOf } from "../../outputMetadata.ts";

/**
 * With `globalAccessPolicy: ENABLED` nothing in the mesh may be called unless an AccessPolicy allows it. Gateways are exempted,
 * those that discovery noted and those in use: they are called from outside, where nobody has an identity.
 */
export function globalAccessOf(inputs: MeshInputs): TargetTranslation {
  const { virtualMesh } = inputs;
  if (virtualMesh === undefined || !isAccessClosed(virtualMesh)) return emptyTranslation;
  const denyAll = authorizationPolicy(inputs, virtualMesh, "global-access-control", {});
  const exempted = exemptedGateways(inputs).map(({ name, labels }) =>
    // One empty rule holds for every request.
    authorizationPolicy(inputs, virtualMesh, name, { rules: [{}], selector: { matchLabels: labels } }),
  );
  return { outputs: [denyAll, ...exempted], reports: [] };
}

interface ExemptedGateway {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

function exemptedGateways({ mesh, gateways }: MeshInputs): readonly ExemptedGateway[] {
  const noted = mesh.spec?.istio?.ingressGateways ?? [];
  const others = gateways.filter((gateway) => !noted.some((one) => isSame(one, gateway)));
  const candidates = [
    ...noted.map(({ dnsName, ip, name, externalAddress, workloadLabels = {} }) => ({
      address: dnsName || ip || name || externalAddress,
      labels: workloadLabels,
    })),
    ...others.map(({ destination, externalAddresses }) => ({
      address: externalAddresses[0] ?? destination.metadata.name,
      labels: destination.spec?.kubeService?.workloadSelectorLabels ?? {},
    })),
  ];
  const byName = new Map<string, ExemptedGateway>();
  for (const { address, labels } of candidates) {
    // In the mesh's root namespace a policy without selector would allow everything everywhere.
    if (Object.keys(labels).length === 0) continue;
    // The address is shortened without the prefix: names have room for both.
    const usual = `${NAME_PREFIX}${sanitizedName(address || suffixOf(labels))}`;
    const taken = byName.get(usual);
    // Two gateways may stand behind one address.
    const name = taken === undefined || equalJson(taken.labels, labels) ? usual : `${usual}-${suffixOf(labels)}`;
    byName.set(name, { name, labels });
  }
  return [...byName.values()];
}

function isSame(noted: IngressGateway, { destination }: IngressGatewayRef): boolean {
  const { ref, workloadSelectorLabels } = destination.spec?.kubeService ?? {};
  return (
    (noted.name === ref?.name && noted.namespace === ref?.namespace) || equalJson(noted.workloadLabels ?? {}, workloadSelectorLabels ?? {})
  );
}

function suffixOf(labels: Readonly<Record<string, string>>): string {
  return md5Hex(JSON.stringify(Object.entries(labels).sort())).slice(0, 8);
}

function authorizationPolicy(
  { mesh, translationContext }: { readonly mesh: Mesh; readonly translationContext: MeshInputs["translationContext"] },
  virtualMesh: VirtualMesh,
  name: string,
  spec: NonNullable<AuthorizationPolicy["spec"]>,
): Output {
  const { namespace = "", cluster = "" } = mesh.spec?.istio?.installation ?? {};
  const origin = originOf({ translationContext, parents: [virtualMesh] });
  return outputOf({ name, namespace, clusterName: cluster, origin }, AuthorizationPolicy, spec);
}

const NAME_PREFIX = "allow-ingress-gateway-";
