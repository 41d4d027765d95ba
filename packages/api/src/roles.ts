import { type JsonObject, type Kind, kindKeyOf } from "@isthmus/core";
import { ApiDoc } from "./apiManagement/apiDoc.ts";
import { ApiSchemaDiscovery } from "./apiManagement/apiSchemaDiscovery.ts";
import { AppMesh } from "./aws/appMesh.ts";
import { CertificateRequest } from "./certificates/certificateRequest.ts";
import { IssuedCertificate } from "./certificates/issuedCertificate.ts";
import { PodBounceDirective } from "./certificates/podBounceDirective.ts";
import { CiliumIdentity, CiliumNode } from "./cilium/ciliumCounted.ts";
import { CiliumEndpoint } from "./cilium/ciliumEndpoint.ts";
import { CiliumClusterwideNetworkPolicy, CiliumNetworkPolicy } from "./cilium/ciliumNetworkPolicy.ts";
import { CiliumPolicyReport } from "./cilium/ciliumPolicyReport.ts";
import { CiliumReport } from "./cilium/ciliumReport.ts";
import { Destination } from "./discovery/destination.ts";
import { Mesh } from "./discovery/mesh.ts";
import { Workload } from "./discovery/workload.ts";
import { KubernetesGateway } from "./gatewayApi/gateway.ts";
import { ReferenceGrant } from "./gatewayApi/referenceGrant.ts";
import { GRPCRoute, HTTPRoute, KubernetesTCPRoute, TLSRoute } from "./gatewayApi/routes.ts";
import { AuthorizationPolicy } from "./istio/authorizationPolicy.ts";
import { COUNTED_ISTIO_KINDS } from "./istio/countedKinds.ts";
import { DestinationRule } from "./istio/destinationRule.ts";
import { EnvoyFilter } from "./istio/envoyFilter.ts";
import { Gateway } from "./istio/gateway.ts";
import { PeerAuthentication } from "./istio/peerAuthentication.ts";
import { ServiceEntry } from "./istio/serviceEntry.ts";
import { Sidecar } from "./istio/sidecar.ts";
import { VirtualService } from "./istio/virtualService.ts";
import { ConfigMap } from "./kubernetes/configMap.ts";
import { customResourceDefinition } from "./kubernetes/customResourceDefinition.ts";
import { DaemonSet } from "./kubernetes/daemonSet.ts";
import { Deployment } from "./kubernetes/deployment.ts";
import { EndpointSlice } from "./kubernetes/endpointSlice.ts";
import { Endpoints } from "./kubernetes/endpoints.ts";
import { Namespace } from "./kubernetes/namespace.ts";
import { Node } from "./kubernetes/node.ts";
import { Pod } from "./kubernetes/pod.ts";
import { ReplicaSet } from "./kubernetes/replicaSet.ts";
import { Secret } from "./kubernetes/secret.ts";
import { Service } from "./kubernetes/service.ts";
import { StatefulSet } from "./kubernetes/statefulSet.ts";
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from "./kubernetes/webhookConfiguration.ts";
import { COUNTED_MCS_KINDS } from "./mcs/countedKinds.ts";
import { KubernetesCluster } from "./multicluster/kubernetesCluster.ts";
import { AccessPolicy } from "./networking/accessPolicy.ts";
import { ServiceDependency } from "./networking/serviceDependency.ts";
import { TrafficPolicy } from "./networking/trafficPolicy.ts";
import { VirtualDestination } from "./networking/virtualDestination.ts";
import { VirtualMesh } from "./networking/virtualMesh.ts";
import { WasmDeployment } from "./networking/wasmDeployment.ts";
import { WasmFilterReport } from "./networking/wasmFilterReport.ts";
import { AccessLogRecord } from "./observability/accessLogRecord.ts";
import { Settings } from "./settings/settings.ts";
import type { Fields, KindDefinition } from "./shared/defineKind.ts";
import { HTTPRouteGroup } from "./smi/httpRouteGroup.ts";
import { OsmMeshConfig } from "./smi/osmMeshConfig.ts";
import { TCPRoute } from "./smi/tcpRoute.ts";
import { TrafficSplit } from "./smi/trafficSplit.ts";
import { TrafficTarget } from "./smi/trafficTarget.ts";

