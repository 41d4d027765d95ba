import { formatRef, isAtLeast, minorVersion } from "@isthmus/core";
import type { Permission } from "@isthmus/kubernetes";
import type { Check } from "../checks/check.ts";
import { deploymentOf } from "../deployments.ts";
import { clocksAgree, identitiesAreRequired, tokensAreRead } from "./identityChecks.ts";
import { hasIstio, istioMeshes } from "./istioMeshes.ts";
import type { TargetState } from "./targetState.ts";

/** The oldest version of Kubernetes that is supported. */
const OLDEST_KUBERNETES = "1.28";
const OLDEST_ISTIO = "1.20";

/** Whether Kubernetes is old. */
export const kubernetesIsSupported: Check<TargetState> = {
  category: "Kubernetes",
  description: `Kubernetes is ${OLDEST_KUBERNETES} or later`,
  reads: ["kubernetes"],
  findings: ({ kubernetes }) => {
    // Builds from source say v0.0.0-master.
    const isSupported = minorVersion(kubernetes)?.major === 0 ? undefined : isAtLeast(kubernetes, OLDEST_KUBERNETES);
    if (isSupported === true) return [];
    const message = isSupported === false ? `Kubernetes is ${kubernetes}` : `the version of Kubernetes, ${kubernetes}, is not understood`;
    const severity = isSupported === false ? "error" : "warning";
    return [{ code: "PRE1001", severity, message, remedy: `upgrade the cluster to ${OLDEST_KUBERNETES} or later` }];
  },
};

/** Whether the user has the rights that were looked at. */
const userMayInstall: Check<TargetState> = {
  category: "Kubernetes",
  description: "Your user has the permissions to install an agent",
  reads: ["lacking"],
  findings: ({ lacking }) =>
    lacking.map((permission) => ({
      code: "PRE1002",
      severity: "error",
      message: `your user cannot ${permissionText(permission)}`,
      remedy: LACKING_REMEDY,
    })),
};

/** Such as `create deployments.apps in namespace gloo-mesh`. */
export function permissionText({ verb, group, resource, namespace }: Permission): string {
  return `${verb} ${group === "" ? resource : `${resource}.${group}`}${namespace === undefined ? "" : ` in namespace ${namespace}`}`;
}

/** What to do about permissions that a user lacks. */
export const LACKING_REMEDY = "use a kubeconfig whose user is bound to the ClusterRole cluster-admin, or let such a user install it";

const meshIsThere: Check<TargetState> = {
  category: "Mesh",
  description: "A service mesh runs in the cluster",
  reads: ["discovered"],
  findings: ({ discovered: { meshes, reports } }) => [
    ...(meshes.length > 0
      ? []
      : ([
          {
            code: "PRE1101",
            severity: "warning",
            message: "no control plane of a mesh was found: an agent would report no Meshes",
            remedy: "install Istio: istiod is found by its Deployment, whose name begins with istiod, and its image pilot",
          },
        ] as const)),
    ...reports.map(({ subject, state, message }) => ({
      code: "PRE1102" as const,
      severity: state === "WARNING" ? ("warning" as const) : ("error" as const),
      message: `${formatRef({ ...subject, clusterName: "" })}: ${message}`,
      remedy: "discovery reports the same after registration",
    })),
  ],
};

const istioIsSupported: Check<TargetState> = {
  category: "Mesh",
  description: `Istio is ${OLDEST_ISTIO} or later`,
  reads: ["discovered"],
  applies: hasIstio,
  findings: ({ discovered }) =>
    istioMeshes(discovered.meshes).flatMap(({ place, istio }) => {
      const { version = "" } = istio.installation ?? {};
      if (isAtLeast(version, OLDEST_ISTIO) !== false) return [];
      return {
        code: "UPG1001",
        severity: "warning",
        message: `Istio in ${place} is ${version}`,
        remedy: `upgrade it to ${OLDEST_ISTIO} or later`,
      };
    }),
};

const trustDomainIsOwn: Check<TargetState> = {
  category: "Mesh",
  description: "Istio has a trust domain of its own",
  reads: ["discovered"],
  applies: hasIstio,
  findings: ({ discovered }) =>
    istioMeshes(discovered.meshes).flatMap(({ place, istio }) => {
      const { trustDomain = "" } = istio;
      if (trustDomain !== "" && trustDomain !== SHARED_TRUST_DOMAIN) return [];
      const message = `Istio in ${place} has the trust domain ${SHARED_TRUST_DOMAIN}, as others have by default: AccessPolicies cannot tell their callers apart`;
      return { code: "PRE1103", severity: "info", message, remedy: "set trustDomain in its mesh configuration to a name of this cluster" };
    }),
};

const SHARED_TRUST_DOMAIN = "cluster.local";

const gatewayIsThere: Check<TargetState> = {
  category: "Mesh",
  description: "A gateway for traffic from other clusters has an address",
  reads: ["discovered"],
  applies: hasIstio,
  findings: ({ discovered }) =>
    istioMeshes(discovered.meshes).flatMap(({ place, istio }) => {
      if ((istio.ingressGateways ?? []).length > 0) return [];
      const message = `no gateway of Istio in ${place} can take traffic from other clusters: no service of the cluster can be federated`;
      const remedy = "install a gateway in that namespace with pods labelled istio: ingressgateway, and a Service with a port named tls";
      return { code: "FED1003", severity: "warning", message, remedy };
    }),
};

const hostsAreResolved: Check<TargetState> = {
  category: "Mesh",
  description: "Sidecars resolve hosts of other clusters",
  reads: ["discovered"],
  applies: hasIstio,
  findings: ({ discovered }) =>
    istioMeshes(discovered.meshes).flatMap(({ place, istio }) => {
      if (istio.smartDnsProxyingEnabled === true) return [];
      const message = `sidecars of Istio in ${place} do not resolve hosts of other clusters, whose names end in .global`;
      const remedy =
        'before you federate, set ISTIO_META_DNS_CAPTURE: "true" in meshConfig.defaultConfig.proxyMetadata and restart its workloads, or have the cluster\'s DNS answer for these hosts';
      return { code: "FED1019", severity: "warning", message, remedy };
    }),
};

/** What must hold before an agent is installed. */
export const PRECHECKS: readonly Check<TargetState>[] = [
  kubernetesIsSupported,
  userMayInstall,
  meshIsThere,
  istioIsSupported,
  trustDomainIsOwn,
  gatewayIsThere,
  hostsAreResolved,
];

const agentIsRunning: Check<TargetState> = {
  category: "Agent",
  description: "The agent is running",
  reads: ["agents"],
  findings: ({ agents, namespace }) => {
    const agent = deploymentOf("agent", agents);
    if (agent === undefined) {
      const remedy = "--remote-namespace names the one of the agent; meshctl cluster register installs it";
      return [{ code: "HLT1101", severity: "error", message: `no Deployment of an agent in namespace ${namespace}`, remedy }];
    }
    if ((agent.status?.availableReplicas ?? 0) > 0) return [];
    const { name } = agent.metadata;
    const remedy = `kubectl -n ${namespace} describe deployment ${name}`;
    return [{ code: "HLT1101", severity: "error", message: `Deployment ${namespace}/${name} has no available pods`, remedy }];
  },
};

/** What must hold in a cluster with an agent. */
export const REMOTE_CHECKS: readonly Check<TargetState>[] = [
  kubernetesIsSupported,
  agentIsRunning,
  clocksAgree,
  meshIsThere,
  istioIsSupported,
  trustDomainIsOwn,
  gatewayIsThere,
  identitiesAreRequired,
  tokensAreRead,
];
