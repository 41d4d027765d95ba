import { type Destination, Mesh, OsmMeshConfig, Secret, Workload } from "@isthmus/api";
import { keyOfResource, type Steps } from "@isthmus/core";
import { versionsOf } from "../incremental/changes.ts";
import { keysOf } from "../incremental/rows.ts";
import { bySelector } from "./assembly.ts";
import type { Attachment, AttachmentChanges, AttachmentStep } from "./attachment.ts";
import { destinationsCalled } from "./callingMeshes.ts";
import { byCluster, byMesh, byService, podLabelKey } from "./indexes.ts";
import { meshKeysOf } from "./virtualMeshes.ts";

/** The keys of what may have to be translated anew. */
export interface AffectedTargets {
  readonly destinations: ReadonlySet<string>;
  readonly meshes: ReadonlySet<string>;
  readonly virtualMeshes: ReadonlySet<string>;
}

/** The targets whose inputs may not be as they were. */
export function* affectedTargets(
  step: AttachmentStep,
  { attachment, changes }: { readonly attachment: Attachment; readonly changes: AttachmentChanges },
  before: Attachment,
): Steps<AffectedTargets> {
  const { surroundings, since } = step;
  const virtualMeshes = new Set([...attachment.membership.accepted, ...before.membership.accepted].map(keyOfResource));
  if (since === undefined || since.surroundings !== surroundings) {
    return {
      destinations: new Set([...keysOf(attachment.known), ...keysOf(before.known)]),
      meshes: new Set([...keysOf(attachment.meshes), ...keysOf(before.meshes)]),
      virtualMeshes,
    };
  }
  return {
    destinations: yield* affectedDestinations(step, attachment, changes),
    meshes: affectedMeshes(step, attachment, changes),
    virtualMeshes: changes.membership.length > 0 || since.changes.some(Mesh, Secret) ? virtualMeshes : new Set(),
  };
}

function* affectedDestinations({ since }: AttachmentStep, attachment: Attachment, changes: AttachmentChanges): Steps<ReadonlySet<string>> {
  const { known } = attachment;
  const affected = new Set([...changes.judged, ...changes.known.map(({ key }) => key)]);
  const add = (destination: Destination) => affected.add(keyOfResource(destination));
  for (const service of changes.services) {
    known.where(byService, service).forEach(add);
    yield;
  }
  for (const { key, before, after } of changes.meshes) {
    if (before?.gateways === after?.gateways) continue;
    for (const destination of known.where(byMesh, key)) {
      if (destination.status?.appliedFederation !== undefined) add(destination);
      yield;
    }
  }
  for (const { key, before, after } of changes.membership) {
    if (before !== undefined && after !== undefined && keyOfResource(before) === keyOfResource(after)) continue;
    for (const destination of known.where(byMesh, key)) {
      add(destination);
      yield;
    }
  }
  for (const { spec } of versionsOf(since?.changes.of(Workload) ?? [])) {
    yield;
    const { controller, podLabels = {} } = spec?.kubernetes ?? {};
    if (controller === undefined) continue;
    for (const pair of Object.entries(podLabels)) known.where(bySelector, podLabelKey(controller, ...pair)).forEach(add);
  }
  for (const { metadata } of versionsOf(since?.changes.of(OsmMeshConfig) ?? [])) {
    known.where(byCluster, metadata.clusterName ?? "").forEach(add);
  }
  if (since !== undefined) for (const destination of destinationsCalled(since.changes, attachment)) add(destination);
  return affected;
}

function affectedMeshes({ since }: AttachmentStep, { membership }: Attachment, changes: AttachmentChanges): ReadonlySet<string> {
  const affected = new Set([...changes.meshes, ...changes.membership].map(({ key }) => key));
  for (const { key } of since?.changes.of(Mesh) ?? []) {
    affected.add(key);
    const virtualMesh = membership.virtualMeshOf.get(key);
    for (const member of virtualMesh === undefined ? [] : meshKeysOf(virtualMesh)) affected.add(member);
  }
  for (const workload of versionsOf(since?.changes.of(Workload) ?? [])) for (const key of byMesh(workload)) affected.add(key);
  if (since?.changes.some(Secret)) for (const key of membership.virtualMeshOf.keys()) affected.add(key);
  return affected;
}
