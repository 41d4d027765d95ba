import { deliveredKinds } from "@isthmus/api";
import { type AnyResource, type Clock, formatRef, type Kind, refOf, uptimeOf } from "@isthmus/core";
import { FIELD_MANAGER, NAMES } from "@isthmus/plane/installation";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { networkingOwner } from "@isthmus/translators";
import { untyped } from "../remoteAccess.ts";
import { deleteIfSame, placeOf } from "./ownObjects.ts";

/** What was applied in a cluster, and by whom. */
export interface Purge {
  /** Of the management plane that has applied it. */
  readonly managementNamespace: string;
  /** Undefined: no agent has applied it, but the management server itself. */
  readonly agentNamespace: string | undefined;
  readonly clock: Clock;
  /** Nothing is deleted, the agent neither: it is not waited for. */
  readonly isDryRun?: boolean;
}

/**
 * Deletes the mesh configuration that was applied in a cluster, once no agent runs in it: an agent restores what is deleted until it ends
 * or has learned from the server that the cluster is not registered any more. Gives what was deleted, and what could not be, as texts for people.
 */
export async function purgeConfiguration(
  remote: Cluster,
  purge: Purge,
): Promise<{ readonly deleted: readonly string[]; readonly problems: readonly string[] }> {
  const deleted = new Set<string>();
  const problems: string[] = [];
  try {
    const writer =
      purge.agentNamespace === undefined || purge.isDryRun === true
        ? undefined
        : await agentThatStays(remote, purge.agentNamespace, purge.clock);
    if (writer !== undefined) return { deleted: [], problems: [`the mesh configuration was not deleted: ${writer}`] };
    for (let round = 1; ; round++) {
      const found = await applied(remote, purge.managementNamespace);
      if (found.length === 0) break;
      if (round > ROUNDS) {
        const [first] = found.map(({ object }) => formatRef(refOf(object)));
        problems.push(`${first} was written again after it was deleted: stop what writes it, and run this command again`);
        break;
      }
      for (const { kind, object } of found) {
        await deleteIfSame(remote, kind, object);
        deleted.add(formatRef(refOf(object)));
      }
      // A write that was under way is there by then.
      await purge.clock.sleep(SETTLE_MS);
    }
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error;
    problems.push(error.message);
  }
  return { deleted: [...deleted], problems };
}

/** What bears our label and was written by our field manager. What is going already is left out. */
async function applied(
  remote: Cluster,
  managementNamespace: string,
): Promise<readonly { readonly kind: Kind<AnyResource>; readonly object: AnyResource }[]> {
  const { label, value } = networkingOwner(managementNamespace);
  const labels = { matchLabels: { [label]: value } };
  const all: { readonly kind: Kind<AnyResource>; readonly object: AnyResource }[] = [];
  for (const kind of deliveredKinds() as readonly Kind<AnyResource>[]) {
    const { items } = await remote.list(kind, { labels }).catch((error: unknown) => {
      if (error instanceof ClusterError && (error.code === "Unserved" || error.code === "NotFound")) return { items: [] };
      throw error;
    });
    for (const item of items) {
      const object = await remote.get(kind, placeOf(item));
      const isOurs = object?.metadata.managedFields?.some(({ manager }) => manager === FIELD_MANAGER) === true;
      if (object !== undefined && isOurs && !isGoing(object)) all.push({ kind, object });
    }
  }
  return all;
}

function isGoing({ metadata }: AnyResource): boolean {
  return (metadata as { readonly deletionTimestamp?: string }).deletionTimestamp !== undefined;
}

/** An agent that somebody else has installed, or whose pods do not end in time, with what to do about it. */
async function agentThatStays(remote: Cluster, namespace: string, clock: Clock): Promise<string | undefined> {
  for (const { agent: name } of Object.values(NAMES)) {
    const deployment = (await remote.get(Deployment, { name, namespace })) as Scaled | undefined;
    if (deployment === undefined || deployment.spec?.replicas === 0) continue;
    return `the agent of Deployment ${namespace}/${name}, which meshctl did not create, would write it again: uninstall it, and run this command again`;
  }
  const until = uptimeOf(clock) + ENDING_MS;
  for (;;) {
    const pod = await agentPod(remote, namespace);
    if (pod === undefined) return undefined;
    if (uptimeOf(clock) >= until) {
      return `Pod ${namespace}/${pod} of the agent did not end within ${ENDING_MS / 1000} s: once it has ended, run this command again`;
    }
    await clock.sleep(POLL_MS);
  }
}

interface Scaled {
  readonly spec?: { readonly replicas?: number };
}

async function agentPod(remote: Cluster, namespace: string): Promise<string | undefined> {
  for (const { agent: app } of Object.values(NAMES)) {
    const [pod] = (await remote.list(Pod, { namespace, labels: { matchLabels: { app } } })).items;
    if (pod !== undefined) return pod.metadata.name;
  }
  return undefined;
}

const Deployment = untyped("apps/v1", "Deployment", "deployments");
const Pod = untyped("v1", "Pod", "pods");
/** As long as Kubernetes gives a pod to end, and the same again. */
const ENDING_MS = 60_000;
const POLL_MS = 250;
const SETTLE_MS = 1_000;
const ROUNDS = 5;
