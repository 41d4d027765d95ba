import { Destination, type DestinationStatus, Mesh, type MeshStatus, type VirtualMesh } from "@isthmus/api";
import {
  type Change,
  type ClusterObjectRef,
  emptyTable,
  equalJson,
  keyOf,
  keyOfResource,
  type Report,
  type Steps,
  type Table,
} from "@isthmus/core";
import { versionsOf } from "../incremental/changes.ts";
import { isSame, keysOf, remade, steady } from "../incremental/rows.ts";
import type { Gateway } from "../inputs.ts";
import { serviceKeyOf } from "../networking/istio/hostnames.ts";
import { eastWestGateways } from "../networking/istio/virtualMesh/gatewaySelection.ts";
import { creationOf, userRefOf } from "../userResources.ts";
import type { AttachmentStep } from "./attachment.ts";
import { byMesh, byService } from "./indexes.ts";
import { publishedSpec } from "./publishedSpec.ts";
import type { Memberships } from "./virtualMeshes.ts";

/** A mesh as its VirtualMesh makes it. */
export interface AttachedMesh {
  readonly key: string;
  /** With its VirtualMesh and the gateways through which other clusters reach it in its status. */
  readonly mesh: Mesh;
  /** As Destinations and their callers see it: the very same while nothing changes that bears on them. */
  readonly face: Mesh;
  /** Those gateways. */
  readonly gateways: readonly Gateway[];
  readonly reports: readonly Report[];
}

/** No mesh. */
export function noMeshes(): Table<AttachedMesh> {
  return emptyTable(({ key }) => key);
}

/** Every mesh with its membership and its gateways. `changed`: the meshes whose VirtualMesh is not as it was. */
export function* attachMeshes(
  step: AttachmentStep,
  before: Table<AttachedMesh>,
  { membership, changed }: { readonly membership: Memberships; readonly changed: readonly Change<VirtualMesh>[] },
): Steps<Table<AttachedMesh>> {
  return yield* remade(before, affectedMeshes(step, changed), (key, row) => {
    const mesh = step.inputs.of(Mesh).row(key);
    return mesh && attached(step, mesh, { virtualMesh: membership.virtualMeshOf.get(key), row });
  });
}

function affectedMeshes({ inputs, since }: AttachmentStep, changed: readonly Change<VirtualMesh>[]): Iterable<string> {
  const meshes = inputs.of(Mesh);
  if (since === undefined) return keysOf(meshes);
  const affected = new Set([...changed, ...since.changes.of(Mesh)].map(({ key }) => key));
  for (const destination of versionsOf(since.changes.of(Destination))) {
    for (const key of byMesh(destination)) affected.add(key);
    const service = serviceKeyOf(destination);
    if (service !== undefined) for (const mesh of meshes.where(byNotedGateway, service)) affected.add(keyOfResource(mesh));
  }
  return affected;
}

/** Meshes by the services that discovery noted as their gateways. */
function byNotedGateway({ spec }: Mesh): readonly string[] {
  const clusterName = spec?.istio?.installation?.cluster ?? "";
  return (spec?.istio?.ingressGateways ?? []).map(({ name = "", namespace = "" }) => keyOf({ name, namespace, clusterName }));
}

function attached(
  { inputs }: AttachmentStep,
  mesh: Mesh,
  { virtualMesh, row }: { readonly virtualMesh: VirtualMesh | undefined; readonly row: AttachedMesh | undefined },
): AttachedMesh {
  const key = keyOfResource(mesh);
  const destinations = inputs.of(Destination);
  let status: MeshStatus = observed(mesh);
  let gateways: readonly Gateway[] = NONE;
  let reports: readonly Report[] = NONE;
  if (virtualMesh !== undefined) {
    status = {
      ...status,
      appliedVirtualMesh: {
        ref: userRefOf(virtualMesh),
        ...observed(virtualMesh),
        ...creationOf(virtualMesh),
        spec: publishedSpec(virtualMesh),
      },
    };
    if (mesh.spec?.istio !== undefined) {
      const serviceIn = (ref: ClusterObjectRef) => destinations.where(byService, keyOf(ref)).at(-1);
      const selection = eastWestGateways({ mesh, virtualMesh, destinations: destinations.where(byMesh, key), serviceIn });
      reports = selection.reports;
      if (selection.gateways.length > 0) status = { ...status, appliedEastWestIngressGateways: selection.gateways };
      gateways = selection.gateways.flatMap(({ destinationRef, externalAddresses = [], destinationPort = 0, containerPort = 0 }) => {
        const destination = destinations.get({ name: "", namespace: "", ...destinationRef, clusterName: "" });
        return destination === undefined ? [] : [{ destination, externalAddresses, destinationPort, containerPort }];
      });
    }
  }
  const next: AttachedMesh = {
    key,
    mesh: unchangedOr({ ...mesh, status }, row?.mesh),
    face: steady(faceOf(mesh), row?.face),
    gateways: row !== undefined && isSameGateways(row.gateways, gateways) ? row.gateways : gateways,
    reports: steady(reports, row?.reports),
  };
  return row !== undefined &&
    row.mesh === next.mesh &&
    row.face === next.face &&
    row.gateways === next.gateways &&
    row.reports === next.reports
    ? row
    : next;
}

const NONE: readonly never[] = [];

/** What the translation of Destinations may read of a mesh. That its agent was seen, or its gateways' addresses, are no news for each of them. */
function faceOf({ apiVersion, kind, metadata, spec }: Mesh): Mesh {
  const { name, namespace, clusterName } = metadata;
  const { agentInfo: _, istio, ...others } = spec ?? {};
  const { ingressGateways: __, ...ofIstio } = istio ?? {};
  return {
    apiVersion,
    kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), ...(clusterName === undefined ? {} : { clusterName }) },
    spec: istio === undefined ? others : { ...others, istio: ofIstio },
  };
}

function isSameGateways(left: readonly Gateway[], right: readonly Gateway[]): boolean {
  // Their Destinations are large: those are the same or not.
  return (
    isSame(
      left.map(({ destination }) => destination),
      right.map(({ destination }) => destination),
    ) && equalJson(left, right)
  );
}

/** The generation that a status is about; 0 is never written. */
export function observed({ metadata }: Pick<Mesh, "metadata">): { readonly observedGeneration?: number } {
  return metadata.generation ? { observedGeneration: metadata.generation } : {};
}

/** A Destination with another status. Named one by one: what begins with a spread has a hidden class of its own (docs/decisions/0026). */
export function withStatus({ apiVersion, kind, metadata, spec }: Destination, status: DestinationStatus): Destination {
  return spec === undefined ? { apiVersion, kind, metadata, status } : { apiVersion, kind, metadata, spec, status };
}

/** The object as it was attached before, when it has not changed since. */
export function unchangedOr<R extends Mesh | Destination>(attached: R, before: R | undefined): R {
  if (before === undefined || before.spec !== attached.spec || before.metadata !== attached.metadata) return attached;
  return equalJson(before.status, attached.status) ? before : attached;
}
