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

export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}

type With<Spec, Status> = Resource & { readonly spec: Spec; readonly status?: Status };

export type Pod = With<PodSpec, PodStatus>;
export interface PodStatus {
  readonly phase?: string;
  readonly podIP?: string;
  readonly conditions?: readonly Condition[];
}

export interface ControllerSpec {
  readonly replicas?: number;
  readonly selector: LabelSelector;
  readonly template: PodTemplate;
}
/** The counts and conditions of a Deployment, ReplicaSet, StatefulSet or DaemonSet. */
export type ControllerStatus = Readonly<Record<string, unknown>>;

export type Deployment = With<ControllerSpec & { readonly paused?: boolean; readonly revisionHistoryLimit?: number }, ControllerStatus>;
export type ReplicaSet = With<ControllerSpec, ControllerStatus>;
export type StatefulSet = With<ControllerSpec, ControllerStatus>;
export type DaemonSet = With<ControllerSpec, ControllerStatus>;

export interface ServicePort {
  readonly name?: string;
  readonly port: number;
  readonly protocol?: string;
  readonly appProtocol?: string;
  readonly targetPort?: number | string;
}
export type Service = With<
  {
    readonly type?: string;
    readonly selector?: StringMap;
    readonly ports?: readonly ServicePort[];
    readonly publishNotReadyAddresses?: boolean;
  },
  { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } }
>;

export type Node = Resource & {
  readonly status?: {
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly conditions?: readonly Condition[];
  };
};

/** A kind of the API as controllers see it: whole objects, and more of their fields than translation reads. */
function whole<R extends Resource>({ apiVersion, kind, plural, namespaced, versions, parse }: Kind): Kind<R> {
  // The kind's own check covers what it declares; the rest an API server has checked before it stored the object.
  return { apiVersion, kind, plural, namespaced, versions, parse: (input) => parse(input) as R };
}

export const DaemonSet = whole<DaemonSet>(api.DaemonSet);
export const Deployment = whole<Deployment>(api.Deployment);
export const Endpoints = whole<AnyResource>(api.Endpoints);
export const EndpointSlice = whole<AnyResource>(api.EndpointSlice);
export const Namespace = whole<AnyResource>(api.Namespace);
export const Node = whole<Node>(api.Node);
export const Pod = whole<Pod>(api.Pod);
export const ReplicaSet = whole<ReplicaSet>(api.ReplicaSet);
export const Service = whole<Service>(api.Service);
export const StatefulSet = whole<StatefulSet>(api.StatefulSet);

/** Whether a pod is there to stay and answers. */
export function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;
}

/** Whether a pod is counted: it is neither going nor done. */
export function isActive({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp === undefined && status?.phase !== "Succeeded" && status?.phase !== "Failed";
}
