import type { Destination, TrafficPolicy, VirtualMesh } from "@isthmus/api";
import type { Change, Report, Snapshot, Steps, Table } from "@isthmus/core";
import type { Changes } from "../incremental/changes.ts";
import type { Surroundings } from "../inputs.ts";
import { affectedDestinations } from "./affectedDestinations.ts";
import type { FederationLoads } from "./federationLoads.ts";
import { byService, indexedForAttachment } from "./indexes.ts";
import { type FederationRefusal, knownDestinations, noDestinations } from "./knownDestinations.ts";
import { type AttachedMesh, attachMeshes, noMeshes } from "./meshes.ts";
import { type CheckedAccess, type CheckedPolicy, checkAccessPolicies, checkTrafficPolicies, noPolicies } from "./policies.ts";
import { affectedServices, countedSupport, noSupport, type Support } from "./requiredSubsets.ts";
import { judgeDestinations, noStandings, type Standing } from "./standings.ts";
import { type HostClaim, hostClaims, noHostClaims } from "./userObjects.ts";
import { assignedVirtualIps, byPlainAddress, noVirtualIps, readdressedServices, type VirtualIps } from "./virtualIps.ts";
import { changedMemberships, type Memberships, memberships } from "./virtualMeshes.ts";

/** One run of attachment: what it reads, and what is new there. */
export interface AttachmentStep {
  readonly inputs: Snapshot;
  readonly surroundings: Surroundings;
  /** Since the run before; undefined from scratch. */
  readonly since: { readonly changes: Changes; readonly surroundings: Surroundings } | undefined;
}

/** Which policies are in force where, and what else follows from them for Destinations and Meshes. */
export interface Attachment {
  readonly membership: Memberships;
  readonly meshes: Table<AttachedMesh>;
  readonly traffic: Table<CheckedPolicy<TrafficPolicy>>;
  readonly access: Table<CheckedAccess>;
  /** Destinations with nothing in their statuses but where they are federated to. */
  readonly known: Table<Destination>;
  readonly refusals: Table<FederationRefusal>;
  readonly loads: FederationLoads;
  readonly claims: Table<HostClaim>;
  readonly standings: Table<Standing>;
  readonly supports: Table<Support>;
  readonly virtualIps: VirtualIps;
}

/** What of an attachment is not as it was. */
export interface AttachmentChanges {
  readonly membership: readonly Change<VirtualMesh>[];
  readonly meshes: readonly Change<AttachedMesh>[];
  readonly known: readonly Change<Destination>[];
  /** The keys of the Destinations that were judged anew. */
  readonly judged: ReadonlySet<string>;
  /** The keys of the Services whose required subsets or virtual address may be others. */
  readonly services: ReadonlySet<string>;
}

/** Nothing attached to anything. */
export function nothingAttached(): Attachment {
  return {
    membership: { accepted: [], virtualMeshOf: new Map(), reports: [] },
    meshes: noMeshes(),
    traffic: noPolicies(),
    access: noPolicies(),
    ...noDestinations(),
    claims: noHostClaims(),
    standings: noStandings(),
    supports: noSupport(),
    virtualIps: noVirtualIps,
  };
}

/** Decides which policies apply to which Destination and Mesh, in which order. */
export function* attachPolicies(
  step: AttachmentStep,
  before: Attachment,
): Steps<{ readonly attachment: Attachment; readonly changes: AttachmentChanges }> {
  yield* indexedForAttachment(step.inputs);
  const membership = memberships(step, step.since === undefined ? undefined : before.membership);
  const changed = changedMemberships(membership, before.membership);
  const meshes = yield* attachMeshes(step, before.meshes, { membership, changed });
  const traffic = yield* checkTrafficPolicies(step, before.traffic);
  const access = yield* checkAccessPolicies(step, before.access);
  const meshChanges = meshes.changesSince(before.meshes);
  const { known, refusals, loads } = yield* knownDestinations(step, before, { membership, changed, meshes, meshChanges });
  const sources = { known, traffic, access, meshes, claims: yield* hostClaims(step, before.claims) };
  yield* known.indexed(byService, byPlainAddress);
  const judged = affectedDestinations(step, sources, before);
  const standings = yield* judgeDestinations(step, sources, { before: before.standings, affected: judged });
  const supports = yield* countedSupport(before.supports, standings.changesSince(before.standings));
  const knownChanges = known.changesSince(before.known);
  const virtualIps = yield* assignedVirtualIps(step, known, { before: before.virtualIps, changes: knownChanges });
  const attachment = { membership, refusals, loads, ...sources, standings, supports, virtualIps };
  const services = new Set([...affectedServices(attachment, before), ...readdressedServices(virtualIps, before.virtualIps)]);
  return {
    attachment,
    changes: { membership: changed, meshes: meshChanges, known: knownChanges, judged, services },
  };
}

/** Every finding about users' objects that was made while attaching. */
export function attachmentReports({ membership, meshes, loads, refusals, traffic, access, standings }: Attachment): readonly Report[] {
  const tables: readonly Table<{ readonly reports: readonly Report[] }>[] = [meshes, loads.verdicts, refusals, traffic, access, standings];
  return [...membership.reports, ...tables.flatMap((table) => table.where(withReports, "").flatMap(({ reports }) => reports))];
}

/** Rows of which there is something to tell, under "". */
function withReports({ reports }: { readonly reports: readonly Report[] }): readonly string[] {
  return reports.length === 0 ? [] : [""];
}
