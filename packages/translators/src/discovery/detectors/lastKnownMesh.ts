import { Mesh } from "@isthmus/api";
import { kindKeyOf, type Resource, type ResourceRef } from "@isthmus/core";
import { LastKnownMesh } from "../../policy/lastKnownMesh.ts";
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
