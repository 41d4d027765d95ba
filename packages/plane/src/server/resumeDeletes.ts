import { RESUME_DELETES } from "@isthmus/api";
import { type Log, messageOf, type Resource } from "@isthmus/core";

/** Passes a user's word that held-back removals may go on to the agent: once for each new value of the annotation. */
export interface DeleteResumption {
  /** Values that were acted on, by cluster. */
  readonly resumed: ReadonlyMap<string, string>;
  /** Looks at all registered clusters. */
  check(registered: Iterable<Resource>): void;
}

export interface DeleteResumptionOptions {
  readonly heldIn: (clusterName: string) => number;
  /** Whether the agent of a cluster is connected here: if not, it is for the replica that has it to tell it. */
  readonly isServed: (clusterName: string) => boolean;
  /** Tells the agent of a cluster; rejects when it cannot be reached. */
  readonly tell: (clusterName: string) => Promise<void>;
  readonly log: Log;
  readonly changed: () => void;
}

/**
 * Sends each approval by `tell`. It counts as acted on when the agent has accepted it, or had nothing on hold; one that could not be sent
 * is sent again at the next `check`.
 */
export function deleteResumption({ heldIn, isServed, tell, log, changed }: DeleteResumptionOptions): DeleteResumption {
  const resumed = new Map<string, string>();
  const asking = new Set<string>();

  async function resume(clusterName: string, value: string): Promise<void> {
    asking.add(clusterName);
    try {
      // A word that was given before there was anything to let go must not count for what comes later.
      if (heldIn(clusterName) > 0) await tell(clusterName);
      resumed.set(clusterName, value);
      changed();
    } catch (error) {
      log.warn(
        { cluster: clusterName },
        `cannot send the approval to resume deletes to the agent of ${clusterName}: ${messageOf(error)}; annotate the KubernetesCluster again`,
      );
    } finally {
      asking.delete(clusterName);
    }
  }

  return {
    resumed,
    check(registered) {
      for (const cluster of registered) {
        const { name, annotations } = cluster.metadata;
        const value = annotations?.[RESUME_DELETES];
        const known = resumed.get(name) ?? (cluster as { readonly status?: { readonly resumedDeletes?: string } }).status?.resumedDeletes;
        if (known !== undefined) resumed.set(name, known);
        if (value !== undefined && value !== known && isServed(name) && !asking.has(name)) void resume(name, value);
      }
    },
  };
}
