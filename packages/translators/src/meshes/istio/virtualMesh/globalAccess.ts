import { AuthorizationPolicy, type Mesh, rootNamespaceOf, type VirtualMesh, type Workload } from "@isthmus/api";
import { displayName, equalJson, formatRef, matchesLabels, md5Hex, type Output, type Report, refOf, sanitizedName } from "@isthmus/core";
import { reportOf, warningFinding } from "../../../findings.ts";
import { meshCluster } from "../../../policy/policyScope.ts";
import { isAccessClosed } from "../../../policy/virtualMeshDoubts.ts";
import { emptyTranslation, type MeshInputs, type TargetTranslation } from "../../inputs.ts";
import { originOf, outputOf } from "../../outputMetadata.ts";
import { type ClosedGateway, type ExemptedGateway, gatewayExemptions, isOfInfrastructure } from "./exemptedGateways.ts";

/**
 * With `globalAccessPolicy: ENABLED` nothing in the mesh may be called unless an AccessPolicy allows it. Gateways of those who run the mesh are
 * exempted: they are called from outside, where nobody has an identity. Each exemption is in the namespace of its gateway, where it is about no
 * pods of others.
 */
export function globalAccessOf(inputs: MeshInputs): TargetTranslation {
  const { mesh, virtualMesh } = inputs;
  if (virtualMesh === undefined || !isAccessClosed(virtualMesh)) return emptyTranslation;
  const denyAll = authorizationPolicy(inputs, virtualMesh, { name: "global-access-control", namespace: rootNamespaceOf(mesh), spec: {} });
  const exemptions = gatewayExemptions(inputs);
  const named = namedExemptions(exemptions.exempted);
  const exempted = named.map(({ name, gateway: { namespace, labels, port } }) => {
    // One empty rule holds for every request.
    const rule = port === undefined ? {} : { to: [{ operation: { ports: [String(port)] } }] };
    return authorizationPolicy(inputs, virtualMesh, { name, namespace, spec: { rules: [rule], selector: { matchLabels: labels } } });
  });
  const namesakes = namesakesOf(inputs, named, exemptions.open);
  const denied = namesakes.map(({ namespace, labels, ports }) => {
    const rule = ports.length === 0 ? {} : { to: [{ operation: { notPorts: [...ports] } }] };
    return authorizationPolicy(inputs, virtualMesh, {
      name: ["deny-gateway-labels", suffixOf(labels), ...ports].join("-"),
      namespace,
      spec: { action: "DENY", rules: [rule], selector: { matchLabels: labels } },
    });
  });
  const taken = new Set(namesakes.flatMap(({ workloads }) => workloads));
  // Of the others an AccessPolicy would open nothing.
  const closed = exemptions.closed.filter(({ workloads }) => !workloads.every((workload) => taken.has(workload)));
  return {
    outputs: [denyAll, ...exempted, ...denied],
    reports: [
      ...ambientReports(inputs, virtualMesh),
      ...closedReports(inputs, virtualMesh, closed),
      ...namesakes.map((one) => namesakeReport(inputs, virtualMesh, one)),
    ],
  };
}

interface NamedExemption {
  readonly name: string;
  readonly gateway: ExemptedGateway;
}

function namedExemptions(gateways: readonly ExemptedGateway[]): readonly NamedExemption[] {
  const byPlace = new Map<string, NamedExemption>();
  for (const gateway of gateways) {
    const { address, namespace, labels } = gateway;
    // A policy without selector would allow everything in its namespace, and in the mesh's root namespace everywhere.
    if (Object.keys(labels).length === 0) continue;
    // The address is shortened without the prefix: names have room for both.
    const usual = `${NAME_PREFIX}${sanitizedName(address || suffixOf(labels))}`;
    const taken = byPlace.get(`${namespace}/${usual}`)?.gateway;
    // Two gateways may stand behind one address.
    const name = taken === undefined || equalJson(taken.labels, labels) ? usual : `${usual}-${suffixOf(labels)}`;
    byPlace.set(`${namespace}/${name}`, { name, gateway });
  }
  return [...byPlace.values()];
}

/** Workloads of one namespace that have the labels by which a gateway in the root namespace is exempted. */
interface Namesakes {
  readonly namespace: string;
  readonly labels: ExemptedGateway["labels"];
  /** On which they get the traffic of other clusters all the same. */
  readonly ports: readonly string[];
  readonly workloads: readonly Workload[];
}

/**
 * A policy in the root namespace holds for pods of its labels in every namespace, and Istio has no other way to exempt a gateway there. A tenant who may
 * run pods could open them by these labels: there, everything is denied.
 */
