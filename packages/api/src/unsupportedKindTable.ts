/** Kinds of groups whose names end alike, each with what to use instead; "*" is any other kind of such a group. */
export interface UnsupportedGroup {
  /** The group, or with a dot before it what its name ends with. */
  readonly group: string;
  /** What the group belongs to, to begin a message with. Absent: nothing is said of that. */
  readonly belongsTo?: string;
  readonly kinds: Readonly<Record<string, string>>;
}

const TRAFFIC = "use TrafficPolicy of networking.mesh.gloo.solo.io/v1";
const ACCESS = "use AccessPolicy of networking.mesh.gloo.solo.io/v1";
const INGRESS = "use Gateway and VirtualService of Istio for ingress traffic";
const RATE_LIMITS = "use EnvoyFilter of Istio for rate limits";
const ACCESS_LOGS = "use AccessLogRecord of observability.enterprise.mesh.gloo.solo.io/v1, or Telemetry of Istio";
const GATEWAY_FILTERS = "use EnvoyFilter of Istio";
const JOINED_HOST = "use VirtualDestination of networking.enterprise.mesh.gloo.solo.io/v1beta1";
const FAILOVER_SERVICE = `${JOINED_HOST}, with the same hostname and port, meshList.meshes for meshes, and static.destinations, in the same order, for backingServices`;
const ROLES =
  "use RBAC of Kubernetes for who may write which kinds, and policies.namespaces and workloadClusterResources of the Settings for what their policies may target";
const NOTHING_ELSE = "there is nothing that does the same";

/** A kind that is made by a management plane, not by users. */
export const MADE_BY_DISCOVERY = "is made by discovery, not by users: it is discovered as";

/**
 * Kinds of the Gloo Mesh APIs, of all generations, that are not read: what does the same. Source: the CRDs of the published products
 * (Service Mesh Hub 0.x, Gloo Mesh 1.x with its enterprise groups, Gloo Platform 2.x).
 */
