import { AccessPolicy, Destination, Mesh, Settings, TrafficPolicy, VirtualMesh, Workload } from "@isthmus/api";
import { type JsonObject, kindKeyOf, type Resource, type ResourceRef, refOf, type Snapshot } from "@isthmus/core";
import { ineffectiveFindings } from "./attachment/ineffective.ts";
import { observed } from "./attachment/meshes.ts";
import { reported } from "./findings.ts";
import { conditionsOf, messagesOf, type Progress } from "./statuses/approval.ts";
import { type Delivery, deliveryFindings } from "./statuses/delivery.ts";
import { policyStatus } from "./statuses/policies.ts";
import { subjectsOf } from "./statuses/subjects.ts";
import { virtualMeshStatus } from "./statuses/virtualMeshes.ts";
import { SelectedWorkloads } from "./statuses/workloads.ts";
import type { World } from "./translate.ts";

export type { Delivery, DeliveryState } from "./statuses/delivery.ts";

/** The status that an object is to have. Conditions have no times: whoever writes them knows when they changed. */
export interface StatusUpdate {
  readonly ref: ResourceRef;
  readonly status: JsonObject;
}

/**
 * The published status of every object that users wrote, and of every discovered one: what is in force where, and why not.
 * `delivery` adds what became of the objects; without it, as offline, nothing is said of that.
 */
export function statusesOf(world: World, delivery?: Delivery): readonly StatusUpdate[] {
  const { attached, inputs, memory } = world;
  const delivered = delivery === undefined ? undefined : deliveryFindings(world, delivery);
  const subjects = subjectsOf(world, [...world.reports, ...(delivered?.reports ?? [])]);
  const progressOf = delivered === undefined ? undefined : (key: string) => delivered.progress.get(key) ?? NO_PROGRESS;
  const standing = { subjects, progressOf, workloads: new SelectedWorkloads(attached) };
  const accepted = new Set(memory.attachment.membership.accepted);

  const updates: StatusUpdate[] = [
    ...[...attached.of(TrafficPolicy)].map((policy) => update(policy, policyStatus(policy, standing))),
    ...[...attached.of(AccessPolicy)].map((policy) => update(policy, policyStatus(policy, standing))),
    ...[...attached.of(VirtualMesh)].map((mesh) => update(mesh, virtualMeshStatus(mesh, accepted.has(mesh), standing))),
    ...settingsStatus(world),
  ];
  for (const resource of [...attached.of(Destination), ...attached.of(Mesh)]) updates.push(update(resource, resource.status ?? {}));
  for (const workload of attached.of(Workload)) updates.push(update(workload, observed(workload)));
  // An empty status is worth writing only over one that says something.
  return updates.filter(({ ref, status }) => Object.keys(status).length > 0 || hadStatus(inputs, ref));
}

const NO_PROGRESS: Progress = { total: 0, applied: 0, failed: 0, unheard: 0 };

/** Only the Settings in use have a status. */
function settingsStatus({ attached, memory }: World): readonly StatusUpdate[] {
  const { namespace } = memory.surroundings;
  const settings = attached.of(Settings).get({ name: "settings", namespace, clusterName: "" });
  if (settings === undefined) return [];
  const reports = ineffectiveFindings(settings).map((finding) => reported(refOf(settings), finding));
  const status = {
    ...observed(settings),
    state: "ACCEPTED",
    ...messagesOf(reports),
    ...(reports.length === 0 ? {} : { warningCount: reports.length }),
    conditions: conditionsOf({ reports, targets: 1, accepted: 1, progress: undefined }).filter(({ type }) => type === "Accepted"),
  };
  return [update(settings, status)];
}

function update(resource: Resource, status: object): StatusUpdate {
  return { ref: refOf(resource), status: status as JsonObject };
}

function hadStatus(inputs: Snapshot, ref: ResourceRef): boolean {
  const resource: (Resource & { readonly status?: object }) | undefined = inputs.collections().get(kindKeyOf(ref))?.get(ref);
  return Object.keys(resource?.status ?? {}).length > 0;
}
