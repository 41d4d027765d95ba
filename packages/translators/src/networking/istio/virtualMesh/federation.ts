import { DestinationRule, type Mesh, ServiceEntry, type ServiceEntrySpec } from "@isthmus/api";
import { type Output, type Resource, refOf } from "@isthmus/core";
import { reported } from "../../../findings.ts";
import { combined, type DestinationInputs, nothing, type TargetTranslation } from "../../../inputs.ts";
import { outputOf } from "../../outputMetadata.ts";
import { destinationRuleFor } from "../destinationRules.ts";
import { remoteSource } from "../source.ts";
import { virtualServiceFor } from "../virtualServices.ts";
import { type EndpointGroup, type FederatedService, federatedServiceOf } from "./federatedService.ts";
import { federationFindings, reachabilityFindings } from "./federationFindings.ts";

/**
 * Makes a Destination callable from the meshes it is federated to. There: a ServiceEntry for its federated host, whose endpoints
 * are the gateways of its own mesh, with the routes and connection settings of its policies. At home: a ServiceEntry that leads
 * the host on from the gateways to the pods. What can't be federated was found by attachment (`federationRefusals`).
 */
export function federate(inputs: DestinationInputs): TargetTranslation {
  const service = federatedServiceOf(inputs);
  if (service === undefined) return nothing;
  const remote = combined(service.remotes.map((mesh) => remoteResources(inputs, service, mesh)));
  const unreachable = reachabilityFindings(service, remote.outputs.map(({ resource }) => resource).filter(isDestinationRule));
  const reports = [...federationFindings(service), ...unreachable].map((finding) =>
    reported(refOf(service.virtualMesh), finding, refOf(inputs.destination)),
  );
  return combined([remote, { outputs: localResources(inputs, service, remote.outputs), reports }]);
}

function remoteResources(inputs: DestinationInputs, service: FederatedService, mesh: Mesh): TargetTranslation {
  const source = remoteSource(mesh);
  const spec = { addresses: [service.virtualIp.address], ...serviceEntrySpec(service, service.atGateways) };
  const serviceEntry = hostOutput(inputs, service, mesh, { ...SERVICE_ENTRY, spec });
  return combined([{ outputs: [serviceEntry], reports: [] }, virtualServiceFor(inputs, source), destinationRuleFor(inputs, source)]);
}

function localResources(inputs: DestinationInputs, service: FederatedService, remote: readonly Output[]): readonly Output[] {
  // For the gateways alone, which run beside the control plane: workloads at home use the local host name.
  const spec = { exportTo: ["."], ...serviceEntrySpec(service, service.atPods) };
  const serviceEntry = hostOutput(inputs, service, service.home, { ...SERVICE_ENTRY, spec });
  // The SNI names the subset, so the gateways must know the subsets of the callers.
  const rule = remote.map(({ resource }) => resource).find(isDestinationRule);
  if (rule === undefined) return [serviceEntry];
  return [serviceEntry, hostOutput(inputs, service, service.home, { ...DESTINATION_RULE, spec: { ...rule.spec, host: service.hostname } })];
}

function serviceEntrySpec({ hostname, ports }: FederatedService, { endpoints, resolution }: EndpointGroup): ServiceEntrySpec {
  return {
    hosts: [hostname],
    location: "MESH_INTERNAL",
    ports,
    ...(resolution === undefined ? {} : { resolution }),
    ...(endpoints.length === 0 ? {} : { endpoints }),
  };
}

/** An object about the federated host, named after it, beside a mesh's control plane. */
function hostOutput(
  { surroundings }: DestinationInputs,
  { hostname, virtualMesh }: FederatedService,
  mesh: Mesh,
  body: { readonly apiVersion: string; readonly kind: string; readonly spec: object },
): Output {
  const { namespace = "", cluster = "" } = mesh.spec?.istio?.installation ?? {};
  return outputOf({ name: hostname, namespace, clusterName: cluster, owner: surroundings.namespace, parents: [virtualMesh] }, body);
}

function isDestinationRule(resource: Resource): resource is DestinationRule {
  return resource.kind === DestinationRule.kind;
}

const SERVICE_ENTRY = { apiVersion: ServiceEntry.apiVersion, kind: ServiceEntry.kind };
const DESTINATION_RULE = { apiVersion: DestinationRule.apiVersion, kind: DestinationRule.kind };
