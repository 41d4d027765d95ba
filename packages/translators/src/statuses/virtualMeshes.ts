import { Destination, Mesh, type VirtualMesh } from "@isthmus/api";
import { keyOfResource, type Report } from "@isthmus/core";
import { acceptedByKey, type Memberships, meshKeysOf } from "../attachment/federation/virtualMeshes.ts";
import { observedMetadata } from "../attachment/meshes.ts";
import { MISSING } from "../policy/forms/virtualMeshForms.ts";
import { acceptedForm } from "./acceptedForm.ts";
import { conditionsOf, type DeliveryProgress, messagesOf, publishedState } from "./approval.ts";
import { approvals } from "./policies.ts";

/** What the status of one VirtualMesh follows from. */
export interface VirtualMeshSources {
  /** Findings about it. */
  readonly reports: readonly Report[];
  /** Which VirtualMeshes are in force where. */
  readonly membership: Memberships;
  /** The keys of the Destinations that it would federate. */
  readonly federated: readonly string[];
  /** Undefined where nothing is delivered. */
  readonly progress: DeliveryProgress | undefined;
}

/** The status of a VirtualMesh. */
export function virtualMeshStatus(virtualMesh: VirtualMesh, { reports, membership, federated, progress }: VirtualMeshSources): object {
  const inForce = acceptedByKey(membership).get(keyOfResource(virtualMesh));
  const own = reports.filter(({ target }) => target === undefined);
  const meshes = approvals(
    inForce && unordered(meshKeysOf(inForce).filter((key) => membership.virtualMeshOf.get(key) === inForce)),
    reports.filter(({ target }) => target?.kind === Mesh.kind),
  );
  const destinations = approvals(
    unordered(federated),
    reports.filter(({ target }) => target?.kind === Destination.kind),
  );
  const warnings = reports.filter(({ state }) => state === "WARNING").length;
  return {
    ...observedMetadata(virtualMesh),
    state: publishedState(reports),
    ...(meshes.keys.length === 0 ? {} : { meshes: meshes.listed }),
    ...(destinations.keys.length === 0 ? {} : { destinations: destinations.listed }),
    ...messagesOf(own),
    meshCount: meshes.keys.length,
    targetCount: destinations.keys.length,
    acceptedCount: destinations.accepted,
    ...(warnings === 0 ? {} : { warningCount: warnings }),
    conditions: conditionsOf({
      reports,
      targets: meshes.keys.length,
      accepted: meshes.accepted,
      progress,
    }),
    ...acceptedForm(virtualMesh, { isAccepted: inForce !== undefined && isInForceAsWritten(own) }),
  };
}

function isInForceAsWritten(own: readonly Report[]): boolean {
  return own.every(({ state, code }) => code !== "LastAcceptedInForce" && (state !== "INVALID" || MISSING.has(code)));
}

function unordered(keys: readonly string[]): ReadonlyMap<string, undefined> {
  return new Map(keys.map((key) => [key, undefined]));
}
