import type { Destination, TrafficPolicy } from "@isthmus/api";
import type { CooperativeTask, Report, Table } from "@isthmus/core";
import { updated } from "../incremental/derived.ts";
import { transition } from "../incremental/transition.ts";
import { byService, indexedForAttachment } from "../policy/indexes.ts";
import { type AttachedPolicies, type AttachedPoliciesTables, attachedPolicies, noAttachedPolicies } from "./attachedPolicies.ts";
import { federationDoubtsAfter, noFederationDoubts } from "./doubts/federatedNothing.ts";
import { type CheckedObject, checkedOtherObjects, noOtherObjects, type OtherObjects } from "./doubts/otherObjects.ts";
import { noSelectionDoubts, type SelectionDoubt, type SelectionDoubts, selectionDoubtsAfter } from "./doubts/selectedNothing.ts";
import type { FederationSizes } from "./federation/federationSizes.ts";
import { type FederationDecision, noPolicyDestinations, policyDestinations } from "./federation/policyDestinations.ts";
import { assignedVirtualIps, byPlainAddress, noVirtualIps, type VirtualIps } from "./federation/virtualIps.ts";
import { type Memberships, memberships } from "./federation/virtualMeshes.ts";
import { type AttachedMesh, attachedMeshes, type MeshTables, noMeshes } from "./meshes.ts";
import { type CheckedAccess, type CheckedPolicy, checkedAccess, checkedTraffic, type InputTables, noPolicies } from "./policies.ts";
import { countSubsetUsage, noSubsetUsage, type SubsetUsage } from "./requiredSubsets.ts";
import type { AttachmentStep } from "./step.ts";
import { noUserObjectHosts, type UserObjectHosts, userObjectHosts } from "./userObjects.ts";
import { noVirtualHosts, type VirtualHosts, virtualHosts } from "./virtualDestinations/hosts.ts";
import { accessLogRecordChecks } from "./workloads/accessLogRecords/checked.ts";
import { type DependencyTables, dependenciesAfter, noDependencies } from "./workloads/serviceDependencies/checked.ts";
import { wasmDeploymentChecks } from "./workloads/wasmDeployments/checked.ts";

/** Which policies are in force where, and what else follows from them for Destinations and Meshes. */
export interface Attachment {
  readonly membership: Memberships;
  readonly meshes: Table<AttachedMesh>;
  readonly traffic: Table<CheckedPolicy<TrafficPolicy>>;
  readonly access: Table<CheckedAccess>;
  /** Destinations with nothing in their statuses but where they are federated to. */
  readonly known: Table<Destination>;
  readonly federation: Table<FederationDecision>;
  readonly loads: FederationSizes;
  readonly userHosts: Table<UserObjectHosts>;
  readonly attachedPolicies: Table<AttachedPolicies>;
  readonly supports: Table<SubsetUsage>;
  readonly virtualIps: VirtualIps;
  readonly virtualHosts: VirtualHosts;
  /** Clusters that others are to call no more, by name. */
  readonly offline: ReadonlyMap<string, true>;
  readonly others: OtherObjects;
  readonly doubts: SelectionDoubts;
  /** Of VirtualMeshes. */
  readonly federationDoubts: Table<SelectionDoubt>;
  /** ServiceDependencies of which something is to be said by themselves. */
  readonly dependencies: Table<CheckedObject>;
  /** AccessLogRecords of which something is to be said by themselves. */
  readonly accessLogRecords: Table<CheckedObject>;
  /** WasmDeployments of which something is to be said by themselves. */
  readonly wasmDeployments: Table<CheckedObject>;
}

/** Nothing attached to anything. */
export function nothingAttached(): Attachment {
  return {
    membership: { accepted: [], virtualMeshOf: new Map(), reports: [] },
    meshes: noMeshes(),
    traffic: noPolicies(),
    access: noPolicies(),
    ...noPolicyDestinations(),
    userHosts: noUserObjectHosts(),
    attachedPolicies: noAttachedPolicies(),
    supports: noSubsetUsage(),
    virtualIps: noVirtualIps,
    virtualHosts: noVirtualHosts,
    offline: new Map(),
    others: noOtherObjects(),
    doubts: noSelectionDoubts(),
    federationDoubts: noFederationDoubts(),
    dependencies: noDependencies(),
    accessLogRecords: accessLogRecordChecks.none(),
    wasmDeployments: wasmDeploymentChecks.none(),
  };
}