function namesakesOf(inputs: MeshInputs, exempted: readonly NamedExemption[], open: ReadonlySet<Workload>): readonly Namesakes[] {
  const root = rootNamespaceOf(inputs.mesh);
  const byPlace = new Map<string, Namesakes>();
  for (const { gateway } of exempted) {
    if (gateway.namespace !== root) continue;
    for (const workload of inputs.workloads) {
      const { controller, podLabels } = workload.spec?.kubernetes ?? {};
      const { namespace = "" } = controller ?? {};
      if (isOfInfrastructure(inputs, namespace) || open.has(workload) || !matchesLabels(gateway.labels, podLabels)) continue;
      const own = exempted.filter((one) => one.gateway.namespace === namespace && matchesLabels(one.gateway.labels, podLabels));
      const ports = own.flatMap(({ gateway: { port } }) => (port === undefined ? [] : [String(port)]));
      const place = [namespace, suffixOf(gateway.labels), ...ports].join("/");
      const workloads = [...(byPlace.get(place)?.workloads ?? []), workload];
      byPlace.set(place, { namespace, labels: gateway.labels, ports, workloads });
    }
  }
  return [...byPlace.values()];
}

/** Of pods in ambient mode there are no Destinations, so no AccessPolicy is about them, and the rule that denies is about all pods of the mesh. */
function ambientReports({ mesh }: MeshInputs, virtualMesh: VirtualMesh): readonly Report[] {
  const { ambientNamespaces = [] } = mesh.spec?.istio ?? {};
  if (ambientNamespaces.length === 0) return [];
  const named = ambientNamespaces.slice(0, MOST_REPORTS).join(", ");
  const more = ambientNamespaces.length - MOST_REPORTS;
  const message =
    `spec.globalAccessPolicy: all calls of pods in ambient mode in ${meshCluster(mesh)} are denied, in namespaces ${named}${more > 0 ? ` and ${more} more` : ""}, and no AccessPolicy ` +
    "is about these pods yet: create AuthorizationPolicies for what may call them, in these namespaces, or remove spec.globalAccessPolicy";
  return [reportOf(refOf(virtualMesh), warningFinding("AmbientClosed", message), refOf(mesh))];
}

/** A status names so many gateways; tenants may run any number. */
const MOST_REPORTS = 10;

function closedReports({ mesh }: MeshInputs, virtualMesh: VirtualMesh, closed: readonly ClosedGateway[]): readonly Report[] {
  const clusterName = meshCluster(mesh);
  const messages = closed.slice(0, MOST_REPORTS).map(({ service, reason }) => {
    const { name = "", namespace = "" } = service.spec?.kubeService?.ref ?? {};
    const ref = `{name: ${name}, namespace: ${namespace}, clusterName: ${clusterName}}`;
    return (
      `spec.globalAccessPolicy: all calls of gateway ${formatRef(refOf(service))} are denied with 403, also those from outside, because ${reason}: ` +
      `to let callers in, create an AccessPolicy with destinationSelector: [{kubeServiceRefs: {services: [${ref}]}}], and with sourceSelector: [{}] for those from outside`
    );
  });
  const more = closed.length - messages.length;
  const rest =
    more > 0
      ? [`spec.globalAccessPolicy: all calls of ${more} more gateways in ${clusterName} are denied: name them in AccessPolicies`]
      : [];
  return [...messages, ...rest].map((message) => reportOf(refOf(virtualMesh), warningFinding("GatewayClosed", message), refOf(mesh)));
}

function namesakeReport({ mesh }: MeshInputs, virtualMesh: VirtualMesh, { namespace, labels, workloads }: Namesakes): Report {
  const names = workloads.map(({ spec }) => displayName({ name: spec?.kubernetes?.controller?.name ?? "", namespace }));
  const more = names.length - MOST_NAMES;
  const pairs = Object.entries(labels).map(([key, value]) => `${key}: ${value}`);
  const message =
    `spec.globalAccessPolicy: all calls of ${names.slice(0, MOST_NAMES).join(", ")}${more > 0 ? ` and ${more} more` : ""} in ${meshCluster(mesh)} are denied, because ` +
    `the labels ${pairs.join(", ")} of the pods are those by which a gateway in root namespace ${rootNamespaceOf(mesh)} is exempted, and Istio would exempt them as well: give them other labels`;
  return reportOf(refOf(virtualMesh), warningFinding("GatewayLabelsTaken", message), refOf(mesh));
}

const MOST_NAMES = 3;

function suffixOf(labels: Readonly<Record<string, string>>): string {
  return md5Hex(JSON.stringify(Object.entries(labels).sort())).slice(0, 8);
}

interface PolicyParts {
  readonly name: string;
  readonly namespace: string;
  readonly spec: NonNullable<AuthorizationPolicy["spec"]>;
}

function authorizationPolicy(
  { mesh, translationContext }: { readonly mesh: Mesh; readonly translationContext: MeshInputs["translationContext"] },
  virtualMesh: VirtualMesh,
  { name, namespace, spec }: PolicyParts,
): Output {
  const origin = originOf({ translationContext, parents: [virtualMesh] });
  return outputOf({ name, namespace, clusterName: meshCluster(mesh), origin }, AuthorizationPolicy, spec);
}

const NAME_PREFIX = "allow-ingress-gateway-";