export const UNSUPPORTED_KINDS: readonly UnsupportedGroup[] = [
  {
    group: "networking.mesh.gloo.solo.io",
    kinds: { FailoverService: `is not supported: ${FAILOVER_SERVICE}` },
  },
  {
    group: "discovery.mesh.gloo.solo.io",
    kinds: {
      MeshService: `${MADE_BY_DISCOVERY} Destination`,
      TrafficTarget: `${MADE_BY_DISCOVERY} Destination`,
      MeshWorkload: `${MADE_BY_DISCOVERY} Workload`,
    },
  },
  { group: "rbac.enterprise.mesh.gloo.solo.io", kinds: { "*": `is not supported: ${ROLES}` } },
  {
    group: ".enterprise.mesh.gloo.solo.io",
    kinds: {
      VirtualGateway: `is not supported: ${INGRESS}`,
      VirtualHost: `is not supported: ${INGRESS}`,
      RouteTable: `is not supported: ${TRAFFIC}, or VirtualService of Istio`,
      RateLimiterServerConfig: `is not supported: ${RATE_LIMITS}`,
      RateLimitServerConfig: `is not supported: ${RATE_LIMITS}`,
      RateLimitClientConfig: `is not supported: ${RATE_LIMITS}`,
      FailoverService: `is not supported: ${FAILOVER_SERVICE}`,
    },
  },
  {
    group: ".smh.solo.io",
    belongsTo: "belongs to Service Mesh Hub, before Gloo Mesh 1.0",
    kinds: {
      FailoverService: FAILOVER_SERVICE,
      MeshService: `${MADE_BY_DISCOVERY} Destination`,
      TrafficTarget: `${MADE_BY_DISCOVERY} Destination`,
      MeshWorkload: `${MADE_BY_DISCOVERY} Workload`,
      AccessControlPolicy: ACCESS,
    },
  },
  { group: ".zephyr.solo.io", belongsTo: "belongs to Service Mesh Hub, before Gloo Mesh 1.0", kinds: { AccessControlPolicy: ACCESS } },
  {
    group: ".gloo.solo.io",
    belongsTo: "belongs to the Gloo Platform API v2, another product generation, which is not supported",
    kinds: {
      // admin.gloo.solo.io
      Workspace: "use VirtualMesh of networking.mesh.gloo.solo.io/v1 to group meshes",
      WorkspaceSettings: "use VirtualMesh of networking.mesh.gloo.solo.io/v1 to group and federate meshes",
      RootTrustPolicy: "use VirtualMesh of networking.mesh.gloo.solo.io/v1 (mtlsConfig.shared)",
      KubernetesCluster: "use KubernetesCluster of multicluster.solo.io/v1alpha1, which registration creates",
      ExtAuthServer: "use an extension provider and an AuthorizationPolicy of Istio (action CUSTOM)",
      RateLimitServerConfig: RATE_LIMITS,
      RateLimitServerSettings: RATE_LIMITS,
      IstioLifecycleManager: "install Istio with its own Helm charts or istioctl",
      GatewayLifecycleManager: "install gateways with Istio's own Helm charts or istioctl",
      WaypointLifecycleManager: "use Gateway of gateway.networking.k8s.io with Istio's waypoint class",
      Dashboard: "the console needs no object: set glooUi.enabled in the chart of the management server",
      // networking.gloo.solo.io
      VirtualGateway: INGRESS,
      RouteTable: TRAFFIC,
      ExternalService: "use ServiceEntry of Istio",
      ExternalEndpoint: "use WorkloadEntry of Istio",
      ExternalWorkload: "use WorkloadGroup of Istio",
      VirtualDestination: JOINED_HOST,
      // security.policy.gloo.solo.io
      AccessPolicy: ACCESS,
      ClientTLSPolicy: `${TRAFFIC} (mtls)`,
      CORSPolicy: `${TRAFFIC} (corsPolicy)`,
      CSRFPolicy: `${TRAFFIC} (csrf)`,
      ExtAuthPolicy: "use AuthorizationPolicy of Istio (action CUSTOM)",
      JWTPolicy: "use RequestAuthentication and AuthorizationPolicy of Istio",
      WAFPolicy: GATEWAY_FILTERS,
      DLPPolicy: GATEWAY_FILTERS,
      // resilience.policy.gloo.solo.io
      RetryTimeoutPolicy: `${TRAFFIC} (requestTimeout, retries)`,
      FaultInjectionPolicy: `${TRAFFIC} (faultInjection)`,
      OutlierDetectionPolicy: `${TRAFFIC} (outlierDetection)`,
      ConnectionPolicy: `${TRAFFIC} (connectionPoolSettings)`,
      ListenerConnectionPolicy: GATEWAY_FILTERS,
      FailoverPolicy: `${JOINED_HOST} (localized.failoverDirectives)`,
      ActiveHealthCheckPolicy: GATEWAY_FILTERS,
      AdaptiveRequestConcurrencyPolicy: GATEWAY_FILTERS,
      TrimProxyConfigPolicy: "use ServiceDependency of networking.enterprise.mesh.gloo.solo.io/v1beta1",
      // trafficcontrol.policy.gloo.solo.io
      MirrorPolicy: `${TRAFFIC} (mirror)`,
      HeaderManipulationPolicy: `${TRAFFIC} (headerManipulation)`,
      LoadBalancerPolicy: "use DestinationRule of Istio (loadBalancer)",
      RateLimitPolicy: RATE_LIMITS,
      RateLimitClientConfig: RATE_LIMITS,
      TransformationPolicy: GATEWAY_FILTERS,
      HTTPBufferPolicy: GATEWAY_FILTERS,
      HTTPCompressionPolicy: GATEWAY_FILTERS,
      ProxyProtocolPolicy: GATEWAY_FILTERS,
      // observability.policy.gloo.solo.io, extensions.policy.gloo.solo.io, apimanagement.gloo.solo.io
      AccessLogPolicy: ACCESS_LOGS,
      WasmDeploymentPolicy: "use WasmDeployment of networking.enterprise.mesh.gloo.solo.io/v1beta1, or WasmPlugin of Istio",
      Portal: NOTHING_ELSE,
      PortalGroup: NOTHING_ELSE,
      GraphQLSchema: NOTHING_ELSE,
      GraphQLResolverMap: NOTHING_ELSE,
      GraphQLStitchedSchema: NOTHING_ELSE,
    },
  },
];
