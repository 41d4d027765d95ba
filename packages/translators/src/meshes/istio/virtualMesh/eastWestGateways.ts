import { Gateway, type Mesh, type VirtualMesh } from "@isthmus/api";
import { DEFAULT_HOSTNAME_SUFFIX, formatRef, type Output, type Report, refOf, sanitizedName } from "@isthmus/core";
import { type Finding, invalidFinding, reportOf, warningFinding } from "../../../findings.ts";
import { emptyTranslation, type IngressGatewayRef as GatewayInUse, type MeshInputs, type TargetTranslation } from "../../inputs.ts";
import { originOf, outputOf } from "../../outputMetadata.ts";
import { familiesOf, isReachableFrom } from "../addressFamilies.ts";

/**
 * Opens a mesh's gateways to the other meshes of its VirtualMesh: TLS for any federated host passes, unopened, to the service
 * that its SNI names. A mesh without a usable gateway is reported; its own traffic and its calls to others go on.
 */
export function eastWestGatewaysOf(inputs: MeshInputs): TargetTranslation {
  const { mesh, virtualMesh, gateways } = inputs;
  if (virtualMesh === undefined || (virtualMesh.spec?.meshes ?? []).length < 2) return emptyTranslation;
  if (gateways.length === 0) return { outputs: [], reports: [reportOf(refOf(virtualMesh), gatewayMissing(mesh), refOf(mesh))] };
  return { outputs: gateways.map((gateway) => gatewayOutput(inputs, virtualMesh, gateway)), reports: familyReports(inputs, virtualMesh) };
}

/** That clusters have no route to a mesh, as its gateways have addresses of the other family alone. */
function familyReports({ mesh, meshes, gateways }: MeshInputs, virtualMesh: VirtualMesh): readonly Report[] {
  if (gateways.every(({ externalAddresses }) => externalAddresses.length === 0)) return [];
  const own = mesh.spec?.istio?.installation?.cluster;
  const callers = meshes.filter(({ spec }) => spec?.istio !== undefined && spec.istio.installation?.cluster !== own);
  const lacking = callers.filter((caller) => !isReachableFrom(familiesOf(caller), gateways));
  if (lacking.length === 0) return [];
  const clusters = [...new Set(lacking.map(({ spec }) => spec?.istio?.installation?.cluster ?? ""))].sort();
  const families = [...new Set(lacking.flatMap(familiesOf))].sort();
  const addresses = gateways.flatMap(({ externalAddresses }) => externalAddresses);
  const message =
    `${formatRef(refOf(mesh))} is reached at ${addresses.slice(0, SHOWN).join(", ")}, and Services of ${clusters.slice(0, SHOWN).join(", ")} have ${families.join(" and ")} addresses alone: ` +
    `calls from there fail unless their pods have a route: give its gateways an ${families.join(" and ")} address, or a host name`;
  return [reportOf(refOf(virtualMesh), warningFinding("AddressFamilyMissing", message), refOf(mesh))];
}

const SHOWN = 5;

/** That other clusters cannot reach a mesh. */
export function gatewayMissing(mesh: Mesh): Finding {
  return invalidFinding(
    "GatewayMissing",
    `${formatRef(refOf(mesh))} has no usable east-west gateway, so its services cannot be called from other clusters: ` +
      "add a Service of type LoadBalancer or NodePort with a port named tls, whose pods have the label istio: ingressgateway, " +
      "or select one in spec.federation.eastWestIngressGatewaySelectors",
  );
}

function gatewayOutput(
  { mesh, translationContext }: MeshInputs,
  virtualMesh: VirtualMesh,
  { destination, containerPort }: GatewayInUse,
): Output {
  const { namespace = "", cluster = "" } = mesh.spec?.istio?.installation ?? {};
  const suffix = virtualMesh.spec?.federation?.hostnameSuffix || DEFAULT_HOSTNAME_SUFFIX;
  const name = sanitizedName(`${destination.metadata.name}-${destination.metadata.namespace ?? ""}`);
  const origin = originOf({ translationContext, parents: [virtualMesh] });
  return outputOf({ name, namespace, clusterName: cluster, origin }, Gateway, passthrough({ destination, containerPort }, `*.${suffix}`));
}

/** Lets TLS connections with mutual authentication for some host in, to wherever Istio knows it to be. */
export function passthrough({ destination, containerPort }: Pick<GatewayInUse, "destination" | "containerPort">, host: string) {
  return {
    selector: destination.spec?.kubeService?.workloadSelectorLabels ?? {},
    servers: [{ port: { number: containerPort, protocol: "TLS", name: "tls" }, hosts: [host], tls: { mode: "AUTO_PASSTHROUGH" } }],
  } satisfies Gateway["spec"];
}
