import { type Destination, DestinationRule, type Mesh, ServiceEntry, type ServiceEntryPort, type ServiceEntrySpec } from "@isthmus/api";
import { merged, type Output, type Resource, refOf, withoutUndefined } from "@isthmus/core";
import { reportOf } from "../../../findings.ts";
import { failoverHostname } from "../../../policy/hosts/hostnames.ts";
import { type DestinationInputs, emptyTranslation, type TargetTranslation } from "../../inputs.ts";
import type { AppliedFederation } from "../../meshTranslator.ts";
import { originOf, outputOf } from "../../outputMetadata.ts";
import { identitiesOf, subjectAltNames } from "../access/identities.ts";
import { familiesOf, virtualIpsIn } from "../addressFamilies.ts";
import { remoteSource } from "../source.ts";
import type { SourceObjects } from "../sourceObjects.ts";
import { forAllNamespaces, forGateways, type Visibility } from "../visibility.ts";
import { type FederatedEndpoints, type FederatedService, federatedServiceOf } from "./federatedService.ts";
import { federationFindings, reachabilityFindings } from "./federationFindings.ts";
import { FAILOVER_SUFFIX } from "./federationWithheld.ts";
import { federatedPorts } from "./ports.ts";
import { unwrittenRuleFindings } from "./unwrittenRules.ts";

/**
 * Makes a Destination callable from the meshes it is federated to. There: a ServiceEntry for its federated host, whose endpoints
 * are the gateways of its own mesh, with the routes and connection settings of its policies. At home: a ServiceEntry that leads
 * the host on from the gateways to the pods. What can't be federated was found by attachment (`federationRefusals`).
 */
export function federate(inputs: DestinationInputs, objectsFrom: SourceObjects): TargetTranslation {
  const service = federatedServiceOf(inputs);
  if (service === undefined) return emptyTranslation;
  const atHost = hostOutputs(inputs, service);
  const outputs = remoteOutputs(inputs, { service, atHost, objectsFrom });
  const rules = outputs.map(({ resource }) => resource).filter(isDestinationRule);
  const reports = [
    ...federationFindings(service),
    ...reachabilityFindings(service, rules),
    ...unwrittenRuleFindings(inputs, service, rules),
  ].map((finding) => reportOf(refOf(service.virtualMesh), finding, refOf(inputs.destination)));
  return { outputs: [...outputs, ...localOutputs(inputs, { service, atHost }, rules[0])], reports };
}

interface Writers {
  readonly service: FederatedService;
  readonly atHost: HostOutputs;
  readonly objectsFrom: SourceObjects;
}

function remoteOutputs(
  { destination, translationContext }: DestinationInputs,
  { service, atHost, objectsFrom }: Writers,
): readonly Output[] {
  const { virtualMesh, virtualIp, atGateways } = service;
  const federates = destination.spec?.kubeService?.ref;
  const origin = originOf({ translationContext, parents: [virtualMesh], annotationsOf: destination, ...(federates && { federates }) });
  // One for all with the same families, as nearly all of them have.
  const specs = new Map<string, ServiceEntrySpec>();
  const accepted = subjectAltNames([identitiesOf(destination, service.home)]);
  const outputs: Output[] = [];
  for (const mesh of service.remotes) {
    const families = familiesOf(mesh);
    const key = families.join();
    const spec =
      specs.get(key) ??
      serviceEntrySpec({ addresses: virtualIpsIn(families, virtualIp.address), ...accepted }, service, atGateways(families));
    specs.set(key, spec);
    outputs.push(atHost(mesh, ServiceEntry, forAllNamespaces(mesh, ServiceEntry, spec)));
    for (const output of objectsFrom(remoteSource(mesh), origin)) outputs.push(output);
  }
  return outputs;
}

