import type { Destination } from "@isthmus/api";
import {
  type ClusterObjectRef,
  keyOf,
  type Metadata,
  merged,
  type Output,
  type Owner,
  type Resource,
  type ResourceRef,
  refOf,
  withoutFirstSeen,
} from "@isthmus/core";
import { CLUSTER_LABEL } from "../clusterLabel.ts";
import { memoizeRow } from "../incremental/memoizeRow.ts";
import { type UserRef, userRefOf } from "../policy/userResources.ts";
import type { TranslationContext } from "./inputs.ts";

/** On every object that networking writes: its value is the namespace of the management plane. */
export const NETWORKING_OWNER_LABEL = "owner.networking.mesh.gloo.solo.io";
const PARENTS_ANNOTATION = "parents.networking.mesh.gloo.solo.io";
const FEDERATION_ANNOTATION = "federation.networking.mesh.gloo.solo.io";

/** The owner of all that networking writes. */
export function networkingOwner(namespace: string): Owner {
  return { label: NETWORKING_OWNER_LABEL, value: namespace };
}

/** Why there are outputs, and what they have in common because of it. */
export interface OutputOrigin {
  readonly parents: readonly ResourceRef[];
  readonly annotations: Readonly<Record<string, string>>;
  labelsIn(clusterName: string): Readonly<Record<string, string>>;
}

export interface OutputReasons {
  readonly translationContext: TranslationContext;
  /** The resources because of which the objects exist; they get to know when one can't be written. */
  readonly parents: readonly Resource[];
  /** The Destination that the objects are about: its annotations go along. */
  readonly annotationsOf?: Destination;
  /** The Kubernetes Service behind objects that stand for it in another cluster. */
  readonly federates?: ClusterObjectRef;
}

/** Made once for all outputs that it is the origin of: what they share is held once. */
export function originOf({ translationContext, parents, annotationsOf, federates }: OutputReasons): OutputOrigin {
  const [parent, ...others] = parents;
  const isOften = parent !== undefined && parent !== annotationsOf && others.length === 0;
  const { refs, annotations: ofParents } = isOften ? oneParent(parent) : parentage(parents);
  const given = annotationsOf?.metadata.annotations && withoutFirstSeen(annotationsOf.metadata.annotations);
  const federated = federates === undefined ? {} : { [FEDERATION_ANNOTATION]: keyOf(federates) };
  const own = federates === undefined ? ofParents : merged(ofParents, federated);
  return {
    parents: refs,
    annotations: given === undefined ? own : { ...given, ...own },
    labelsIn: labelsIn(translationContext),
  };
}

export interface OutputIdentity {
  readonly name: string;
  readonly namespace: string;
  /** "" for the management cluster. */
  readonly clusterName: string;
  readonly origin: OutputOrigin;
}

/** An output with the labels and annotations that the published API defines. */
export function outputOf(identity: OutputIdentity, { apiVersion, kind }: TypeOfResource, spec: object): Output {
  const resource: Resource & { readonly spec: object } = { apiVersion, kind, spec, metadata: metadataOf(identity) };
  return { resource, parents: identity.origin.parents };
}

/** The same for kinds that hold something other than a spec. `body` is all but metadata. */
export function bareOutputOf(identity: OutputIdentity, body: TypeOfResource & Readonly<Record<string, unknown>>): Output {
  return { resource: { ...body, metadata: metadataOf(identity) } satisfies Resource, parents: identity.origin.parents };
}

interface TypeOfResource {
  readonly apiVersion: string;
  readonly kind: string;
}

interface Parentage {
  readonly refs: readonly ResourceRef[];
  readonly annotations: Readonly<Record<string, string>>;
}

function parentage(parents: readonly Resource[]): Parentage {
  const refs = parents.map(refOf);
  return { refs, annotations: { [PARENTS_ANNOTATION]: parentsAnnotation(refs) } };
}

// A VirtualMesh is the one parent of many outputs. A Destination is asked for once, and what is remembered of each burdens the collector.
const oneParent = memoizeRow((parent: Resource) => parentage([parent]));

// One object for all outputs of a cluster.
const labelsIn = memoizeRow(({ namespace }: TranslationContext) => {
  const known = new Map<string, Readonly<Record<string, string>>>();
  return (clusterName: string) => {
    const labels = known.get(clusterName) ?? { [CLUSTER_LABEL]: clusterName, [NETWORKING_OWNER_LABEL]: namespace };
    known.set(clusterName, labels);
    return labels;
  };
});

function metadataOf({ name, namespace, clusterName, origin }: OutputIdentity): Metadata {
  const { annotations } = origin;
  const labels = origin.labelsIn(clusterName);
  return clusterName === "" ? { name, namespace, labels, annotations } : { name, namespace, clusterName, labels, annotations };
}

/**
 * Parents as JSON by type, sorted, without doubles: `{"group/v1, Kind=Kind":[{"name":"…","namespace":"…"}]}`. One of a workload
 * cluster says which, by `clusterName`.
 */
function parentsAnnotation(parents: readonly ResourceRef[]): string {
  const [parent, ...others] = parents;
  if (parent !== undefined && others.length === 0) return JSON.stringify({ [typeOf(parent)]: [userRefOf({ metadata: parent })] });
  const byType = new Map<string, Map<string, UserRef>>();
  for (const parent of parents) {
    const type = typeOf(parent);
    const refs = byType.get(type) ?? new Map<string, UserRef>();
    byType.set(type, refs.set(keyOf(parent), userRefOf({ metadata: parent })));
  }
  return JSON.stringify(Object.fromEntries([...byType.keys()].sort().map((type) => [type, [...(byType.get(type)?.values() ?? [])]])));
}

function typeOf({ apiVersion, kind }: ResourceRef): string {
  return `${apiVersion}, Kind=${kind}`;
}
