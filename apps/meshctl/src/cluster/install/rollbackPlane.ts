import { Secret } from "@isthmus/api";
import { type AnyResource, type Clock, formatRef, refOf, UsageError } from "@isthmus/core";
import { GENERATED_SECRET, RELAY_SECRETS } from "@isthmus/plane/installation";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { type Change, deleteIfSame, isMadeByMeshctl, takeBack } from "../register/ownObjects.ts";
import { Definition, kindServed, listed, removeEmptyNamespace } from "../register/removeFoundations.ts";
import { registeredClusters } from "./foundPlane.ts";
import { serversEnded } from "./runningServers.ts";
import { SERVER } from "./serverManifest.ts";

/** Secrets that a server makes for itself where they are absent. */
const MADE_BY_SERVER: readonly string[] = [...Object.values(RELAY_SECRETS), GENERATED_SECRET];

/** Names of the Secrets of the relay that are in a namespace. */
export async function relaySecretsIn(cluster: Cluster, namespace: string): Promise<ReadonlySet<string>> {
  const found = await Promise.all(MADE_BY_SERVER.map((name) => cluster.get(Secret, { name, namespace })));
  return new Set(MADE_BY_SERVER.filter((_, i) => found[i] !== undefined));
}

/** One run of an installation that failed. */
export interface FailedInstallation {
  readonly cluster: Cluster;
  readonly namespace: string;
  readonly clock: Clock;
  /** What the run has made and changed, in that order. */
  readonly changes: readonly Change[];
  /** The Secrets of the relay that were there before it; undefined where nobody has looked: then all of them are kept. */
  readonly secretsBefore: ReadonlySet<string> | undefined;
}

/** What could not be undone and why, and what is kept on purpose. */
export interface Rollback {
  readonly problems: readonly string[];
  readonly kept: readonly string[];
}

/**
 * Undoes what one run has made, and only that: what runs first, then what it has made for itself, then the namespace and the CRDs, where
 * nothing is in them. What the run has changed is as it was before.
 */
export async function rollBackPlane(failed: FailedInstallation): Promise<Rollback> {
  const problems: string[] = [];
  const kept: string[] = [];
  const madeFoundation = ({ applied, before }: Change): boolean =>
    before === undefined && (applied.kind === Definition.kind || applied.kind === "Namespace");
  problems.push(...(await takeBack(failed.changes.filter((change) => !madeFoundation(change)))));
  const step = async (work: () => Promise<readonly string[]>): Promise<void> => {
    try {
      kept.push(...(await work()));
    } catch (error) {
      if (!(error instanceof ClusterError || error instanceof UsageError)) throw error;
      problems.push(error.message);
    }
  };
  const definitions = failed.changes.filter((change) => madeFoundation(change) && change.applied.kind === Definition.kind);
  await step(() => dropSecrets(failed));
  if (failed.changes.some((change) => madeFoundation(change) && change.applied.kind === "Namespace")) {
    await step(async () => {
      const why = await removeEmptyNamespace(failed.cluster, failed.namespace);
      return why === undefined ? [] : [why];
    });
  }
  if (definitions.length > 0) await step(() => dropDefinitions(failed, definitions));
  return { problems, kept };
}

/** What a server of this run has made for itself. A cluster that is registered may trust it already. */
async function dropSecrets({ cluster, namespace, clock, changes, secretsBefore }: FailedInstallation): Promise<readonly string[]> {
  const madeServer = changes.some(
    ({ applied, before }) => before === undefined && applied.kind === "Deployment" && applied.metadata.name === SERVER,
  );
  if (!madeServer || secretsBefore === undefined) return [];
  const made: AnyResource[] = [];
  // While it runs, it would make them again.
  await serversEnded(cluster, clock);
  for (const name of MADE_BY_SERVER) {
    const found = secretsBefore.has(name) ? undefined : await cluster.get(Secret, { name, namespace });
    // One that a user brings meanwhile has no label of ours.
    if (found !== undefined && found.metadata.labels?.["app"] === "gloo-mesh") made.push(found as unknown as AnyResource);
  }
  const clusters = made.length === 0 ? [] : await registeredClusters(cluster, namespace);
  if (clusters.length > 0) return [`the Secrets of the relay are kept: registered clusters may use them: ${clusters.join(", ")}`];
  for (const secret of made) await deleteIfSame(cluster, Secret, secret);
  return [];
}

/** A server that runs, no matter who installed it, would take the loss of objects for deletes by users. */
async function dropDefinitions({ cluster, clock }: FailedInstallation, changes: readonly Change[]): Promise<readonly string[]> {
  const kept: string[] = [];
  await serversEnded(cluster, clock);
  for (const { applied } of [...changes].reverse()) {
    const definition = await cluster.get(Definition, { name: applied.metadata.name, namespace: "" });
    if (definition === undefined || !isMadeByMeshctl(definition)) continue;
    const [first] = await listed(cluster, kindServed(definition));
    if (first === undefined) await deleteIfSame(cluster, Definition, applied.metadata.uid === undefined ? definition : applied);
    else kept.push(`${formatRef(refOf(definition))} is kept: it has ${formatRef(refOf(first))}`);
  }
  return kept;
}
