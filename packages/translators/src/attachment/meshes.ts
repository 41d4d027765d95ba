import { Destination, type DestinationStatus, Mesh, type MeshStatus, type VirtualMesh } from "@isthmus/api";
import { type ClusterObjectRef, emptyTable, equalJson, keyOf, keyOfResource, type Report, type Snapshot, type Table } from "@isthmus/core";
import { derived } from "../incremental/derived.ts";
import { inputKind, inputTable, join } from "../incremental/join.ts";
import { entriesOf } from "../incremental/lookupTable.ts";
import { isSame, reuseIfEqual } from "../incremental/rows.ts";
import type { IngressGatewayRef } from "../meshes/inputs.ts";
import { translatorOf } from "../meshes/meshTranslators.ts";
import { serviceKeyOf } from "../policy/hosts/hostnames.ts";
import { byMesh, byService } from "../policy/indexes.ts";
import { LastKnownMesh } from "../policy/lastKnownMesh.ts";
import { publishedSpec } from "../policy/publishedSpec.ts";
import { creationOf, userRefOf } from "../policy/userResources.ts";
import type { Memberships } from "./federation/virtualMeshes.ts";

/** A mesh as its VirtualMesh makes it. */
export interface AttachedMesh {
  readonly key: string;
  /** With its VirtualMesh and the gateways through which other clusters reach it in its status. */
  readonly mesh: Mesh;
  /** As Destinations and their callers see it: the very same while nothing changes that bears on them. */
  readonly view: Mesh;
  /** Those gateways. */
  readonly gateways: readonly IngressGatewayRef[];
  readonly reports: readonly Report[];
}

/** No mesh. */
export function noMeshes(): Table<AttachedMesh> {
  return emptyTable(({ key }) => key);
}

/** The tables in which attached meshes are looked up. */
export interface MeshTables {
  readonly inputs: Snapshot;
  readonly membership: Memberships;
}

const meshes = inputKind<MeshTables, Mesh>(Mesh);
const destinations = inputKind<MeshTables, Destination>(Destination);
const memberships = inputTable(
  ({ membership }: MeshTables) => entriesOf(membership.virtualMeshOf),
  ({ key }) => key,
);

/** Every mesh with its membership and its gateways. */
export const attachedMeshes = derived({
  from: meshes,
  context: () => undefined,
  joins: {
    virtualMesh: join({ from: meshes, to: memberships, select: ({ value }) => value }),
    destinations: join({ from: meshes, to: destinations, index: byMesh }),
    lastKnown: join({ from: meshes, to: inputKind<MeshTables, LastKnownMesh>(LastKnownMesh), select: gatewaysBefore, isSame: equalJson }),
    notedGateways: join({ from: meshes, key: byNotedGateway, to: destinations, index: byService }),
  },
  make: (mesh, { lookup, before }): AttachedMesh =>
    attached(mesh, {
      virtualMesh: lookup("virtualMesh")[0],
      destinations: lookup("destinations"),
      noted: lookup("notedGateways"),
      inUse: lookup("lastKnown")[0] ?? NONE,
      row: before,
    }),
});

function gatewaysBefore({ gateways }: LastKnownMesh): readonly string[] {
  return gateways.map((ref) => keyOf({ ...ref, clusterName: "" }));
}

/** Meshes by the services that discovery noted as their gateways. */
function byNotedGateway(mesh: Mesh): readonly string[] {
  return (translatorOf(mesh)?.federation?.notedGateways(mesh) ?? NONE).map(keyOf);
}

interface MeshSurroundings {
  readonly virtualMesh: VirtualMesh | undefined;
  /** Those in the mesh, in key order. */
  readonly destinations: readonly Destination[];
  /** Those of the services that discovery noted as its gateways. */
  readonly noted: readonly Destination[];
  /** By `keyOf` the Destinations that were its gateways before. */
  readonly inUse: readonly string[];
  readonly row: AttachedMesh | undefined;
}