/** What is done with objects of one kind, and by whom. */
type Task =
  /** The agent watches it in its cluster and sends it up, as translation reads it or as `keptFor` says; `Kind.project` says what of it. */
  | "watchedByAgent"
  /** Of what the agent watches, what it does without where it has no permission to read it, as before an upgrade of its chart. */
  | "readIfPermitted"
  /** The agent watches it as far as the Settings ask for it: for what it makes of it, or to send it up. */
  | "watchedOnDemand"
  /** The agent makes it of what it watches, and sends it up as if it were in its cluster, which never stores it. */
  | "summary"
  /** The agent writes it in its own cluster, of what it has found there and not for the server, with its status. */
  | "writtenByAgent"
  /** Users ask the agent of the cluster something with it, which writes its status. */
  | "answeredByAgent"
  /** Of what the agent watches, only what is in namespaces that discovery looks into. */
  | "inDiscoveryScope"
  /** Translation writes it into workload clusters, through their agents. */
  | "delivered"
  /** The agent holds it in memory, and reports it as if it were in its cluster, which never stores it. Of what is also delivered: only where no agent runs it is written. */
  | "computed"
  /** The server watches it in the management cluster. */
  | "watchedByServer"
  /** Of what the server watches, only what is in the namespace of the management plane. */
  | "inPlaneNamespace"
  /** The server writes it into the management cluster. */
  | "published"
  /** Users ask something of us with it; its status answers them. */
  | "hasUserStatus"
  /** Users may write it in workload clusters too: agents send it where its CRD is served, and write its status there. */
  | "contributed"
  /** Changes what proxies do with every request, before access control: of a workload cluster for its own namespace, unless the Settings say more. */
  | "changesProxies"
  /** It keeps callers out: an object that can't be read must not count as gone, as its last good form stays in use. */
  | "keepsLastGood"
  /** Made by discovery. */
  | "discovered"
  /** Translation compares the ages of its objects: of those that agents report the server keeps when it first saw them. */
  | "comparedByAge";

/** One row of the table of kinds. */
interface Role {
  readonly kind: Kind;
  readonly tasks: readonly Task[];
  /** Of what agents watch and no translator reads: for whom it is kept all the same. */
  readonly keptFor?: string;
  /** Of what is delivered: the kinds to whose objects it refers. They are written before it, and deleted after it. */
  readonly refersTo?: readonly Kind[];
}

// People see all of a cluster there (`readFleet` of @isthmus/store): what its users wrote for Istio themselves explains what traffic does.
const CONSOLE = "the console, beside what we write";

// Neither mesh nor policy: what an API looks like to those who call it.
const PORTAL = "the API for portals of the management server, /v1/apis";

// Users' own objects. An agent whose permissions are of before continues without them.
const READ_ONLY: readonly Task[] = ["watchedByAgent", "readIfPermitted", "inDiscoveryScope"];

