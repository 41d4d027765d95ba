export {
  type AccessRule,
  accessRulesOn,
  CLUSTER_UID_RULE,
  certificateAgentRules,
  READ_BEFORE_WRITING_REASONS,
  READ_REASONS,
  SERVED_KINDS_RULE,
  STATUS_REASONS,
  WRITE_REASONS,
  workloadClusterRules,
} from "./accessRules.ts";
export { ApiDoc, RECONCILER_LABEL, SCHEMA_REPORTER } from "./apiManagement/apiDoc.ts";
export { ApiSchemaDiscovery } from "./apiManagement/apiSchemaDiscovery.ts";
export { isServedFrom, type ServedBy } from "./apiManagement/servedBy.ts";
export { AppMesh, VIRTUAL_NODE_VARIABLE } from "./aws/appMesh.ts";
export { CertificateRequest } from "./certificates/certificateRequest.ts";
export { IssuedCertificate, type IssuedCertificateSpec, type RequestedTrust } from "./certificates/issuedCertificate.ts";
export { PodBounceDirective, type PodBounceSelector } from "./certificates/podBounceDirective.ts";
export { CiliumIdentity, CiliumNode } from "./cilium/ciliumCounted.ts";
export { CiliumEndpoint } from "./cilium/ciliumEndpoint.ts";
export {
  CiliumClusterwideNetworkPolicy,
  type CiliumEndpointSelector,
  type CiliumIngressRule,
  CiliumNetworkPolicy,
  type CiliumPortRule,
} from "./cilium/ciliumNetworkPolicy.ts";
export { CiliumPolicyReport, type CiliumPolicyState, shortenedMessage } from "./cilium/ciliumPolicyReport.ts";
export { CILIUM_REPORT_NAME, CiliumReport } from "./cilium/ciliumReport.ts";
export {
  Destination,
  type DestinationSpec,
  type DestinationStatus,
  type Endpoint,
  type EndpointSubset,
  type ExternalAddress,
  type KubeService,
  type KubeServicePort,
} from "./discovery/destination.ts";
export {
  type AppliedEastWestIngressGateway,
  type CiliumInstallation,
  type IngressGateway,
  Mesh,
  type MeshAgentInfo,
  type MeshInstallation,
  type MeshSpec,
  type MeshStatus,
} from "./discovery/mesh.ts";
export { areRevisions, meshClusters, meshInstallationOf } from "./discovery/meshPlace.ts";
export { rootNamespaceOf } from "./discovery/rootNamespace.ts";
export { Workload } from "./discovery/workload.ts";
export { KubernetesGateway } from "./gatewayApi/gateway.ts";
export { ReferenceGrant } from "./gatewayApi/referenceGrant.ts";
export {
  GATEWAY_API_ROUTES,
  type GatewayApiRoute,
  GRPCRoute,
  HTTPRoute,
  KubernetesTCPRoute,
  TLSRoute,
} from "./gatewayApi/routes.ts";
export {
  type AccessLogFilter,
  type AccessLogger,
  type AccessLogPatch,
  AGENT_CLUSTER,
  type AgentClusterPatch,
} from "./istio/accessLogFilter.ts";
export { AuthorizationPolicy, type AuthorizationRule, type AuthorizationSource } from "./istio/authorizationPolicy.ts";
export { type ConnectionPolicy, DestinationRule, type Subset } from "./istio/destinationRule.ts";
export { EnvoyFilter, type HttpFilter } from "./istio/envoyFilter.ts";
export { Gateway } from "./istio/gateway.ts";
export { PeerAuthentication } from "./istio/peerAuthentication.ts";
export { ServiceEntry, type ServiceEntryPort, type ServiceEntrySpec, type WorkloadEntry } from "./istio/serviceEntry.ts";
export { Sidecar } from "./istio/sidecar.ts";
export { type ConnectionRoute, type HttpMatchRequest, type HttpRoute, VirtualService } from "./istio/virtualService.ts";
export { RBAC_FILTER, WASM_FILTER, type WasmPatch } from "./istio/wasmFilter.ts";
export { WASM_ANNOTATION, WASM_REVISION_ANNOTATION, type WasmFilterOrder, wasmOrderDigest, wasmOrdersOf } from "./istio/wasmOrder.ts";
export { CILIUM_CONFIG_NAME, ConfigMap, MESH_CONFIG_KEY, MESH_CONFIG_NAME } from "./kubernetes/configMap.ts";
export { type Controller, INJECTION_TEMPLATES, isNoneReady, SIDECAR_INJECT } from "./kubernetes/controller.ts";
export { DaemonSet } from "./kubernetes/daemonSet.ts";
export { CustomResourceDefinition } from "./kubernetes/definedType.ts";
export { Deployment } from "./kubernetes/deployment.ts";
export { EndpointSlice, SERVICE_NAME_LABEL } from "./kubernetes/endpointSlice.ts";
export { Endpoints } from "./kubernetes/endpoints.ts";
export { Lease } from "./kubernetes/lease.ts";
export { Namespace, RESUME_DELETES } from "./kubernetes/namespace.ts";
export { KIND_NODE_IMAGE, Node } from "./kubernetes/node.ts";
export { Pod, REVISION_ANNOTATION, SCRAPE_ANNOTATION, SCRAPE_PORT_ANNOTATION, SIDECAR_STATUS_ANNOTATION } from "./kubernetes/pod.ts";
export { CLUSTER_ID_VARIABLE, ISTIOD_CONTAINER, SKIP_TRUST_DOMAIN_VARIABLE } from "./kubernetes/project.ts";
export { ReplicaSet } from "./kubernetes/replicaSet.ts";
export { JOIN_TOKEN_LABEL, ROOT_OPTIONS, Secret } from "./kubernetes/secret.ts";
export { type KubernetesServicePort, Service } from "./kubernetes/service.ts";
export { StatefulSet } from "./kubernetes/statefulSet.ts";
export {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
  type WebhookOfConfiguration,
} from "./kubernetes/webhookConfiguration.ts";
export { KubernetesCluster } from "./multicluster/kubernetesCluster.ts";
export {
  isNamedIn,
  type ManagedObject,
  managedObjectsOf,
  type WriteMode,
  writeModeOf,
} from "./multicluster/writeMode.ts";
export {
  AccessPolicy,
  type AccessPolicySpec,
  lastAcceptedForm,
  readableSelectors,
  UNREADABLE,
} from "./networking/accessPolicy.ts";
export type { ConnectionPoolSettings, TcpKeepalive } from "./networking/connectionPool.ts";
export type { FailureDetection } from "./networking/failureDetection.ts";
export { ServiceDependency, type ServiceDependencySpec } from "./networking/serviceDependency.ts";
export { TrafficPolicy } from "./networking/trafficPolicy.ts";
export type { TrafficPolicyRules, TrafficPolicySpec } from "./networking/trafficPolicySpec.ts";
export type { MtlsConfig } from "./networking/trust.ts";
export { VirtualDestination, type VirtualDestinationSpec } from "./networking/virtualDestination.ts";
export { VirtualMesh, type VirtualMeshSpec } from "./networking/virtualMesh.ts";
export { WasmDeployment, type WasmDeploymentSpec } from "./networking/wasmDeployment.ts";
export { WasmFilterReport, type WasmFilterState } from "./networking/wasmFilterReport.ts";
export type { WeightedDestination } from "./networking/weightedDestination.ts";
export { AccessLogRecord, type AccessLogRecordSpec } from "./observability/accessLogRecord.ts";
export { parseOffline } from "./offline.ts";
export {
  agedKinds,
  agentKinds,
  allKinds,
  answeredKinds,
  computedKinds,
  contributedKinds,
  countedKinds,
  customResourceDefinitions,
  deliveredKinds,
  discoveryKinds,
  hasUserStatus,
  isInstalled,
  keepsLastGood,
  keptFor,
  kindOf,
  kindsReadIfPermitted,
  managementKinds,
  onDemandKinds,
  ownKinds,
  ownWrittenKinds,
  proxyKinds,
  publishedKinds,
  referredKinds,
  scopedKinds,
  summaryKinds,
  userKinds,
  userStatusKinds,
} from "./roles.ts";
export { Settings, type SettingsSpec } from "./settings/settings.ts";
export { settingsInForce } from "./settings/settingsInForce.ts";
export { hasSuppressionEnded, type InsightSuppression, insightSuppressions } from "./settings/suppressions.ts";
export type { ApprovalStatus, TrustProgressStatus } from "./shared/approval.ts";
export type {
  CrdDefinition,
  DefinedKind,
  DefinedResource,
  Fields,
  KindDefinition,
  PrinterColumn,
  Value,
} from "./shared/defineKind.ts";
export { durationText, nanosecondsOf } from "./shared/duration.ts";
export type { HeaderManipulation } from "./shared/headerManipulation.ts";
export type { HttpMatcher } from "./shared/httpMatcher.ts";
export { type KeepingLastAccepted, keepsLastAccepted, lastAcceptedSpecOf } from "./shared/lastAcceptedSpec.ts";
export { MOST_PROBLEMS } from "./shared/problems.ts";
export { publishedForm } from "./shared/publishedForm.ts";
export type { DestinationSelector, IdentitySelector, WorkloadSelector } from "./shared/selectors.ts";
export { escapedRegex, type StringMatch } from "./shared/stringMatch.ts";
export { asSeems, type IneffectiveField, ineffectiveFields } from "./shared/unknownFields.ts";
export { HTTPRouteGroup, type HttpRouteMatch } from "./smi/httpRouteGroup.ts";
export { OsmMeshConfig } from "./smi/osmMeshConfig.ts";
export { TCPRoute } from "./smi/tcpRoute.ts";
export { TrafficSplit } from "./smi/trafficSplit.ts";
export { TrafficTarget, type TrafficTargetSpec, type TrafficTargetSubject } from "./smi/trafficTarget.ts";
export { type UnsupportedKind, unsupportedKind } from "./unsupportedKinds.ts";
