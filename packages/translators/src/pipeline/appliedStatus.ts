import { AccessPolicy, Destination, type DestinationStatus, Mesh, TrafficPolicy, VirtualMesh } from "@isthmus/api";
import { type CooperativeTask, keyOf, keyOfResource, type Report, type Snapshot, type Table, withEach } from "@isthmus/core";
import {
  type AttachedSources,
  attachedPoliciesJoin,
  destinations,
  subsetPolicies,
  subsetUsersIn,
  supports,
  virtualDestinations,
} from "../attachment/destinationJoins.ts";
import { attachedStatus } from "../attachment/destinations.ts";
import { observedMetadata, unchangedOr, withDestinationStatus } from "../attachment/meshes.ts";
import { requiredSubsetsOf } from "../attachment/requiredSubsets.ts";
import { derived, updatedRows } from "../incremental/derived.ts";
import { inputTable, join } from "../incremental/join.ts";
import { isSame } from "../incremental/rows.ts";
import type { Transition } from "../incremental/transition.ts";
import { effectiveAccessPolicies, IN_FORCE_THOUGH_INVALID } from "../meshes/enforcedAccess.ts";
import { userKeyOf, userRefOf } from "../policy/userResources.ts";
import type { NameConflict } from "./outputs.ts";
import { objectOf } from "./reportTargets.ts";
import type { TranslatedTarget } from "./targets.ts";

/** The tables from which the statuses of Destinations and Meshes follow. */
export interface AppliedStatusSources extends AttachedSources {
  readonly targets: Table<TranslatedTarget>;
  readonly nameConflicts: Table<NameConflict>;
}

const targets = inputTable(
  ({ targets }: AppliedStatusSources) => targets,
  ({ key }) => key,
);
const nameConflicts = inputTable(
  ({ nameConflicts }: AppliedStatusSources) => nameConflicts,
  ({ key }) => key,
);

/** Each Destination with what is in force in its status. */
const settledDestinations = derived({
  from: destinations,
  context: ({ translationContext }: AppliedStatusSources) => translationContext,
  joins: {
    attachedPolicies: attachedPoliciesJoin,
    subsetPolicies,
    supports,
    virtualDestinations,
    targets: join({ from: destinations, to: targets, index: byRefusedOn, isSame: isSameReports }),
    nameConflicts: join({ from: destinations, to: nameConflicts, index: byRefusedOn, isSame: isSameReports }),
  },
  make: (destination, { key, lookup, context: { ages, clusterDomains }, before }): Destination => {
    const [standing] = lookup("attachedPolicies");
    const refused = new Set([...lookup("targets"), ...lookup("nameConflicts")].flatMap((one) => refusedOn(one, key)));
    const trafficPolicies = standing?.trafficPolicies ?? [];
    const virtualDestinations = trafficPolicies.length === 0 ? NONE : lookup("virtualDestinations");
    const status = attachedStatus(destination, {
      trafficPolicies,
      accessPolicies: standing === undefined ? [] : effectiveAccessPolicies(standing, ages),
      appliedFederation: destination.status?.appliedFederation,
      requiredSubsets: requiredSubsetsOf(subsetUsersIn(destination, lookup), ages),
      clusterDomains,
      virtualDestination: (name) => virtualDestinations.find((one) => keyOfResource(one) === name),
    });
    return unchangedOr(withDestinationStatus(destination, refused.size === 0 ? status : without(refused, status)), before);
  },
});

const attachedMeshes = inputTable(
  ({ attachment }: AppliedStatusSources) => attachment.meshes,
  ({ key }) => key,
);

/** Each Mesh with its VirtualMesh, its gateways and the VirtualDestinations that it can call in its status. */
const settledMeshes = derived({
  from: attachedMeshes,
  context: () => undefined,
  joins: {
    virtualDestinations: join({
      from: attachedMeshes,
      to: targets,
      index: byExport,
      isSame: (before, after) =>
        before.reports === after.reports && objectOf(before.inputs) === objectOf(after.inputs) && isSame(byExport(before), byExport(after)),
    }),
  },
  make: ({ key, mesh }, { lookup, before }): Mesh => {
    const applied = lookup("virtualDestinations").flatMap((target) => appliedVirtualDestination(target, key));
    return applied.length === 0 ? mesh : unchangedOr({ ...mesh, status: { ...mesh.status, appliedVirtualDestinations: applied } }, before);
  },
});

