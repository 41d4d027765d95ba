import type { Metadata } from "@isthmus/core";
import { VIRTUAL_NODE_VARIABLE } from "../aws/appMesh.ts";

/** Holds a copy of the whole object, container environments included; never sent out of its cluster. */
export const LAST_APPLIED_ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration";

/** Metadata as it leaves a cluster: no field managers, no finalizers, no copy of the object. `keepAnnotation` tells which annotations stay. */
export function projectedMetadata(metadata: Metadata, keepAnnotation: (key: string) => boolean = () => true): Metadata {
  const { managedFields: _, finalizers: __, annotations, ...rest } = metadata;
  const kept = Object.entries(annotations ?? {}).filter(([key]) => key !== LAST_APPLIED_ANNOTATION && keepAnnotation(key));
  return kept.length === 0 ? rest : { ...rest, annotations: Object.fromEntries(kept) };
}

interface Container {
  readonly name?: string;
  readonly image?: string;
  readonly restartPolicy?: string;
  readonly env?: readonly { readonly name?: string; readonly value?: string }[];
}

interface PodSpec {
  readonly serviceAccountName?: string;
  readonly nodeName?: string;
  readonly hostNetwork?: boolean;
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
}

/** Of a pod's spec, who runs where and which images: no commands, volumes or environments, but for what names a mesh, or its cluster. */
export function projectedPodSpec(spec: PodSpec): PodSpec {
  const { serviceAccountName, nodeName, hostNetwork, containers, initContainers } = spec;
  return {
    ...(serviceAccountName === undefined ? {} : { serviceAccountName }),
    ...(nodeName === undefined ? {} : { nodeName }),
    // Of nearly all pods it is not said at all.
    ...(hostNetwork === true ? { hostNetwork } : {}),
    ...(containers === undefined ? {} : { containers: containers.map(identity) }),
    ...(initContainers === undefined ? {} : { initContainers: initContainers.map(identity) }),
  };
}

function identity({ name, image, restartPolicy, env = [] }: Container): Container {
  const isIstiod = name === ISTIOD_CONTAINER;
  const ofMesh = env.flatMap(({ name: variable = "", value = "" }) =>
    variable === VIRTUAL_NODE_VARIABLE || (isIstiod && VARIABLES_OF_ISTIOD.has(variable) && value.length <= LONGEST_ID)
      ? [{ name: variable, value }]
      : [],
  );
  return {
    ...(name === undefined ? {} : { name }),
    ...(image === undefined ? {} : { image }),
    ...(restartPolicy === undefined ? {} : { restartPolicy }),
    ...(ofMesh.length === 0 ? {} : { env: ofMesh }),
  };
}

/** The container of istiod. Source: Istio's chart istiod. */
export const ISTIOD_CONTAINER = "discovery";
/** In istiod: what Istio calls the cluster. Source: istio.io/docs/reference/commands/pilot-discovery. */
export const CLUSTER_ID_VARIABLE = "CLUSTER_ID";
/** In istiod: whether proxies take callers of any trust domain below their root. Source: as above. */
export const SKIP_TRUST_DOMAIN_VARIABLE = "PILOT_SKIP_VALIDATE_TRUST_DOMAIN";
const VARIABLES_OF_ISTIOD: ReadonlySet<string> = new Set([CLUSTER_ID_VARIABLE, SKIP_TRUST_DOMAIN_VARIABLE]);
const LONGEST_ID = 253;
