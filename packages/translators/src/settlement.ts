import { AccessPolicy, Destination, type DestinationStatus, Mesh, TrafficPolicy, VirtualDestination, VirtualMesh } from "@isthmus/api";
import { type Change, keyOf, keyOfResource, type Report, type Snapshot, type Steps, type Table, withEach } from "@isthmus/core";
import type { Attachment, AttachmentChanges, AttachmentStep } from "./attachment/attachment.ts";
import { attachedStatus } from "./attachment/destinations.ts";
import { byService } from "./attachment/indexes.ts";
import { unchangedOr, withStatus } from "./attachment/meshes.ts";
import { requiredSubsetsOf } from "./attachment/requiredSubsets.ts";
import { versionsOf } from "./incremental/changes.ts";
import { keysOf, remadeRows } from "./incremental/rows.ts";
import { bearingPolicies, IN_FORCE_THOUGH_INVALID } from "./networking/accessForms.ts";
import { serviceKeyOf } from "./networking/istio/hostnames.ts";
import type { Contest } from "./outputs.ts";
import type { Target } from "./targets.ts";
import { userKeyOf } from "./userResources.ts";

/** What Destinations and Meshes are settled by. */
export interface SettlementSources {
  readonly step: AttachmentStep;
  readonly attachment: Attachment;
  readonly changes: AttachmentChanges;
  readonly targets: Table<Target>;
  readonly contests: Table<Contest>;
}

/** What was settled before. */
export interface Settlement {
  readonly attached: Snapshot;
  readonly targets: Table<Target>;
  readonly contests: Table<Contest>;
}

/**
 * The inputs with what is in force in the statuses of Destinations and Meshes: what is attached to them, but for what translation
 * found not to hold, a policy or federation that is INVALID on a Destination.
 */
export function* settled(sources: SettlementSources, before: Settlement): Steps<Snapshot> {
  const { step, targets, contests } = sources;
  const destinations = step.inputs.of(Destination);
  const settledBefore = before.attached.of(Destination);
  yield* targets.indexed(byRefusedOn);
  const rows = yield* remadeRows(settledBefore, affectedDestinations(sources, before), (key, row) => {
    const destination = destinations.row(key);
    if (destination === undefined) return undefined;
    const refused = new Set(
      [...targets.where(byRefusedOn, key), ...contests.where(byRefusedOn, key)].flatMap((one) => refusedOn(one, key)),
    );
    return settledDestination(destination, key, { sources, refused, row });
  });
  const meshes = sources.changes.meshes.map(({ key, after }) => [key, after?.mesh] as const);
  const destinationsNow = yield* withEach(settledBefore, rows);
  return step.inputs.withCollection(Destination, destinationsNow).withCollection(Mesh, before.attached.of(Mesh).with(meshes));
}

function affectedDestinations({ step, attachment, changes, targets, contests }: SettlementSources, before: Settlement): Iterable<string> {
  const { since, surroundings } = step;
  if (since === undefined || since.surroundings !== surroundings)
    return new Set([...keysOf(attachment.known), ...keysOf(before.attached.of(Destination))]);
  const affected = new Set([...changes.judged, ...changes.known.map(({ key }) => key)]);
  for (const service of changes.services) {
    for (const destination of attachment.known.where(byService, service)) affected.add(keyOfResource(destination));
  }
  const reporting: readonly Change<Reporting>[] = [...targets.changesSince(before.targets), ...contests.changesSince(before.contests)];
  for (const one of versionsOf(reporting)) for (const key of byRefusedOn(one)) affected.add(key);
  return affected;
}

function settledDestination(
  destination: Destination,
  key: string,
  {
    sources,
    refused,
    row,
  }: { readonly sources: SettlementSources; readonly refused: ReadonlySet<string>; readonly row: Destination | undefined },
): Destination {
  const { step, attachment } = sources;
  const standing = attachment.standings.row(key);
  const service = serviceKeyOf(destination);
  const status = attachedStatus(destination, {
    trafficPolicies: standing?.trafficPolicies ?? [],
    accessPolicies: standing === undefined ? [] : bearingPolicies(standing, step.surroundings.ages),
    appliedFederation: attachment.known.row(key)?.status?.appliedFederation,
    requiredSubsets: service === undefined ? undefined : requiredSubsetsOf(service, attachment, step.surroundings.ages),
    clusterDomains: step.surroundings.clusterDomains,
    virtualDestination: (name) => step.inputs.of(VirtualDestination).row(name),
  });
  return unchangedOr(withStatus(destination, refused.size === 0 ? status : without(refused, status)), row);
}

interface Reporting {
  readonly reports: readonly Report[];
}

/** What has reports, by the Destinations on which these refuse something. */
function byRefusedOn({ reports }: Reporting): readonly string[] {
  return reports.flatMap(({ state, target }) => (state === "INVALID" && target?.kind === Destination.kind ? [keyOf(target)] : []));
}

function refusedOn({ reports }: Reporting, key: string): readonly string[] {
  const invalid = reports.filter(({ target, state }) => state === "INVALID" && target?.kind === Destination.kind && keyOf(target) === key);
  const inForce = new Set(invalid.flatMap(({ subject, code }) => (IN_FORCE_THOUGH_INVALID.has(code) ? [userKeyOf(subject)] : [])));
  return invalid.flatMap(({ subject }) => (inForce.has(userKeyOf(subject)) ? [] : [userKeyOf(subject)]));
}

function without(names: ReadonlySet<string>, status: DestinationStatus): DestinationStatus {
  const { appliedTrafficPolicies, appliedAccessPolicies, appliedFederation, ...rest } = status;
  const traffic = appliedTrafficPolicies?.filter(({ ref }) => !names.has(userKeyOf({ kind: TrafficPolicy.kind, ...ref }))) ?? [];
  // One of a workload cluster that lets nobody in stays, for whoever remembers it while that cluster is silent.
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
