import { KubernetesCluster, Namespace, userStatusKinds, VirtualDestination } from "@isthmus/api";
import { nearestName, type Resource } from "@isthmus/core";
import type { Doubt, KnownObjects } from "./knownObjects.ts";

/** What is doubtful in where objects of users are: their names, namespaces and clusters. */
export function placementDoubts(known: KnownObjects, resources: readonly Resource[]): readonly Doubt[] {
  const users = USER_KINDS.flatMap((kind) => known.of<Resource>(kind));
  return [
    ...users.flatMap(unknownMetadata),
    ...users.flatMap(withoutNamespace),
    ...unknownNamespaces(known, users),
    ...unregistered(known, resources),
    ...unused(known),
  ];
}

// What people write by hand, and no API server has completed.
const USER_KINDS = [...userStatusKinds(), VirtualDestination, KubernetesCluster];

/** What no API server keeps. */
function unknownMetadata(object: Resource): readonly Doubt[] {
  return Object.keys(object.metadata).flatMap((name) => {
    if (METADATA.has(name)) return [];
    const near = nearestName(name, METADATA);
    const hint = near === undefined ? "" : ` (did you mean ${near}?)`;
    return [{ object, code: "FieldUnknown", message: `metadata.${name}: unknown field${hint}; the field is ignored` }];
  });
}

// Source: kubernetes.io, ObjectMeta; some of them in earlier versions only. The first are those that people write.
const METADATA: ReadonlySet<string> = new Set([
  ...["name", "namespace", "labels", "annotations", "clusterName", "generateName", "finalizers", "ownerReferences"],
  ...["uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields"],
  ...["selfLink", "initializers"],
]);

function withoutNamespace(object: Resource): readonly Doubt[] {
  if ((object.metadata.namespace ?? "") !== "") return [];
  const message = "metadata.namespace: is missing, so kubectl would take the one of its context, which is not known here: set it";
  return [{ object, code: "NamespaceMissing", message }];
}

/** Namespaces that are not among those of their cluster, where any of them were read. */
function unknownNamespaces(known: KnownObjects, users: readonly Resource[]): readonly Doubt[] {
  const byCluster = new Map<string, Set<string>>();
  for (const { metadata } of known.of(Namespace)) {
    const names = byCluster.get(metadata.clusterName ?? "") ?? new Set();
    byCluster.set(metadata.clusterName ?? "", names.add(metadata.name));
  }
  return users.flatMap((object) => {
    const { namespace = "", clusterName = "" } = object.metadata;
    const names = byCluster.get(clusterName);
    if (namespace === "" || names === undefined || names.has(namespace)) return [];
    const where = clusterName === "" ? "the management cluster" : clusterName;
    const message = `metadata.namespace: the input has Namespaces of ${where}, and ${namespace} is not one of them${didYouMean(namespace, names)}`;
    return [{ object, code: "NamespaceUnknown", message }];
  });
}

/** One finding for each cluster that no KubernetesCluster names, where there are any. */
function unregistered(known: KnownObjects, resources: readonly Resource[]): readonly Doubt[] {
  const registered = new Set(known.of(KubernetesCluster).map(({ metadata }) => metadata.name));
  if (known.isOneCluster || registered.size === 0) return [];
  const strangers = new Map<string, { readonly first: Resource; count: number }>();
  for (const first of resources) {
    const { clusterName = "" } = first.metadata;
    if (clusterName === "" || registered.has(clusterName)) continue;
    const found = strangers.get(clusterName);
    if (found === undefined) strangers.set(clusterName, { first, count: 1 });
    else found.count++;
  }
  return [...strangers].map(([name, { first, count }]) => ({
    object: first,
    code: "ClusterUnknown",
    message: `metadata.clusterName: no KubernetesCluster registers ${name}, which ${count === 1 ? "this object names" : `${count} objects name`}${didYouMean(name, registered)}`,
  }));
}

/** Clusters that are registered where no server looks. */
function unused(known: KnownObjects): readonly Doubt[] {
  const { namespace } = known;
  const isElsewhere = ({ metadata }: Resource) => metadata.namespace !== namespace || (metadata.clusterName ?? "") !== "";
  const message = `is not used: clusters are registered in the namespace of the management plane: move it to namespace ${namespace} of the management cluster, or set --namespace`;
  return known.of(KubernetesCluster).flatMap((object) => (isElsewhere(object) ? [{ object, code: "NotUsed", message }] : []));
}

/** `: did you mean NAME?`, or a remedy that holds for all. */
function didYouMean(name: string, candidates: Iterable<string>): string {
  const near = nearestName(name, candidates);
  return near === undefined ? ": check the name" : `: did you mean ${near}?`;
}
