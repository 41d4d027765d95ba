import { KubernetesCluster } from "@isthmus/api";
import { UsageError } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";

interface Named {
  readonly name: string;
  readonly namespace: string;
}

/** Sets annotations of a KubernetesCluster; `undefined` takes one away. `change` gets those there are. Throws UsageError when there is no such cluster. */
export async function annotateCluster(
  cluster: Cluster,
  ref: Named,
  change: (annotations: Readonly<Record<string, string>>) => Readonly<Record<string, string | undefined>>,
): Promise<void> {
  await updateRegistration(cluster, ref, (found) => {
    const { annotations = {}, ...metadata } = found.metadata;
    const next = Object.entries({ ...annotations, ...change(annotations) }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    return { ...found, metadata: { ...metadata, annotations: Object.fromEntries(next) } };
  });
}

/** Changes a KubernetesCluster, and gives it as it was before. Throws UsageError when there is no such cluster. */
export async function updateRegistration(
  cluster: Cluster,
  ref: Named,
  change: (found: KubernetesCluster) => KubernetesCluster,
  signal?: AbortSignal,
): Promise<KubernetesCluster> {
  for (let attempt = 1; ; attempt++) {
    const found = await cluster.get(KubernetesCluster, ref, signal);
    if (found === undefined)
      throw new UsageError(`cluster ${ref.name} is not registered: KubernetesCluster ${ref.namespace}/${ref.name} not found`);
    const next = change(found);
    const { managedFields: _, ...metadata } = next.metadata;
    try {
      await cluster.update({ ...next, metadata }, signal);
      return found;
    } catch (error) {
      // The server writes statuses there, too.
      if (!(error instanceof ClusterError && error.code === "Conflict") || attempt === MOST_ATTEMPTS) throw error;
    }
  }
}

const MOST_ATTEMPTS = 10;
