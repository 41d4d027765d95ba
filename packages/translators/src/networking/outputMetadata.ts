import type { Destination } from "@isthmus/api";
import {
  type ClusterObjectRef,
  keyOf,
  type Metadata,
  type Output,
  type Owner,
  type Resource,
  type ResourceRef,
  refOf,
} from "@isthmus/core";
import { CLUSTER_LABEL } from "../clusterLabel.ts";
import { remembered } from "../remembered.ts";
import { type UserRef, userRefOf } from "../userResources.ts";

/** On every object that networking writes: its value is the namespace of the management plane. */
export const NETWORKING_OWNER_LABEL = "owner.networking.mesh.gloo.solo.io";
const PARENTS_ANNOTATION = "parents.networking.mesh.gloo.solo.io";
const FEDERATION_ANNOTATION = "federation.networking.mesh.gloo.solo.io";

/** The owner of all that networking writes. */
export function networkingOwner(namespace: string): Owner {
  return { label: NETWORKING_OWNER_LABEL, value: namespace };
}

export interface OutputIdentity {
  readonly name: string;
  readonly namespace: string;
  /** "" for the management cluster. */
  readonly clusterName: string;
  /** Namespace of the management plane, for the owner label. */
  readonly owner: string;
  /** The resources because of which the object exists; they get to know when it can't be written. */
  readonly parents: readonly Resource[];
  /** The Destination that the object is about: its annotations go along. */
  readonly annotationsOf?: Destination;
  /** The Kubernetes Service behind an object that stands for it in another cluster. */
  readonly federates?: ClusterObjectRef;
}

/** An output with the labels and annotations that the published API defines. `body` is all but metadata. */
export function outputOf(identity: OutputIdentity, body: Readonly<Record<string, unknown>> & TypeOfResource): Output {
  const [parent, ...others] = identity.parents;
  const { refs, annotation } = parent === undefined || others.length > 0 ? parentage(identity.parents) : oneParent(parent);
  return { resource: { ...body, metadata: metadataOf(identity, annotation) } satisfies Resource, parents: refs };
}

interface TypeOfResource {
  readonly apiVersion: string;
  readonly kind: string;
}

interface Parentage {
  readonly refs: readonly ResourceRef[];
  readonly annotation: string;
}

function parentage(parents: readonly Resource[]): Parentage {
  const refs = parents.map(refOf);
  return { refs, annotation: parentsAnnotation(refs) };
}

// Most outputs have one parent, and one parent has many outputs.
const oneParent = remembered((parent: Resource) => parentage([parent]));

function metadataOf(identity: OutputIdentity, annotation: string): Metadata {
  const { name, namespace, clusterName, owner, annotationsOf, federates } = identity;
  return {
    name,
    namespace,
    ...(clusterName === "" ? {} : { clusterName }),
    labels: { [CLUSTER_LABEL]: clusterName, [NETWORKING_OWNER_LABEL]: owner },
    annotations: {
      // Copied for each object: what one of them adds must not show on another.
      ...annotationsOf?.metadata.annotations,
      [PARENTS_ANNOTATION]: annotation,
      ...(federates === undefined ? {} : { [FEDERATION_ANNOTATION]: `${federates.name}.${federates.namespace}.${federates.clusterName}` }),
    },
  };
}

/**
 * Parents as JSON by type, sorted, without doubles: `{"group/v1, Kind=Kind":[{"name":"…","namespace":"…"}]}`. One of a workload
 * cluster says which, by `clusterName`.
 */
function parentsAnnotation(parents: readonly ResourceRef[]): string {
  const byType = new Map<string, Map<string, UserRef>>();
  for (const parent of parents) {
    const type = `${parent.apiVersion}, Kind=${parent.kind}`;
    const refs = byType.get(type) ?? new Map<string, UserRef>();
    byType.set(type, refs.set(keyOf(parent), userRefOf({ metadata: parent })));
  }
  return JSON.stringify(Object.fromEntries([...byType.keys()].sort().map((type) => [type, [...(byType.get(type)?.values() ?? [])]])));
}
