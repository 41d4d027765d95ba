import { type Destination, type Mesh, meshInstallationOf, VirtualMesh } from "@isthmus/api";
import { type EntryChange, emptyTable, keyOfResource, type ObjectRef, type Report, refOf, SortedMap, type Table } from "@isthmus/core";
import { type Finding, invalidFinding, reportOf, warningFinding } from "../../findings.ts";
import { reuseIfEqual } from "../../incremental/rows.ts";
import { translatorOf } from "../../meshes/meshTranslators.ts";
import { meshCluster } from "../../policy/policyScope.ts";
import type { AttachmentStep } from "../step.ts";

/** How much one Destination that its VirtualMesh would federate adds to it. */
export interface FederationCandidate {
  /** Key of the VirtualMesh. */
  readonly virtualMesh: string;
  /** The clusters that would get objects to call it with; one twice where two control planes are in it. */
  readonly clusters: readonly string[];
  /** What its own cluster would get beside what leads callers on to its pods, as each federated service has that. */
  readonly atHome: ClusterLoad | undefined;
}

/** How much each VirtualMesh's federation would write into each cluster. */
export interface FederationSizes {
  /** By VirtualMesh and cluster. */
  readonly loads: SortedMap<ClusterLoad>;
  readonly verdicts: Table<FederationSizeFinding>;
}

/** Objects in one cluster. */
export interface ClusterLoad {
  readonly clusterName: string;
  readonly objects: number;
}

/** What is to be said of a federation that writes a lot. */
export interface FederationSizeFinding {
  /** Of the VirtualMesh. */
  readonly key: string;
  /** Above the limit of the Settings: nothing of it is federated. */
  readonly isRefused: boolean;
  readonly reports: readonly Report[];
}

/** The sizes before the first run: nothing is federated, and there is nothing to report. */
export function noFederationSizes(): FederationSizes {
  return { loads: SortedMap.empty(), verdicts: emptyTable(({ key }) => key) };
}

// Of every federated service, each calling cluster gets a ServiceEntry and a DestinationRule; VirtualServices come with policies.
const OBJECTS_PER_SERVICE = 2;
// About where istiod and its proxies begin to feel it: far beyond what anybody means by a default.
const MANY_OBJECTS = 2000;

/** What federations would write, with some candidates changed. */
export function updateFederationSizes(
  step: AttachmentStep,
  changes: readonly EntryChange<FederationCandidate>[],
  before: FederationSizes,
): FederationSizes {
  const loads = before.loads.update(addedUp(changes, before));
  const limit = step.translationContext.settings?.spec?.federation?.maxObjectsPerCluster ?? Number.POSITIVE_INFINITY;
  const rows: [string, FederationSizeFinding | undefined][] = [];
  for (const virtualMesh of step.inputs.of(VirtualMesh)) {
    const key = keyOfResource(virtualMesh);
    const row = before.verdicts.row(key);
    const finding = findingFor(loads.withPrefix(`${key}|`), limit);
    const reports = finding === undefined ? [] : [reportOf(refOf(virtualMesh), finding)];
    const verdict = finding && { key, isRefused: finding.state === "INVALID", reports: reuseIfEqual(reports, row?.reports) };
    rows.push([key, verdict !== undefined && verdict.reports === row?.reports ? row : verdict]);
  }
  for (const { key } of before.verdicts) if (step.inputs.of(VirtualMesh).row(key) === undefined) rows.push([key, undefined]);
  return { loads, verdicts: before.verdicts.with(rows) };
}

/** The clusters that a federated Destination's objects are written into: those of the meshes it is federated to, but for its own place. */
export function callingClusters(
  { spec }: Destination,
  meshes: readonly ObjectRef[],
  meshOf: (ref: Partial<ObjectRef>) => Mesh | undefined,
): readonly string[] {
  const home = placeOf(meshOf(spec?.mesh ?? {}));
  const places = new Map<string, string>();
  for (const ref of meshes) {
    const mesh = meshOf(ref);
    if (mesh !== undefined && translatorOf(mesh)?.federation !== undefined) places.set(placeOf(mesh), meshCluster(mesh));
  }
  places.delete(home);
  return [...places.values()].sort();
}

// Revisions of a control plane share its namespace, and so our objects.
function placeOf(mesh: Mesh | undefined): string {
  const { namespace = "", cluster = "" } = (mesh && meshInstallationOf(mesh)) ?? {};
  return `${namespace}.${cluster}`;
}

function* addedUp(
  changes: readonly EntryChange<FederationCandidate>[],
  before: FederationSizes,
): Iterable<readonly [string, ClusterLoad | undefined]> {
  // Services of one mesh mostly go to the same clusters, and share the list.
  const sums = new Map<string, Map<readonly string[], number>>();
  const totals = new Map<string, ClusterLoad>();
  const note = (virtualMesh: string, clusterName: string, more: number) => {
    const key = `${virtualMesh}|${clusterName}`;
    const objects = (totals.get(key) ?? before.loads.get(key))?.objects ?? 0;
    totals.set(key, { clusterName, objects: objects + more });
  };
  const add = ({ virtualMesh, clusters, atHome }: FederationCandidate, count: number) => {
    if (atHome !== undefined) note(virtualMesh, atHome.clusterName, count * atHome.objects);
    const byList = sums.get(virtualMesh) ?? new Map<readonly string[], number>();
    sums.set(virtualMesh, byList);
    byList.set(clusters, (byList.get(clusters) ?? 0) + count);
  };
  for (const change of changes) {
    if (change.before !== undefined) add(change.before, -1);
    if (change.after !== undefined) add(change.after, 1);
  }
  for (const [virtualMesh, byList] of sums) {
    for (const [clusters, count] of byList) for (const clusterName of clusters) note(virtualMesh, clusterName, count * OBJECTS_PER_SERVICE);
  }
  for (const [key, load] of totals) yield [key, load.objects === 0 ? undefined : load];
}

function findingFor(loads: readonly ClusterLoad[], limit: number): Finding | undefined {
  const refused = loads.filter(({ objects }) => objects > limit);
  if (refused.length > 0) {
    const remedy = "federate fewer services or meshes with spec.federation.selectors, or raise the limit in the Settings";
    const excess = `more than ${limit}, the limit spec.federation.maxObjectsPerCluster in the Settings`;
    return invalidFinding(
      "FederationTooLarge",
      `spec.federation: nothing is federated, because federation would write ${listed(refused)}, ${excess}: ${remedy}`,
    );
  }
  const many = loads.filter(({ objects }) => objects > MANY_OBJECTS);
  if (many.length === 0) return undefined;
  const remedy =
    "federate fewer services or meshes with spec.federation.selectors, or set spec.federation.maxObjectsPerCluster in the Settings";
  return warningFinding(
    "FederationLarge",
    `spec.federation: federation writes ${listed(many)}; more than ${MANY_OBJECTS} into one cluster can be slow: ${remedy}`,
  );
}

// Enough to see where; the others are counted.
const MAX_LISTED = 3;

function listed(loads: readonly ClusterLoad[]): string {
  const most = [...loads].sort((a, b) => b.objects - a.objects || (a.clusterName < b.clusterName ? -1 : 1));
  const named = most
    .slice(0, MAX_LISTED)
    .map(({ clusterName, objects }) => `${objects} ${objects === 1 ? "object" : "objects"} into ${clusterName}`);
  const others = most.length - named.length;
  return `${named.join(", ")}${others === 0 ? "" : `, and at most as many into each of ${others} more ${others === 1 ? "cluster" : "clusters"}`}`;
}
