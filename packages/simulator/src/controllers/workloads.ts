import * as api from "@isthmus/api";
import type { AnyResource, Kind, LabelSelector, Resource } from "@isthmus/core";

export type StringMap = Readonly<Record<string, string>>;

export interface ContainerPort {
  readonly name?: string;
  readonly containerPort: number;
  readonly protocol?: string;
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly ports?: readonly ContainerPort[];
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly nodeName?: string;
  readonly hostNetwork?: boolean;
  readonly serviceAccountName?: string;
}

export interface PodTemplate {
  readonly metadata?: { readonly labels?: StringMap; readonly annotations?: StringMap };
  readonly spec: PodSpec;
}

export interface SimulatedCondition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}

type With<Spec, Status> = Resource & { readonly spec: Spec; readonly status?: Status };

export type SimulatedPod = With<PodSpec, PodStatus>;
export interface PodStatus {
  readonly phase?: string;
  readonly podIP?: string;
  readonly conditions?: readonly SimulatedCondition[];
}

export interface ControllerSpec {
  readonly replicas?: number;
  readonly selector: LabelSelector;
  readonly template: PodTemplate;
}
/** The counts and conditions of a Deployment, ReplicaSet, StatefulSet or DaemonSet. */
export type ControllerStatus = Readonly<Record<string, unknown>>;

export type SimulatedDeployment = With<
  ControllerSpec & { readonly paused?: boolean; readonly revisionHistoryLimit?: number },
  ControllerStatus
>;
export type SimulatedReplicaSet = With<ControllerSpec, ControllerStatus>;
export type SimulatedStatefulSet = With<ControllerSpec, ControllerStatus>;
export type SimulatedDaemonSet = With<ControllerSpec, ControllerStatus>;

export interface SimulatedServicePort {
  readonly name?: string;
  readonly port: number;
  readonly protocol?: string;
  readonly appProtocol?: string;
  readonly targetPort?: number | string;
}
export type SimulatedService = With<
  {
    readonly type?: string;
    readonly selector?: StringMap;
    readonly ports?: readonly SimulatedServicePort[];
    readonly publishNotReadyAddresses?: boolean;
  },
  { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } }
>;

export type SimulatedNode = Resource & {
  readonly status?: {
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly conditions?: readonly SimulatedCondition[];
  };
};

/** A kind of the API as controllers see it: whole objects, and more of their fields than translation reads. */
function whole<R extends Resource>({ apiVersion, kind, plural, namespaced, versions, parse }: Kind): Kind<R> {
  // The kind's own check covers what it declares; the rest an API server has checked before it stored the object.
  return { apiVersion, kind, plural, namespaced, versions, parse: (input) => parse(input) as R };
}

export const SimulatedDaemonSet = whole<SimulatedDaemonSet>(api.DaemonSet);
export const SimulatedDeployment = whole<SimulatedDeployment>(api.Deployment);
export const SimulatedEndpoints = whole<AnyResource>(api.Endpoints);
export const SimulatedEndpointSlice = whole<AnyResource>(api.EndpointSlice);
export const SimulatedNamespace = whole<AnyResource>(api.Namespace);
export const SimulatedNode = whole<SimulatedNode>(api.Node);
export const SimulatedPod = whole<SimulatedPod>(api.Pod);
export const SimulatedReplicaSet = whole<SimulatedReplicaSet>(api.ReplicaSet);
export const SimulatedService = whole<SimulatedService>(api.Service);
export const SimulatedStatefulSet = whole<SimulatedStatefulSet>(api.StatefulSet);

/** Whether a pod is there to stay and answers. */
export function isReady({ status }: SimulatedPod): boolean {
  return status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;
}

/** Whether a pod is counted: it is neither going nor done. */
export function isActive({ metadata, status }: SimulatedPod): boolean {
  return metadata.deletionTimestamp === undefined && status?.phase !== "Succeeded" && status?.phase !== "Failed";
}