/** Translated VirtualDestinations by the meshes that can call them. */
function byExport({ inputs }: TranslatedTarget): readonly string[] {
  return "homes" in inputs ? [...new Set(inputs.exports.map(({ mesh }) => keyOfResource(mesh)))] : NONE;
}

const NONE: readonly never[] = [];

/** That a mesh can call a VirtualDestination, or why nothing is written for it there. */
function appliedVirtualDestination({ inputs, reports }: TranslatedTarget, mesh: string) {
  if (!("homes" in inputs)) return [];
  const { virtualDestination } = inputs;
  const { name, namespace } = userRefOf(virtualDestination);
  const invalid = reports.filter(({ state, target }) => state === "INVALID" && target?.kind === Mesh.kind && keyOf(target) === mesh);
  const errors = invalid.map(({ message }) => message);
  return [{ ref: { name, namespace }, ...observedMetadata(virtualDestination), ...(errors.length === 0 ? {} : { errors }) }];
}

/**
 * The inputs with what is in force in the statuses of Destinations and Meshes: what is attached to them, but for what translation
 * found to be INVALID on a Destination, a policy or a federation.
 */
export function* withAppliedStatus(change: Transition<AppliedStatusSources>, before: Snapshot): CooperativeTask<Snapshot> {
  const { inputs } = change.now;
  const rows = yield* updatedRows(before.of(Destination), settledDestinations, change);
  const meshRows = yield* updatedRows(before.of(Mesh), settledMeshes, change);
  const destinationsNow = yield* withEach(before.of(Destination), rows);
  return inputs.withCollection(Destination, destinationsNow).withCollection(Mesh, before.of(Mesh).with(meshRows));
}

interface Reporting {
  readonly reports: readonly Report[];
}

/** Rows with reports, by the Destinations on which these reject something. */
function byRefusedOn({ reports }: Reporting): readonly string[] {
  return reports.flatMap(({ state, target }) => (state === "INVALID" && target?.kind === Destination.kind ? [keyOf(target)] : []));
}

function isSameReports(before: Reporting, after: Reporting): boolean {
  return before.reports === after.reports;
}

function refusedOn({ reports }: Reporting, key: string): readonly string[] {
  const invalid = reports.filter(({ target, state }) => state === "INVALID" && target?.kind === Destination.kind && keyOf(target) === key);
  const inForce = new Set(invalid.flatMap(({ subject, code }) => (IN_FORCE_THOUGH_INVALID.has(code) ? [userKeyOf(subject)] : [])));
  return invalid.flatMap(({ subject }) => (inForce.has(userKeyOf(subject)) ? [] : [userKeyOf(subject)]));
}

function without(names: ReadonlySet<string>, status: DestinationStatus): DestinationStatus {
  const { appliedTrafficPolicies, appliedAccessPolicies, appliedFederation, ...rest } = status;
  const traffic = appliedTrafficPolicies?.filter(({ ref }) => !names.has(userKeyOf({ kind: TrafficPolicy.kind, ...ref }))) ?? [];
  // One of a workload cluster that denies all callers stays, for the one who remembers it while that cluster is silent.
  const access = appliedAccessPolicies?.filter(
    ({ ref }) => (ref?.clusterName ?? "") !== "" || !names.has(userKeyOf({ kind: AccessPolicy.kind, ...ref })),
  );
  const isFederated =
    appliedFederation !== undefined && !names.has(userKeyOf({ kind: VirtualMesh.kind, ...appliedFederation.virtualMeshRef }));
  return {
    ...rest,
    ...(traffic.length === 0 ? {} : { appliedTrafficPolicies: traffic }),
    ...(access === undefined || access.length === 0 ? {} : { appliedAccessPolicies: access }),
    ...(isFederated ? { appliedFederation } : {}),
  };
}
