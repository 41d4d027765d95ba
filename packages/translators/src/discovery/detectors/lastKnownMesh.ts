import { Mesh } from "@isthmus/api";
import { type Delta, type Kind, kindKeyOf, type Resource, type ResourceRef, refOf } from "@isthmus/core";
import type { DiscoveryTranslation } from "../discovery.ts";
import { DISCOVERED_CLUSTER_LABEL } from "../metadata.ts";

/**
 * What was last known of an Istio mesh, as it is published: for when its mesh config names no usable trust domain any more, or can't be
 * read at all. An input of discovery (docs/decisions/0037) that exists in snapshots alone, under the name of its Mesh.
 */
export interface LastKnownMesh extends Resource {
  readonly cluster: string;
  readonly trustDomain: string;
  readonly trustDomainAliases: readonly string[];
  /** "" for the namespace of the control plane. */
  readonly rootNamespace: string;
  readonly smartDnsProxyingEnabled: boolean;
  readonly privateByDefault: readonly string[];
}

/** No API server serves it, and no agent may send it. */
export const LastKnownMesh: Kind<LastKnownMesh> = {
  apiVersion: "memory.mesh.gloo.solo.io/v1",
  kind: "MeshMemory",
  plural: "meshmemories",
  namespaced: true,
  versions: ["memory.mesh.gloo.solo.io/v1"],
  parse: (input) => input as LastKnownMesh,
};

/** What is to be remembered of a published object; undefined: nothing. */
export function lastKnownMeshOf(published: Resource): LastKnownMesh | undefined {
  if (kindKeyOf(published) !== kindKeyOf(Mesh)) return undefined;
  const { metadata, spec } = published as Mesh;
  const { trustDomain = "", trustDomainAliases = [], rootNamespace = "", smartDnsProxyingEnabled = false } = spec?.istio ?? {};
  const { privateByDefault = [] } = spec?.istio ?? {};
  const { name, namespace = "", labels = {} } = metadata;
  if (spec?.istio === undefined) return undefined;
  const { apiVersion, kind } = LastKnownMesh;
  return {
    apiVersion,
    kind,
    metadata: { name, namespace },
    cluster: labels[DISCOVERED_CLUSTER_LABEL] ?? "",
    trustDomain,
    trustDomainAliases,
    rootNamespace,
    smartDnsProxyingEnabled,
    privateByDefault,
  };
}

/** Names what is remembered of a published object that is gone; undefined for what nothing is remembered of. */
export function lastKnownMeshRefOf(published: ResourceRef): ResourceRef | undefined {
  if (kindKeyOf(published) !== kindKeyOf(Mesh)) return undefined;
  return { ...published, apiVersion: LastKnownMesh.apiVersion, kind: LastKnownMesh.kind };
}

/** What remembers what was discovered. */
interface Discovering {
  readonly cache: { readonly discovery: DiscoveryTranslation | undefined };
}

/** What of it is new or gone with what was discovered since: remembered at once, whether or not it is published. */
export function lastKnownMeshChanges(now: Discovering, before: Discovering | undefined): Delta {
  const [meshes, older] = [now.cache.discovery?.memory.meshes, before?.cache.discovery?.memory.meshes];
  if (meshes === undefined || meshes === older) return { put: [], remove: [] };
  const changes =
    older === undefined ? [...meshes.rows].map((after) => ({ before: undefined, after })) : meshes.rows.changesSince(older.rows);
  const put = changes.flatMap(({ after }) =>
    after?.result.output === undefined ? [] : (lastKnownMeshOf(after.result.output.resource) ?? []),
  );
  const kept = new Set(put.map(({ metadata }) => metadata.name));
  const gone = changes.flatMap(({ before: was }) =>
    was?.result.output === undefined ? [] : (lastKnownMeshRefOf(refOf(was.result.output.resource)) ?? []),
  );
  return { put, remove: gone.filter(({ name }) => !kept.has(name)) };
}