/** Every kind that we deal with. Nothing on the way between clusters names a kind: it asks this table. */
const ROLES: readonly Role[] = [
  { kind: Namespace, tasks: ["watchedByAgent"] },
  { kind: Node, tasks: ["watchedByAgent"] },
  // No tenant can write them: the injector and the validator of a mesh vouch for the namespace of its control plane.
  { kind: MutatingWebhookConfiguration, tasks: ["watchedByAgent", "readIfPermitted"] },
  { kind: ValidatingWebhookConfiguration, tasks: ["watchedByAgent", "readIfPermitted"] },
  { kind: Service, tasks: ["watchedByAgent", "inDiscoveryScope", "comparedByAge"] },
  { kind: Endpoints, tasks: ["watchedByAgent", "inDiscoveryScope"] },
  { kind: EndpointSlice, tasks: ["watchedByAgent", "inDiscoveryScope"] },
  { kind: Pod, tasks: ["watchedByAgent", "inDiscoveryScope"] },
  { kind: ConfigMap, tasks: ["watchedByAgent"] },
  { kind: Deployment, tasks: ["watchedByAgent", "inDiscoveryScope", "comparedByAge"] },
  { kind: ReplicaSet, tasks: ["watchedByAgent", "inDiscoveryScope"] },
  { kind: DaemonSet, tasks: ["watchedByAgent", "inDiscoveryScope", "comparedByAge"] },
  { kind: StatefulSet, tasks: ["watchedByAgent", "inDiscoveryScope", "comparedByAge"] },

  // Users have such objects of their own: agents send those; ours bear our label and are not. Translation finds conflicts with four of the
  // kinds. The agent watches what it delivers in any case: it never overwrites what is not ours.
  // A route to a host, or to a subset of it, that a proxy does not know answers 503.
  { kind: VirtualService, tasks: ["watchedByAgent", "inDiscoveryScope", "delivered"], refersTo: [ServiceEntry, DestinationRule] },
  { kind: DestinationRule, tasks: ["watchedByAgent", "inDiscoveryScope", "delivered"] },
  // Endpoints of other clusters, without their order, get as much traffic as those of the own.
  { kind: ServiceEntry, tasks: ["watchedByAgent", "inDiscoveryScope", "delivered"], refersTo: [DestinationRule] },
  { kind: Gateway, tasks: ["watchedByAgent", "inDiscoveryScope", "delivered"] },
  { kind: AuthorizationPolicy, tasks: ["watchedByAgent", "inDiscoveryScope", "delivered"] },
  // A proxy that is limited to hosts before they exist loses them for a moment.
  { kind: Sidecar, tasks: ["watchedByAgent", "inDiscoveryScope", "delivered"], refersTo: [ServiceEntry, DestinationRule] },
  { kind: EnvoyFilter, tasks: ["watchedByAgent", "inDiscoveryScope", "delivered"], keptFor: CONSOLE },

  // Only read.
  { kind: PeerAuthentication, tasks: READ_ONLY },
  { kind: KubernetesGateway, tasks: READ_ONLY, keptFor: CONSOLE },
  { kind: HTTPRoute, tasks: READ_ONLY },
  { kind: GRPCRoute, tasks: READ_ONLY },
  { kind: TLSRoute, tasks: READ_ONLY },
  { kind: KubernetesTCPRoute, tasks: READ_ONLY },
  { kind: ReferenceGrant, tasks: READ_ONLY },
  ...[...COUNTED_ISTIO_KINDS, ...COUNTED_MCS_KINDS].map((kind) => ({ kind, tasks: READ_ONLY, keptFor: CONSOLE })),

  // The network layer beside the mesh. That users' own policies are sent explains what traffic does; none of them is ever changed.
  { kind: CiliumNetworkPolicy, tasks: ["watchedByAgent", "inDiscoveryScope", "delivered"], keptFor: CONSOLE },
  { kind: CiliumClusterwideNetworkPolicy, tasks: ["watchedByAgent"], keptFor: CONSOLE },
  // Of which there are as many as pods: only what they come to is sent, in all.
  { kind: CiliumEndpoint, tasks: ["watchedOnDemand"] },
  { kind: CiliumIdentity, tasks: ["watchedOnDemand"] },
  { kind: CiliumNode, tasks: ["watchedOnDemand"] },
  { kind: CiliumPolicyReport, tasks: ["summary"] },
  { kind: CiliumReport, tasks: ["summary"] },
  { kind: WasmFilterReport, tasks: ["summary"] },

  { kind: ApiDoc, tasks: ["watchedByAgent", "inDiscoveryScope", "writtenByAgent"], keptFor: PORTAL },
  { kind: ApiSchemaDiscovery, tasks: ["watchedByAgent", "inDiscoveryScope", "answeredByAgent"], keptFor: PORTAL },

  { kind: AppMesh, tasks: ["watchedByAgent", "comparedByAge"] },
  { kind: OsmMeshConfig, tasks: ["watchedByAgent"] },
  { kind: TrafficSplit, tasks: ["delivered"], refersTo: [HTTPRouteGroup] },
  { kind: TrafficTarget, tasks: ["delivered"], refersTo: [HTTPRouteGroup, TCPRoute] },
  { kind: HTTPRouteGroup, tasks: ["delivered"] },
  { kind: TCPRoute, tasks: ["delivered"] },

  { kind: IssuedCertificate, tasks: ["delivered", "computed"] },
  { kind: PodBounceDirective, tasks: ["delivered"] },
  { kind: CertificateRequest, tasks: ["computed"] },

  { kind: Mesh, tasks: ["discovered", "published", "watchedByServer"] },
  { kind: Workload, tasks: ["discovered", "published", "watchedByServer"] },
  { kind: Destination, tasks: ["discovered", "published", "watchedByServer"] },

  { kind: Settings, tasks: ["watchedByServer", "hasUserStatus"] },
  { kind: KubernetesCluster, tasks: ["watchedByServer"] },
  { kind: TrafficPolicy, tasks: ["watchedByServer", "hasUserStatus", "contributed", "comparedByAge"] },
  { kind: AccessPolicy, tasks: ["watchedByServer", "hasUserStatus", "contributed", "keepsLastGood", "comparedByAge"] },
  { kind: VirtualMesh, tasks: ["watchedByServer", "hasUserStatus", "contributed", "comparedByAge"] },
  { kind: VirtualDestination, tasks: ["watchedByServer", "hasUserStatus", "contributed", "comparedByAge"] },
  { kind: ServiceDependency, tasks: ["watchedByServer", "hasUserStatus", "contributed"] },
  { kind: AccessLogRecord, tasks: ["watchedByServer", "hasUserStatus", "contributed", "changesProxies"] },
  { kind: WasmDeployment, tasks: ["watchedByServer", "hasUserStatus", "contributed", "changesProxies", "comparedByAge"] },
  // Never sent by agents. Of those of the management plane, `project` leaves out all but public certificates. Translation
  // asks for a generated root by a Secret with placeholders: that is an order for the one who makes keys, and never written as it is.
  { kind: Secret, tasks: ["watchedByServer", "inPlaneNamespace"] },
];

