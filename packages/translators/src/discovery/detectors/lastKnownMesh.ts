import { Mesh } from "@isthmus/api";
import { type Delta, kindKeyOf, type Resource, type ResourceRef, refOf, type Snapshot } from "@isthmus/core";
import { LastKnownMesh } from "../../policy/lastKnownMesh.ts";
import type { DiscoveryTranslation } from "../discovery.ts";
import { DISCOVERED_CLUSTER_LABEL } from "../metadata.ts";

/** What is to be remembered of a published object; undefined: nothing. */
export function lastKnownMeshOf(published: Resource): LastKnownMesh | undefined {
  if (kindKeyOf(published) !== kindKeyOf(Mesh)) return undefined;
  const { metadata, spec, status } = published as Mesh;
  const {
    trustDomain = "",
    trustDomainAliases = [],
    rootNamespace = "",
    smartDnsProxyingEnabled = false,
    autoMtlsDisabled = false,
    privateByDefault = [],
  } = spec?.istio ?? {};
  const { installation } = spec?.istio ?? spec?.osm ?? {};
  const { name, namespace = "", labels = {}, annotations } = metadata;
  // Of an App Mesh there is no control plane.
  if (spec === undefined || (spec.istio ?? spec.osm) === undefined) return undefined;
  const { apiVersion, kind } = LastKnownMesh;
  return {
    apiVersion,
    kind,
    metadata: { name, namespace },
    cluster: labels[DISCOVERED_CLUSTER_LABEL] ?? "",
    home: installation?.namespace ?? "",
    ciliumNamespace: spec.cilium?.namespace ?? "",
    gateways: (status?.appliedEastWestIngressGateways ?? []).flatMap(({ destinationRef }) => destinationRef ?? []),
    trustDomain,
    trustDomainAliases,
    rootNamespace,
    smartDnsProxyingEnabled,
    autoMtlsDisabled,
    privateByDefault,
    spec,
    ...(annotations && { annotations }),
  };
}

/** Names what is remembered of a published object that is gone; undefined for what nothing is remembered of. */
export function lastKnownMeshRefOf(published: ResourceRef): ResourceRef | undefined {
  if (kindKeyOf(published) !== kindKeyOf(Mesh)) return undefined;
  return { ...published, apiVersion: LastKnownMesh.apiVersion, kind: LastKnownMesh.kind };
}

/** What remembers what was discovered, and what was attached to it. */
interface Discovering {
  readonly attached: Snapshot;
  readonly cache: { readonly discovery: DiscoveryTranslation | undefined };
}

/** What of it is new or gone with what was discovered since: remembered at once, whether or not it is published. */
export function lastKnownMeshChanges(now: Discovering, before: Discovering | undefined): Delta {
  const [meshes, older] = [now.cache.discovery?.memory.meshes, before?.cache.discovery?.memory.meshes];
  if (meshes === undefined) return { put: [], remove: [] };
  const attached = now.attached.of(Mesh);
  const changes =
    older === undefined ? [...meshes.rows].map((after) => ({ before: undefined, after })) : meshes.rows.changesSince(older.rows);
  const discovered = changes.flatMap(({ after }) => after?.result.output?.resource ?? []);
  // Which gateways are in use is no matter of discovery.
  const used = before === undefined ? [] : attached.changesSince(before.attached.of(Mesh)).flatMap(({ after }) => after ?? []);
  const ours = used.filter((mesh) => now.cache.discovery?.outputs.get(refOf(mesh)) !== undefined);
  const latest = new Map([...discovered, ...ours].map((mesh) => [mesh.metadata.name, attached.get(refOf(mesh)) ?? mesh]));
  const put = [...latest.values()].flatMap((mesh) => lastKnownMeshOf(mesh) ?? []);
  const kept = new Set(put.map(({ metadata }) => metadata.name));
  const gone = changes.flatMap(({ before: was }) =>
    was?.result.output === undefined ? [] : (lastKnownMeshRefOf(refOf(was.result.output.resource)) ?? []),
  );
  return { put, remove: gone.filter(({ name }) => !kept.has(name)) };
}
