import {
  Destination,
  type DestinationSpec,
  type KubernetesServicePort,
  type KubeService,
  type KubeServicePort,
  type Mesh,
  type Node,
  type Pod,
  type Service,
  type Workload,
} from "@isthmus/api";
import { clusterRefOf, discoveredName, intern, merged, type Owner, type Report, refOf } from "@isthmus/core";
import { memoizeRow } from "../incremental/memoizeRow.ts";
import type { DiscoveredObject, DiscoveryResult } from "./discoveryResult.ts";
import { labelsOfPods } from "./endpointLabels.ts";
import { type AddressGroup, endpointSubsets } from "./endpoints.ts";
import { externalAddresses } from "./externalAddresses.ts";
import { finding } from "./findings.ts";
import { discoveredMetadata } from "./metadata.ts";
import { regionOf } from "./nodes.ts";
import type { PodsOutsideMesh } from "./outsideMesh.ts";
import { withoutZeroValues } from "./zeroValues.ts";

/** On a Service: take it into the mesh of its cluster, whatever its pods are. */
const ENABLED_ANNOTATION = "discovery.mesh.gloo.solo.io/enabled";

/** All that the translation of one Service may read. */
export interface DiscoveredServiceInputs {
  readonly service: Service;
  /** The mesh that an annotated Service joins: of those whose control plane is in its cluster, the last in key order. */
  readonly annotatedMesh: Mesh | undefined;
  /** The workloads that the Service selects, in key order. */
  readonly workloads: readonly Workload[];
  /** The pods that its selector takes; none where it has no selector. */
  readonly pods: readonly Pod[];
  /** Its ready addresses. */
  readonly addresses: readonly AddressGroup[];
  /** Whether anything tells of its addresses: without that, none is not the same as none ready. */
  readonly isReadinessKnown: boolean;
  /** The nodes of these. */
  readonly endpointNodes: readonly Node[];
  /** The node of each of its pods, or another one while it has none; of a NodePort Service only. */
  readonly podNodes: readonly Node[];
  /** The node of its first pod. */
  readonly firstNode: Node | undefined;
  /** Of its pods; undefined where that of an address is not known. */
  readonly serviceAccounts: readonly string[] | undefined;
  /** Those of its pods that have no sidecar. */
  readonly outsideMesh: PodsOutsideMesh;
  readonly owner: Owner;
  readonly namespace: string;
}

/** Whether a Service asks to be discovered. */
export function isAnnotated(service: Service): boolean {
  return service.metadata.annotations?.[ENABLED_ANNOTATION] === "true";
}

// One for all: nearly every Service has none.
const NONE: readonly never[] = [];

/** Translates one Service into its Destination. */
export function translateDestination(inputs: DiscoveredServiceInputs): DiscoveryResult<Destination> {
  const { service, annotatedMesh, workloads } = inputs;
  if (isAnnotated(service) && annotatedMesh !== undefined) {
    const mesh = { name: annotatedMesh.metadata.name, namespace: annotatedMesh.metadata.namespace ?? "" };
    return { output: outputOf(inputs, { kubeService: withoutZeroValues(serviceFields(inputs)), mesh }), reports: NONE };
  }
  const reports = isAnnotated(service) ? [withoutMesh(service)] : NONE;
  const mesh = workloads[0]?.spec?.mesh;
  if (mesh === undefined) return { reports };
  const endpoints = endpointSubsets(inputs.addresses, {
    labelsOf: labelsOfPods(inputs.pods, workloads),
    nodes: inputs.endpointNodes,
    outside: inputs.outsideMesh.names,
  });
  const kubeService = withoutZeroValues({
    ...serviceFields(inputs),
    subsets: subsetsOf(workloads),
    endpointSubsets: endpoints,
    serviceAccounts: inputs.serviceAccounts,
    outsideMesh: inputs.outsideMesh.controllers,
  });
  // That none is ready is said, for the status; that nothing is known is not.
  const isNoneReady = endpoints.length === 0 && inputs.isReadinessKnown;
  return {
    output: outputOf(inputs, { kubeService: isNoneReady ? { ...kubeService, endpointSubsets: NONE } : kubeService, mesh }),
    reports,
  };
}

function outputOf({ service, owner, namespace }: DiscoveredServiceInputs, spec: DestinationSpec): DiscoveredObject<Destination> {
  const metadata = discoveredMetadata(discoveredName(clusterRefOf(service)), service, owner, namespace);
  const destination: Destination = { apiVersion: Destination.apiVersion, kind: Destination.kind, metadata, spec };
  return { resource: destination, parents: [refOf(service)] };
}

function withoutMesh(service: Service): Report {
  const message = `annotation ${ENABLED_ANNOTATION}: has no effect, because no mesh was discovered in ${service.metadata.clusterName ?? ""}`;
  return finding(refOf(service), "WARNING", "AnnotatedWithoutMesh", message);
}

const SERVICE_TYPES: ReadonlyMap<string, NonNullable<KubeService["serviceType"]>> = new Map([
  ["NodePort", "NODE_PORT"],
  ["LoadBalancer", "LOAD_BALANCER"],
  ["ExternalName", "EXTERNAL_NAME"],
]);

/** What the Service itself says. CLUSTER_IP, the first word of its enum, is never written. */
function serviceFields({ service, podNodes, firstNode }: DiscoveredServiceInputs) {
  const { selector = {}, ports = NONE, type = "" } = service.spec ?? {};
  return {
    ref: clusterRefOf(service),
    workloadSelectorLabels: selector,
    labels: service.metadata.labels ?? {},
    ports: portsOf(ports),
    region: regionOf(firstNode),
    externalAddresses: externalAddresses(service, podNodes),
    serviceType: SERVICE_TYPES.get(type),
  };
}

// Services of a whole fleet have few lists of ports between them, each of which is held once.
const portsOf = memoizeRow((ports: readonly KubernetesServicePort[]) => intern(ports.map(portOf)));

function portOf({ targetPort = 0, port, name, protocol, appProtocol, nodePort }: KubernetesServicePort): KubeServicePort {
  // One of the two is always written, also as 0: the API knows by it which one is meant.
  const target = typeof targetPort === "string" ? { targetPortName: targetPort } : { targetPortNumber: targetPort };
  return merged(withoutZeroValues({ port, name, protocol, appProtocol, nodePort }), target);
}

// They differ from one rollout to the next, and tell nothing about what runs.
const ROLLOUT_LABELS = new Set(["pod-template-hash", "service.istio.io/canonical-revision"]);

/** The labels in which the workloads of a Service differ, each with its values. */
function subsetsOf(workloads: readonly Workload[]): NonNullable<KubeService["subsets"]> {
  if (workloads.length < 2) return {};
  const values = new Map<string, Set<string>>();
  for (const { spec } of workloads) {
    for (const [key, value] of Object.entries(spec?.kubernetes?.podLabels ?? {})) {
      if (!ROLLOUT_LABELS.has(key)) values.set(key, (values.get(key) ?? new Set()).add(value));
    }
  }
  const differing = [...values].filter(([, found]) => found.size > 1);
  return Object.fromEntries(differing.map(([key, found]) => [key, { values: [...found].sort() }]));
}