const BY_KEY: ReadonlyMap<string, Kind> = new Map(ROLES.map(({ kind }) => [kindKeyOf(kind), kind]));

/** The kind of an object, in any version that we understand; undefined when we don't deal with it. */
export function kindOf(apiVersion: string, kind: string): Kind | undefined {
  const known = BY_KEY.get(kindKeyOf({ apiVersion, kind }));
  return known?.versions.includes(apiVersion) === true ? known : undefined;
}

/** Every kind that we deal with. */
export function allKinds(): readonly Kind[] {
  return ROLES.map(({ kind }) => kind);
}

/** What an agent watches in its cluster and sends to the server. */
export function agentKinds(): readonly Kind[] {
  return kindsWith("watchedByAgent");
}

/** Of what an agent watches, what it does without where it may not read it. */
export function kindsReadIfPermitted(): readonly Kind[] {
  return kindsWith("readIfPermitted");
}

/** What an agent watches in its cluster as far as the Settings ask for it. */
export function onDemandKinds(): readonly Kind[] {
  return kindsWith("watchedOnDemand");
}

/** What an agent makes of what it watches, and sends to the server. */
export function summaryKinds(): readonly Kind[] {
  return kindsWith("summary");
}

/** What an agent writes in its own cluster, of what it has found there. */
export function ownWrittenKinds(): readonly Kind[] {
  return kindsWith("writtenByAgent");
}

/** By which users ask the agent of their cluster something. */
export function answeredKinds(): readonly Kind[] {
  return kindsWith("answeredByAgent");
}

/** For whom a kind is kept that agents send and no translator reads; undefined for what is read. */
export function keptFor(kind: Kind): string | undefined {
  return ROLES.find((role) => role.kind === kind)?.keptFor;
}