/** Decides which policies apply to which Destination and Mesh, in which order. */
export function* attachPolicies(step: AttachmentStep, before: Attachment): CooperativeTask<Attachment> {
  const { inputs, translationContext, since } = step;
  yield* indexedForAttachment(inputs);
  const membership = memberships(step, step.since === undefined ? undefined : before.membership);
  const meshes = yield* updated(
    before.meshes,
    attachedMeshes,
    transition<MeshTables>(
      { inputs, membership },
      since && { before: { inputs: since.inputs, membership: before.membership }, changes: since.changes },
    ),
  );
  const change = transition<InputTables>(step, since && { before: since, changes: since.changes });
  const traffic = yield* updated(before.traffic, checkedTraffic, change);
  const access = yield* updated(before.access, checkedAccess, change);
  const others = yield* checkedOtherObjects(change, before.others);
  const doubts = yield* selectionDoubtsAfter(step, { traffic, access }, before);
  const federationDoubts = yield* federationDoubtsAfter(step, doubts.places, {
    doubts: before.federationDoubts,
    places: before.doubts.places,
  });
  const ofWorkloads = transition<DependencyTables>(
    { inputs, translationContext, places: doubts.places.names },
    since && {
      before: { inputs: since.inputs, translationContext: since.translationContext, places: before.doubts.places.names },
      changes: since.changes,
    },
  );
  const dependencies = yield* dependenciesAfter(ofWorkloads, before.dependencies);
  const accessLogRecords = yield* accessLogRecordChecks.after(ofWorkloads, before.accessLogRecords);
  const wasmDeployments = yield* wasmDeploymentChecks.after(ofWorkloads, before.wasmDeployments);
  const changesIn = <V extends object>(after: Table<V>, earlier: Table<V>) =>
    since?.changes.between(after, earlier) ?? after.changesSince(earlier);
  const { known, federation, loads } = yield* policyDestinations(step, before, { membership, meshes });
  const sources = { known, traffic, access, meshes, userHosts: yield* userObjectHosts(step, before.userHosts) };
  yield* known.indexed(byService, byPlainAddress);
  const judged = yield* updated(
    before.attachedPolicies,
    attachedPolicies,
    transition<AttachedPoliciesTables>(
      { inputs, translationContext, attachment: sources },
      since && {
        before: { inputs: since.inputs, translationContext: since.translationContext, attachment: before },
        changes: since.changes,
      },
    ),
  );
  const supports = yield* countSubsetUsage(before.supports, changesIn(judged, before.attachedPolicies));
  const knownChanges = changesIn(known, before.known);
  const virtualIps = yield* assignedVirtualIps(step, known, { before: before.virtualIps, changes: knownChanges });
  const hosts = virtualHosts(step, before.virtualHosts);
  const offline = offlineIn(step, before.offline);
  const rest = {
    virtualIps,
    virtualHosts: hosts,
    offline,
    others,
    doubts,
    federationDoubts,
    dependencies,
    accessLogRecords,
    wasmDeployments,
  };
  return { membership, federation, loads, ...sources, attachedPolicies: judged, supports, ...rest };
}

/** The very same while no cluster comes or goes. */
function offlineIn({ offline }: AttachmentStep, before: ReadonlyMap<string, true>): ReadonlyMap<string, true> {
  const isAsBefore = before.size === offline.size && [...offline].every((name) => before.has(name));
  return isAsBefore ? before : new Map([...offline].sort().map((name) => [name, true]));
}

/** Rows of any stage, as far as they tell something. */
export interface Reporting {
  readonly reports: readonly Report[];
}

/** The tables of attachment whose rows tell something of users' objects, in the order in which they do. */
export const REPORTING_ATTACHMENTS: readonly ((attachment: Attachment) => Table<Reporting>)[] = [
  ({ meshes }) => meshes,
  ({ loads }) => loads.verdicts,
  ({ federation }) => federation,
  ({ traffic }) => traffic,
  ({ access }) => access,
  ({ attachedPolicies }) => attachedPolicies,
  ({ doubts }) => doubts.traffic,
  ({ doubts }) => doubts.access,
  ({ federationDoubts }) => federationDoubts,
  ({ dependencies }) => dependencies,
  ({ accessLogRecords }) => accessLogRecords,
  ({ wasmDeployments }) => wasmDeployments,
  ({ others }) => others.settings,
  ({ others }) => others.registrations,
];

/** Every finding about users' objects that was made while attaching. */
export function attachmentReports(attachment: Attachment): readonly Report[] {
  const rows = REPORTING_ATTACHMENTS.flatMap((table) => table(attachment).where(withReports, ""));
  return [...attachment.membership.reports, ...rows.flatMap(({ reports }) => reports)];
}

/** Rows of which there is something to tell, under "". */
function withReports({ reports }: { readonly reports: readonly Report[] }): readonly string[] {
  return reports.length === 0 ? [] : [""];
}
