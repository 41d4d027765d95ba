import { matchesLabels, type ResourceRef, refOf, type Snapshot } from "@isthmus/core";
import type { ObjectChange } from "./controller.ts";
import { isActive, isReady, SimulatedNode, SimulatedPod, SimulatedService, type SimulatedServicePort } from "./workloads.ts";

/** Every kind that endpoints are made of. */
export const endpointSources = [SimulatedService, SimulatedPod, SimulatedNode] as const;

/** A pod behind a Service. */
export interface ServiceEndpoint {
  readonly address: string;
  readonly isReady: boolean;
  readonly nodeName: string | undefined;
  readonly zone: string | undefined;
  readonly targetRef: { readonly kind: "Pod"; readonly namespace: string; readonly name: string; readonly uid: string };
}

export interface EndpointPort {
  readonly name: string;
  readonly port: number;
  readonly protocol: string;
  readonly appProtocol?: string;
}

/** Endpoints that answer on the same ports. */
export interface EndpointGroup {
  readonly ports: readonly EndpointPort[];
  readonly endpoints: readonly ServiceEndpoint[];
}

/** The pods behind a Service, by the ports that they answer on; undefined when somebody else looks after its endpoints. */
export function endpointGroups({ metadata, spec }: SimulatedService, snapshot: Snapshot): readonly EndpointGroup[] | undefined {
  const { selector, type } = spec;
  if (selector === undefined || Object.keys(selector).length === 0 || type === "ExternalName") return undefined;
  const { namespace = "", clusterName = "" } = metadata;
  const [pair] = pairsOf(selector);
  const pods = snapshot.of(SimulatedPod).where(podsByLabel, `${namespace}/${pair}`);
  const groups = new Map<string, { ports: readonly EndpointPort[]; endpoints: ServiceEndpoint[] }>();
  for (const pod of pods) {
    const address = pod.status?.podIP;
    if (address === undefined || !isActive(pod) || !matchesLabels(selector, pod.metadata.labels)) continue;
    const ports = (spec.ports ?? []).flatMap((port) => endpointPort(port, pod));
    const key = JSON.stringify(ports);
    const group = groups.get(key) ?? { ports, endpoints: [] };
    const { nodeName } = pod.spec;
    const node = nodeName === undefined ? undefined : snapshot.of(SimulatedNode).get({ name: nodeName, namespace: "", clusterName });
    group.endpoints.push({
      address,
      isReady: isReady(pod) || spec.publishNotReadyAddresses === true,
      nodeName,
      zone: node?.metadata.labels?.["topology.kubernetes.io/zone"],
      targetRef: { kind: "Pod", namespace, name: pod.metadata.name, uid: pod.metadata.uid ?? "" },
    });
    groups.set(key, group);
  }
  return [...groups.keys()].sort().map((key) => groups.get(key) as EndpointGroup);
}

/** The Services whose endpoints a change may concern. */
export function* servicesToReconcile({ before, after }: ObjectChange, snapshot: Snapshot): Iterable<ResourceRef> {
  for (const resource of [before, after]) {
    if (resource?.kind === "Service") yield refOf(resource);
    if (resource?.kind !== "Pod") continue;
    const { namespace = "", labels = {} } = resource.metadata;
    for (const pair of pairsOf(labels)) {
      for (const service of snapshot.of(SimulatedService).where(servicesBySelector, `${namespace}/${pair}`)) yield refOf(service);
    }
  }
}

function endpointPort(
  { name = "", port, targetPort = port, protocol = "TCP", appProtocol }: SimulatedServicePort,
  pod: SimulatedPod,
): readonly EndpointPort[] {
  const number = typeof targetPort === "number" ? targetPort : namedPort(pod, targetPort, protocol);
  if (number === undefined) return [];
  return [{ name, port: number, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) }];
}

function namedPort({ spec }: SimulatedPod, wanted: string, protocol: string): number | undefined {
  const ports = spec.containers.flatMap(({ ports = [] }) => ports);
  return ports.find((port) => port.name === wanted && (port.protocol ?? "TCP") === protocol)?.containerPort;
}

function podsByLabel({ metadata }: SimulatedPod): readonly string[] {
  return pairsOf(metadata.labels ?? {}).map((pair) => `${metadata.namespace ?? ""}/${pair}`);
}

/** One pair of a selector finds every pod that all of it matches. */
function servicesBySelector({ metadata, spec }: SimulatedService): readonly string[] {
  const [pair] = pairsOf(spec.selector ?? {});
  return pair === undefined ? [] : [`${metadata.namespace ?? ""}/${pair}`];
}

function pairsOf(labels: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .sort();
}
