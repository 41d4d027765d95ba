import type { Destination, KubeServicePort } from "@isthmus/api";
import { type ClusterObjectRef, displayName } from "@isthmus/core";
import { type Finding, invalidFinding, warningFinding } from "../../findings.ts";
import { missingMembers } from "../missingMembers.ts";

/** A Service that a policy sends traffic to, as the user wrote it. */
export interface ServiceRef {
  readonly name?: string;
  readonly namespace?: string;
  readonly clusterName?: string;
}

/** The same with what was left out as "". */
export function serviceOf({ name = "", namespace = "", clusterName = "" }: ServiceRef): ClusterObjectRef {
  return { name, namespace, clusterName };
}

/** The ports of the Service behind a Destination. */
export function portsOf(destination: Destination | undefined): readonly KubeServicePort[] {
  return destination?.spec?.kubeService?.ports ?? [];
}

/** What is wrong with a port given, or left out, for a Service that traffic is sent to. */
export function portFindings(
  path: string,
  {
    service,
    port,
    ports,
  }: { readonly service: ClusterObjectRef; readonly port?: number | undefined; readonly ports: readonly KubeServicePort[] },
): readonly Finding[] {
  const numbers = ports.map(({ port: number }) => number).join(", ");
  // 0 is what an omitted port is on the published API's wire.
  if (port === undefined || port === 0) {
    if (ports.length <= 1) return [];
    return [
      invalidFinding("PortMissing", `${path}: is required, because service ${displayName(service)} has ${ports.length} ports: ${numbers}`),
    ];
  }
  if (ports.some(({ port: number }) => number === port)) return [];
  return [invalidFinding("PortUnknown", `${path}: service ${displayName(service)} has no port ${port}, only ${numbers || "none"}`)];
}

/** Labels of a subset that no pod of its Service has, as far as discovery tells them apart. */
export function subsetLabelFindings(
  path: string,
  service: ClusterObjectRef,
  { subset, destination }: { readonly subset: Readonly<Record<string, string>> | undefined; readonly destination: Destination },
): readonly Finding[] {
  return Object.entries(subset ?? {}).flatMap(([label, value]) => {
    const values = valuesOf(label, destination);
    if (values === undefined || values.includes(value)) return [];
    const found = values.length > MOST_VALUES ? `${values.slice(0, MOST_VALUES).join(", ")}, …` : values.join(", ");
    const message = `${path}: no pod of service ${displayName(service)} has ${label}: ${value}, only ${found}: requests to this subset fail`;
    return [warningFinding("SubsetUnknown", message)];
  });
}

const MOST_VALUES = 10;

/** The values of a label among the pods of a Service, if all are known: discovery lists them where its workloads differ; else endpoints have them. */
function valuesOf(label: string, { spec }: Destination): readonly string[] | undefined {
  const { subsets = {}, endpointSubsets = [] } = spec?.kubeService ?? {};
  if (Object.hasOwn(subsets, label)) return subsets[label]?.values;
  const endpoints = endpointSubsets.flatMap(({ endpoints: found = [] }) => found);
  if (endpoints.length === 0) return undefined;
  const values = endpoints.flatMap(({ labels = {} }) => (Object.hasOwn(labels, label) ? (labels[label] ?? []) : []));
  // A label that is not in the template of a workload its pods may have all the same: Kubernetes and Istio add some.
  return values.length < endpoints.length ? undefined : [...new Set(values)].sort();
}

/** Why a Service that a policy sends traffic to is not found. */
export function serviceNotFound(path: string, service: ClusterObjectRef): string {
  const missing = missingMembers(service, ["name", "namespace", "clusterName"]);
  return missing === undefined
    ? `${path}: Destination for service ${displayName(service)} not found: check name, namespace and clusterName`
    : `${path}: ${missing}`;
}

/** Where requests start, and which Services of other clusters have a host name there. */
interface CallingPlace {
  readonly clusterName: string;
  isFederatedHere(service: ClusterObjectRef): boolean;
}

/** Whether calls from where the requests start will find a Service: it is there, or federated there. */
export function unfederatedServiceFindings(path: string, service: ClusterObjectRef, context: CallingPlace): readonly Finding[] {
  if (service.clusterName === context.clusterName) return [];
  if (context.isFederatedHere(service)) return [];
  return [
    warningFinding(
      "NotFederated",
      `${path}: service ${displayName(service)} is not federated to ${context.clusterName}, so this traffic will fail: select it in the federation of a VirtualMesh, and check the status of that VirtualMesh`,
    ),
  ];
}