function localOutputs(
  { gateways }: DestinationInputs,
  { service, atHost }: Omit<Writers, "objectsFrom">,
  rule: DestinationRule | undefined,
): readonly Output[] {
  // For the gateways alone: workloads at home use the local host name.
  const exportTo = forGateways(service.home, gateways);
  const spec = serviceEntrySpec({ exportTo }, service, service.atPods);
  const serviceEntries = withFailoverHost(service, spec).map((one, i) =>
    atHost(service.home, ServiceEntry, one, i === 0 ? "" : FAILOVER_SUFFIX),
  );
  // The SNI names the subset, so the gateways must know the subsets of the callers.
  if (rule === undefined) return serviceEntries;
  const { exportTo: _, ...ofCallers } = rule.spec ?? {};
  // Beside the control plane it is seen without a word.
  const isSeen = exportTo.length === 1 && !service.home.spec?.istio?.privateByDefault?.includes(DestinationRule.kind);
  const seenBy = isSeen ? {} : { exportTo };
  return [...serviceEntries, atHost(service.home, DestinationRule, merged(ofCallers, { host: service.hostname, ...seenBy }))];
}

/**
 * Under a second name, the same in all clusters, where others fail over to it. Gateways alone know that one, and it leads to no other cluster.
 * Istio refuses several hosts in one object with a port that is neither HTTP nor TLS: then it has one of its own.
 */
function withFailoverHost({ destination, hostname }: FederatedService, spec: ServiceEntrySpec): readonly ServiceEntrySpec[] {
  const service = destination.spec?.kubeService?.ref;
  if (service === undefined || destination.status?.appliedFederation?.failover === undefined) return [spec];
  const failoverHost = failoverHostname(service, hostname);
  return mayShareHosts(spec.ports ?? []) ? [{ ...spec, hosts: [hostname, failoverHost] }] : [spec, { ...spec, hosts: [failoverHost] }];
}

/** How many objects failover alone writes for the gateways of a service's own cluster. */
export function objectsAtHome({ spec }: Destination, { failover }: AppliedFederation): number {
  if (failover === undefined) return 0;
  return mayShareHosts(federatedPorts(spec?.kubeService?.ports ?? []).ports) ? 0 : 1;
}

function mayShareHosts(ports: readonly ServiceEntryPort[]): boolean {
  return ports.every(({ protocol = "" }) => OF_SEVERAL_HOSTS.has(protocol.toUpperCase()));
}

// Source: istio.io/istio, pkg/config/validation, ServiceEntry: protocols that IsHTTP or IsTLS.
const OF_SEVERAL_HOSTS: ReadonlySet<string> = new Set(["HTTP", "HTTP2", "GRPC", "GRPC-WEB", "HTTPS", "TLS"]);

/** Makes objects about the federated host, named after it, beside a mesh's control plane. `suffix`: of the name, "" by default. */
type HostOutputs = (mesh: Mesh, type: { readonly apiVersion: string; readonly kind: string }, spec: object, suffix?: string) => Output;

function hostOutputs({ translationContext }: DestinationInputs, { hostname, virtualMesh }: FederatedService): HostOutputs {
  const origin = originOf({ translationContext, parents: [virtualMesh] });
  return (mesh, type, spec, suffix = "") => {
    const { namespace = "", cluster = "" } = mesh.spec?.istio?.installation ?? {};
    return outputOf({ name: `${hostname}${suffix}`, namespace, clusterName: cluster, origin }, type, spec);
  };
}

/** Who may call a service at which addresses, and as whom they accept its endpoints. */
interface Audience extends Visibility {
  readonly addresses?: readonly string[];
  readonly subjectAltNames?: readonly string[];
}

function serviceEntrySpec(
  { exportTo, addresses, subjectAltNames: accepted }: Audience,
  { hostname, ports }: FederatedService,
  { endpoints, resolution }: Pick<FederatedEndpoints, "endpoints" | "resolution">,
): ServiceEntrySpec {
  const location = "MESH_INTERNAL";
  const some = endpoints.length === 0 ? undefined : endpoints;
  return withoutUndefined({
    exportTo,
    addresses,
    hosts: [hostname],
    location,
    ports,
    resolution,
    subjectAltNames: accepted,
    endpoints: some,
  });
}

function isDestinationRule(resource: Resource): resource is DestinationRule {
  return resource.kind === DestinationRule.kind;
}
