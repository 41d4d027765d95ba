import type { Destination, VirtualMesh } from "@isthmus/api";
import { formatRef, keyOfResource, type Report, refOf } from "@isthmus/core";
import { type Finding, reportOf, warningFinding } from "../../../findings.ts";
import { selectsDestination } from "../../../policy/selectors.ts";
import type { GatewaySelectionInputs } from "../../meshTranslator.ts";
import { isInfrastructureKnown, isInfrastructureOf } from "../infrastructure.ts";

/**
 * How far a Service is believed to be a gateway: a user who may write a Service and run a pod can give it the labels of one, and any address. `trusted`: it is in a namespace of
 * infrastructure, or the VirtualMesh names it, or its namespace. `kept`: neither, and it has been in use. `taken`: neither, where nothing vouches for anything.
 */
export type GatewayTrust = "trusted" | "kept" | "taken" | "refused";

type TrustInputs = Pick<GatewaySelectionInputs, "mesh" | "virtualMesh" | "inUse">;

/** How far a Service is believed to be a gateway of the mesh. */
export function gatewayTrustOf(destination: Destination, inputs: TrustInputs): GatewayTrust {
  const { namespace = "" } = destination.spec?.kubeService?.ref ?? {};
  if (isInfrastructureOf(inputs.mesh, namespace) || isSelectedByPlace(inputs, destination)) return "trusted";
  if (!isInfrastructureKnown(inputs.mesh)) return "taken";
  return inputs.inUse.includes(keyOfResource(destination)) ? "kept" : "refused";
}

/** Whether the VirtualMesh names a Service, or its namespace: labels alone may be on anybody's. */
export function isSelectedByPlace({ virtualMesh }: { readonly virtualMesh?: VirtualMesh | undefined }, destination: Destination): boolean {
  const selectors = virtualMesh?.spec?.federation?.eastWestIngressGatewaySelectors ?? [];
  const places = selectors.flatMap(({ destinationSelectors = [] }) =>
    destinationSelectors.map(({ kubeServiceMatcher, ...others }) =>
      (kubeServiceMatcher?.namespaces ?? []).length === 0 || kubeServiceMatcher === undefined ? others : { ...others, kubeServiceMatcher },
    ),
  );
  return places.length > 0 && selectsDestination(places, destination);
}

/** What is to be said of a Service that is, or looks like, a gateway, and is not trusted; undefined of others. */
export function untrustedGateway(destination: Destination, trust: GatewayTrust, inputs: TrustInputs): Report | undefined {
  if (trust === "trusted" || trust === "taken") return undefined;
  const { virtualMesh, mesh } = inputs;
  return reportOf(refOf(virtualMesh), notTrusted(destination, trust), refOf(mesh));
}

function notTrusted(destination: Destination, trust: "kept" | "refused"): Finding {
  const { namespace = "", clusterName = "" } = destination.spec?.kubeService?.ref ?? {};
  const consequence =
    trust === "kept" ? "it stays the east-west gateway because it has been in use" : "it is not used as east-west gateway";
  return warningFinding(
    "GatewayNotTrusted",
    `${formatRef(refOf(destination))}: not trusted: namespace ${namespace}: ${consequence}; if it is a gateway of the mesh, add ${namespace} to namespaces in ` +
      `spec.federation.eastWestIngressGatewaySelectors, or to spec.systemNamespaces of KubernetesCluster ${clusterName}`,
  );
}
