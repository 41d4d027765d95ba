import { type AnyResource, type Clock, formatRef, type Resource, refOf, UsageError } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { oursAt } from "../charts/valuesRecord.ts";
import type { ManagementHints } from "../register/hints.ts";
import { deleteIfSame, isMadeByMeshctl } from "../register/ownObjects.ts";
import { Definition, gone, kindServed, listed } from "../register/removeFoundations.ts";
import { clustersElsewhere, type FoundObject, findPlane, KEPT, registeredClusters } from "./foundPlane.ts";
import { serversEnded } from "./runningServers.ts";
import { recordOfPlane, SERVER_APPS } from "./serverWithValues.ts";

/** One management plane to be removed. */
export interface PlaneRemoval {
  readonly cluster: Cluster;
  readonly namespace: string;
  /** CRDs go, and every object of their kinds with them. */
  readonly withDefinitions: boolean;
  /** Although clusters are registered. */
  readonly force: boolean;
  readonly hints: ManagementHints;
}

/** What goes and what stays, before anything is deleted. */
export interface RemovalPlan {
  /** In the order in which they are deleted. */
  readonly deleted: readonly FoundObject[];
  /** What else happens by it, for people. */
  readonly lost: readonly string[];
  readonly stays: readonly string[];
}

/** Finds out what goes and what stays. Throws UsageError for a Helm release, while clusters are registered, and where CRDs are used by others. */
export async function planRemoval(removal: PlaneRemoval): Promise<RemovalPlan> {
  const { cluster, namespace, withDefinitions, force, hints } = removal;
  const plane = await findPlane(cluster, namespace, { helm: "uninstall" });
  const clusters = await registeredClusters(cluster, namespace);
  if (clusters.length > 0 && !force) throw new UsageError(registeredText(clusters, hints));
  const elsewhere = withDefinitions ? await clustersElsewhere(cluster, namespace) : [];
  if (elsewhere.length > 0) {
    throw new UsageError(
      `${elsewhere.slice(0, SHOWN).join(", ")}: another management plane uses these CRDs, so they are not deleted: leave out --crds`,
    );
  }
  // What values of users added.
  const more = (await oursAt(cluster, (await recordOfPlane(cluster, namespace)) ?? [], SERVER_APPS)).map(({ kind, object }) => ({
    kind,
    desired: object,
    found: object,
  }));
  const made = plane.objects.filter(({ found }) => found !== undefined && isMadeByMeshctl(found));
  const isAccount = ({ desired }: FoundObject): boolean => desired.kind === "ServiceAccount";
  // Deleted in reverse: the ServiceAccount last, which says what more there is.
  const ours = [...made.filter(isAccount), ...more, ...made.filter((object) => !isAccount(object))];
  const definitions = plane.definitions.filter(({ found }) => found !== undefined && isMadeByMeshctl(found));
  // What runs goes before what it needs.
  const goes = ours.filter(({ desired }) => !KEPT.has(desired.kind)).reverse();
  const counts = await objectsOf(cluster, plane.definitions);
  const inDefinitions = definitions.map(({ desired }) => ({ name: desired.metadata.name, count: counts.get(desired.metadata.name) ?? 0 }));
  const foreign = [...plane.objects, ...plane.definitions].flatMap(({ found }) =>
    found !== undefined && !isMadeByMeshctl(found) ? [`${formatRef(refOf(found))}, which meshctl has not created`] : [],
  );
  return {
    deleted: [...goes, ...(withDefinitions ? definitions : [])],
    lost: withDefinitions ? lostText(inDefinitions) : [],
    stays: [
      ...ours.flatMap(({ desired }) =>
        KEPT.has(desired.kind) ? [`${formatRef(refOf(desired))}, with the data of Redis (helm install uses it with --take-ownership)`] : [],
      ),
      ...(withDefinitions || definitions.length === 0 ? [] : [keptDefinitionsText(inDefinitions)]),
      ...foreign,
      `Namespace ${namespace}, with the Secrets of the relay: agents trust a server that is installed later by them`,
      "agents, and the mesh configuration in their clusters",
    ],
  };
}

/**
 * Deletes what the plan says; CRDs only once no management server runs: one that still does would take the loss of their objects for
 * deletes by users, and delete what they made in all clusters. Throws UsageError with all that could not be deleted.
 */
export async function removePlane(cluster: Cluster, { deleted }: RemovalPlan, { clock, say }: RemovalReport): Promise<void> {
  const definitions = deleted.filter(isDefinition);
  const problems = await deleteAll(
    cluster,
    deleted.filter((object) => !isDefinition(object)),
    say,
  );
  if (definitions.length > 0) {
    if (problems.length > 0) throw new UsageError(`not everything could be deleted, so the CRDs are kept: ${problems.join("; ")}`);
    await serversEnded(cluster, clock);
    problems.push(...(await deleteAll(cluster, definitions, say)));
    await gone(
      cluster,
      definitions.map(({ desired }) => desired.metadata.name),
      clock,
    );
  }
  if (problems.length > 0) throw new UsageError(`not everything could be deleted: ${problems.join("; ")}`);
}

interface RemovalReport {
  readonly clock: Clock;
  readonly say: (line: string) => void;
}

function isDefinition({ kind }: FoundObject): boolean {
  return kind.kind === Definition.kind;
}

/** One object that cannot be deleted does not hold up the others. Gives what could not be deleted, and why. */
async function deleteAll(cluster: Cluster, objects: readonly FoundObject[], say: RemovalReport["say"]): Promise<string[]> {
  const problems: string[] = [];
  for (const { kind, found, desired } of objects) {
    const name = formatRef(refOf(desired));
    try {
      await deleteIfSame(cluster, kind, found as Resource);
      say(`deleted ${name}`);
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error;
      problems.push(`${name}: ${error.message}`);
    }
  }
  return problems;
}

function registeredText(clusters: readonly string[], hints: ManagementHints): string {
  const shown = clusters.slice(0, SHOWN);
  const rest = clusters.length - shown.length;
  const commands = shown.map((name) => `  ${hints.acrossClusters("cluster", "deregister", name, "--remote-context", "CONTEXT")}`);
  return (
    `${clusters.length === 1 ? "a cluster is" : `${clusters.length} clusters are`} registered: ${shown.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}. ` +
    `Deregister ${clusters.length === 1 ? "it" : "them"} first, or add --force: agents then keep the last mesh configuration\n${commands.join("\n")}`
  );
}

const SHOWN = 10;

interface Defined {
  readonly name: string;
  readonly count: number;
}

function lostText(definitions: readonly Defined[]): readonly string[] {
  return definitions.filter(({ count }) => count > 0).map(({ name, count }) => `${objectCount(count)} of ${name}, in all namespaces`);
}

function keptDefinitionsText(definitions: readonly Defined[]): string {
  const count = definitions.reduce((sum, one) => sum + one.count, 0);
  return `${definitions.length} CRDs, with ${objectCount(count)} of their kinds (delete both: --crds; helm install takes them over with --take-ownership)`;
}

function objectCount(count: number): string {
  return `${count} ${count === 1 ? "object" : "objects"}`;
}

/** How many objects there are of each CRD, by its name. */
async function objectsOf(cluster: Cluster, definitions: readonly FoundObject[]): Promise<ReadonlyMap<string, number>> {
  const present = definitions.flatMap(({ found }): AnyResource[] => (found === undefined ? [] : [found]));
  const counts = new Map<string, number>();
  for (const definition of present) counts.set(definition.metadata.name, (await listed(cluster, kindServed(definition))).length);
  return counts;
}
