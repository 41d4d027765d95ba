import { Destination, Mesh, type VirtualMesh } from "@isthmus/api";
import { refOf } from "@isthmus/core";
import { observedMetadata } from "../attachment/meshes.ts";
import { meshKeysOf } from "../attachment/virtualMeshes.ts";
import { userKeyOf } from "../policy/userResources.ts";
import { conditionsOf, messagesOf, publishedState } from "./approval.ts";
import { approvals } from "./policies.ts";
import { federatedBy, progressOf, reportsOn, type StatusIndex } from "./statusIndex.ts";

/** The status of a VirtualMesh. `isAccepted`: it is in force on its meshes. */
export function virtualMeshStatus(virtualMesh: VirtualMesh, isAccepted: boolean, standings: StatusIndex) {
  const key = userKeyOf(refOf(virtualMesh));
  const reports = reportsOn(key, standings);
  const { virtualMeshOf } = standings.world.cache.attachment.membership;
  const own = reports.filter(({ target }) => target === undefined);
  const meshes = approvals(
    isAccepted ? unordered(meshKeysOf(virtualMesh).filter((key) => virtualMeshOf.get(key) === virtualMesh)) : undefined,
    reports.filter(({ target }) => target?.kind === Mesh.kind),
  );
  const destinations = approvals(
    unordered(federatedBy(key, standings)),
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
      progress: progressOf(key, standings),
    }),
  };
}

function unordered(keys: readonly string[]): ReadonlyMap<string, undefined> {
  return new Map(keys.map((key) => [key, undefined]));
}