/** What users write for meshes and gateways themselves, and agents send: it is counted for each mesh. */
export function countedKinds(): readonly Kind[] {
  return [VirtualService, DestinationRule, ServiceEntry, Gateway, AuthorizationPolicy, Sidecar, EnvoyFilter, ...readOnlyKinds()];
}

function readOnlyKinds(): readonly Kind[] {
  return ROLES.filter(({ tasks }) => tasks === READ_ONLY).map(({ kind }) => kind);
}

/** What an agent sends only of namespaces that discovery looks into. */
export function scopedKinds(): readonly Kind[] {
  return kindsWith("inDiscoveryScope");
}

/** What users may write in workload clusters to ask something of the plane. */
export function contributedKinds(): readonly Kind[] {
  return kindsWith("contributed");
}

/** What users write of that, and reaches into proxies. */
export function proxyKinds(): readonly Kind[] {
  return kindsWith("changesProxies");
}

/** Of what agents report, the kinds whose objects' ages count. */
export function agedKinds(): readonly Kind[] {
  return kindsWith("comparedByAge");
}

/** What translation writes into workload clusters. */
export function deliveredKinds(): readonly Kind[] {
  return kindsWith("delivered");
}

/** What an agent computes and reports, and its cluster does not store. */
export function computedKinds(): readonly Kind[] {
  return kindsWith("computed");
}

/** Of what translation writes, the kinds to whose objects those of a kind refer, per `kindKeyOf`. */
export function referredKinds(): ReadonlyMap<string, readonly Kind[]> {
  return new Map(ROLES.flatMap(({ kind, refersTo }) => (refersTo === undefined ? [] : [[kindKeyOf(kind), refersTo] as const])));
}

/** What the server watches in the management cluster. */
export function managementKinds(): readonly Kind[] {
  return kindsWith("watchedByServer");
}

/** What users write in the management cluster, and nothing makes again: what a backup holds, beside Secrets. */
export function userKinds(): readonly Kind[] {
  const [made, own] = [publishedKinds(), ownKinds()];
  return managementKinds().filter((kind) => !made.includes(kind) && !own.includes(kind));
}

/** Of what the server watches in the management cluster, what it reads in the namespace of the management plane alone. */
export function ownKinds(): readonly Kind[] {
  return kindsWith("inPlaneNamespace");
}

/** What the server writes into the management cluster. */
export function publishedKinds(): readonly Kind[] {
  return kindsWith("published");
}

/** What discovery makes. */
export function discoveryKinds(): readonly Kind[] {
  return kindsWith("discovered");
}

/** By objects of which users ask things of us: they have a status that answers. */
export function userStatusKinds(): readonly Kind[] {
  return kindsWith("hasUserStatus");
}

/** Whether users ask things of us by objects of this kind. */
export function hasUserStatus(kind: Kind): boolean {
  return ROLES.some((role) => role.kind === kind && role.tasks.includes("hasUserStatus"));
}

/** Whether an object of this kind keeps callers out, so that it must not count as gone while it can't be read. */
export function keepsLastGood(kind: Kind): boolean {
  return ROLES.some((role) => role.kind === kind && role.tasks.includes("keepsLastGood"));
}

/** The CustomResourceDefinitions of our own kinds, in the order of the table. They are made once: nobody may change them. */
export function customResourceDefinitions(): readonly JsonObject[] {
  definitions ??= allKinds().flatMap((kind) => {
    const definition = "definition" in kind ? (kind.definition as KindDefinition<Fields>) : undefined;
    return definition?.crd === undefined ? [] : [customResourceDefinition(definition, definition.crd)];
  });
  return definitions;
}
let definitions: readonly JsonObject[] | undefined;

/** Whether a CRD of ours defines a kind. */
export function isInstalled(kind: Kind): boolean {
  return "definition" in kind && (kind.definition as KindDefinition<Fields>).crd !== undefined;
}

function kindsWith(task: Task): readonly Kind[] {
  return ROLES.filter(({ tasks }) => tasks.includes(task)).map(({ kind }) => kind);
}
