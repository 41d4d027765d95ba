import type { Resource } from "@isthmus/core";
import { type DefinedResource, defineKind } from "../shared/defineKind.ts";

type Counted = DefinedResource<Record<never, never>>;

/** A set of labels that Cilium has given a number. Of these objects nothing is kept but that they are there. Source: docs.cilium.io, CiliumIdentity. */
export const CiliumIdentity = defineKind(
  { apiVersion: "cilium.io/v2", kind: "CiliumIdentity", plural: "ciliumidentities", namespaced: false, fields: {} },
  nameAlone,
);

/** A node on which Cilium runs; the same holds. Source: docs.cilium.io, CiliumNode. */
export const CiliumNode = defineKind(
  { apiVersion: "cilium.io/v2", kind: "CiliumNode", plural: "ciliumnodes", namespaced: false, fields: {} },
  nameAlone,
);

function nameAlone({ apiVersion, kind, metadata: { name, clusterName } }: Resource): Counted {
  return { apiVersion, kind, metadata: { name, ...(clusterName === undefined ? {} : { clusterName }) } };
}
