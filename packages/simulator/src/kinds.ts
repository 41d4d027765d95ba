import { type AnyResource, type Kind, kindKeyOf } from "@isthmus/core";

/** A kind as a simulated API server serves it. */
export interface SimulatedKind {
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Every version that is served, the one that objects are kept in first. */
  readonly versions: readonly string[];
  /** Whether `status` is written apart from the rest. */
  readonly statusSubresource: boolean;
  /** Whether `metadata.generation` counts changes of what is neither metadata nor status. */
  readonly generation: boolean;
  /** Checks an object on write; throws InvalidResource. */
  readonly parse?: (input: unknown) => unknown;
}

type Trait = "cluster-scoped" | "no-status" | "no-generation";

function builtIn(apiVersion: string, kind: string, plural: string, ...traits: readonly Trait[]): SimulatedKind {
  return {
    kind,
    plural,
    namespaced: !traits.includes("cluster-scoped"),
    versions: [apiVersion],
    statusSubresource: !traits.includes("no-status"),
    generation: !traits.includes("no-generation"),
  };
}

/** What every API server serves, as far as Istio, its users and we touch it. Source: `kubectl api-resources` of Kubernetes 1.34. */
export const builtInKinds: readonly SimulatedKind[] = [
  builtIn("v1", "Namespace", "namespaces", "cluster-scoped", "no-generation"),
  builtIn("v1", "Node", "nodes", "cluster-scoped", "no-generation"),
  builtIn("v1", "Pod", "pods"),
  builtIn("v1", "Service", "services", "no-generation"),
  builtIn("v1", "ConfigMap", "configmaps", "no-status", "no-generation"),
  builtIn("v1", "Secret", "secrets", "no-status", "no-generation"),
  builtIn("v1", "ServiceAccount", "serviceaccounts", "no-status", "no-generation"),
  builtIn("v1", "Endpoints", "endpoints", "no-status", "no-generation"),
  builtIn("v1", "Event", "events", "no-status", "no-generation"),
  builtIn("apps/v1", "Deployment", "deployments"),
  builtIn("apps/v1", "ReplicaSet", "replicasets"),
  builtIn("apps/v1", "StatefulSet", "statefulsets"),
  builtIn("apps/v1", "DaemonSet", "daemonsets"),
  builtIn("batch/v1", "Job", "jobs"),
  builtIn("batch/v1", "CronJob", "cronjobs"),
  builtIn("discovery.k8s.io/v1", "EndpointSlice", "endpointslices", "no-status"),
  builtIn("coordination.k8s.io/v1", "Lease", "leases", "no-status", "no-generation"),
  builtIn("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"),
  builtIn("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", "no-generation"),
  builtIn("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", "no-status"),
  builtIn("networking.k8s.io/v1", "Ingress", "ingresses"),
  builtIn("rbac.authorization.k8s.io/v1", "Role", "roles", "no-status", "no-generation"),
  builtIn("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings", "no-status", "no-generation"),
  builtIn("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", "cluster-scoped", "no-status", "no-generation"),
  builtIn("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings", "cluster-scoped", "no-status", "no-generation"),
  builtIn(
    "admissionregistration.k8s.io/v1",
    "MutatingWebhookConfiguration",
    "mutatingwebhookconfigurations",
    "cluster-scoped",
    "no-status",
  ),
  builtIn(
    "admissionregistration.k8s.io/v1",
    "ValidatingWebhookConfiguration",
    "validatingwebhookconfigurations",
    "cluster-scoped",
    "no-status",
  ),
  builtIn("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies", "cluster-scoped"),
  builtIn(
    "admissionregistration.k8s.io/v1",
    "ValidatingAdmissionPolicyBinding",
    "validatingadmissionpolicybindings",
    "cluster-scoped",
    "no-status",
  ),
  builtIn("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", "cluster-scoped"),
];

const BUILT_IN = new Map(builtInKinds.map((kind) => [keyOfSimulatedKind(kind), kind]));

/** The key of a kind across its versions, as `kindKeyOf` gives it. */
export function keyOfSimulatedKind(kind: SimulatedKind): string {
  return kindKeyOf({ apiVersion: storageVersionOf(kind), kind: kind.kind });
}

/** Whether the API server brings this kind itself. */
export function isBuiltIn(kindKey: string): boolean {
  return BUILT_IN.has(kindKey);
}

/**
 * The version that objects are kept in: the first that is served. Throws Error for a kind without versions, which is a mistake in its
 * definition.
 */
export function storageVersionOf(kind: SimulatedKind): string {
  const version = kind.versions[0];
  if (version === undefined) throw new Error(`${kind.kind} has no versions`);
  return version;
}

/** A kind of ours or of a mesh as a CRD would serve it; a built-in one keeps its traits and is checked by `kind.parse` from now on. */
export function simulatedKindOf(kind: Kind): SimulatedKind {
  const { kind: name, plural, namespaced, versions } = kind;
  const known = BUILT_IN.get(kindKeyOf(kind));
  const traits = known ?? { statusSubresource: true, generation: true };
  return { ...traits, kind: name, plural, namespaced, versions, parse: (input) => kind.parse(input) };
}

/** A kind whose objects are taken as they are. */
export function untypedKind(type: Omit<Kind, "parse" | "project" | "versions">): Kind<AnyResource> {
  const { apiVersion, kind, plural, namespaced } = type;
  return { apiVersion, kind, plural, namespaced, versions: [apiVersion], parse: (input) => input as AnyResource };
}