function attached(mesh: Mesh, { virtualMesh, destinations, noted, inUse, row }: MeshSurroundings): AttachedMesh {
  const key = keyOfResource(mesh);
  let status: MeshStatus = observedMetadata(mesh);
  let gateways: readonly IngressGatewayRef[] = NONE;
  let reports: readonly Report[] = NONE;
  if (virtualMesh !== undefined) {
    status = {
      ...status,
      appliedVirtualMesh: {
        ref: userRefOf(virtualMesh),
        ...observedMetadata(virtualMesh),
        ...creationOf(virtualMesh),
        spec: publishedSpec(virtualMesh),
      },
    };
    const federation = translatorOf(mesh)?.federation;
    if (federation !== undefined) {
      const serviceIn = (ref: ClusterObjectRef) => noted.findLast((one) => serviceKeyOf(one) === keyOf(ref));
      const selection = federation.eastWestGateways({ mesh, virtualMesh, destinations, serviceIn, inUse });
      reports = selection.reports;
      if (selection.gateways.length > 0) status = { ...status, appliedEastWestIngressGateways: selection.gateways };
      gateways = selection.gateways.flatMap(({ destinationRef, externalAddresses = [], destinationPort = 0, containerPort = 0 }) => {
        const chosen = keyOf({ name: "", namespace: "", ...destinationRef, clusterName: "" });
        const isChosen = (one: Destination) => keyOfResource(one) === chosen;
        const destination = noted.find(isChosen) ?? destinations.find(isChosen);
        return destination === undefined ? [] : [{ destination, externalAddresses, destinationPort, containerPort }];
      });
    }
  }
  const next: AttachedMesh = {
    key,
    mesh: unchangedOr({ ...mesh, status }, row?.mesh),
    view: reuseIfEqual(faceOf(mesh), row?.view),
    gateways: row !== undefined && isSameGateways(row.gateways, gateways) ? row.gateways : gateways,
    reports: reuseIfEqual(reports, row?.reports),
  };
  return row !== undefined &&
    row.mesh === next.mesh &&
    row.view === next.view &&
    row.gateways === next.gateways &&
    row.reports === next.reports
    ? row
    : next;
}

const NONE: readonly never[] = [];

/** What the translation of Destinations may read of a mesh. That its agent was seen, or its gateways' addresses, are no news for each of them. */
function faceOf({ apiVersion, kind, metadata, spec }: Mesh): Mesh {
  const { name, namespace, clusterName } = metadata;
  const { agentInfo: _, ...ofMesh } = spec ?? {};
  return {
    apiVersion,
    kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), ...(clusterName === undefined ? {} : { clusterName }) },
    spec: translatorOf({ spec: ofMesh })?.federation?.withoutNotedGateways(ofMesh) ?? ofMesh,
  };
}

function isSameGateways(left: readonly IngressGatewayRef[], right: readonly IngressGatewayRef[]): boolean {
  // Their Destinations are large: those are the same or not.
  return (
    isSame(
      left.map(({ destination }) => destination),
      right.map(({ destination }) => destination),
    ) && equalJson(left, right)
  );
}

/** The generation that a status is about; 0 is never written. */
export function observedMetadata({ metadata }: Pick<Mesh, "metadata">): { readonly observedGeneration?: number } {
  return metadata.generation ? { observedGeneration: metadata.generation } : {};
}

/** A Destination with another status. Named one by one: what begins with a spread has a hidden class of its own (docs/decisions/0026). */
export function withDestinationStatus({ apiVersion, kind, metadata, spec }: Destination, status: DestinationStatus): Destination {
  return spec === undefined ? { apiVersion, kind, metadata, status } : { apiVersion, kind, metadata, spec, status };
}

/** The object as it was attached before, when it has not changed since. */
export function unchangedOr<R extends Mesh | Destination>(attached: R, before: R | undefined): R {
  if (before === undefined || before.spec !== attached.spec || before.metadata !== attached.metadata) return attached;
  return equalJson(before.status, attached.status) ? before : attached;
}
