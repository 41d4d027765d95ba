import { KubernetesCluster } from "@isthmus/api";
import { UsageError } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/plane/ports";

/** Sets annotations of a KubernetesCluster; `undefined` takes one away. `change` gets those there are. Throws UsageError when there is no such cluster. */
export async function annotateCluster(
  cluster: Cluster,
  ref: { readonly name: string; readonly namespace: string },
  change: (annotations: Readonly<Record<string, string>>) => Readonly<Record<string, string | undefined>>,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const found = await cluster.get(KubernetesCluster, ref);
    if (found === undefined)
      throw new UsageError(`cluster ${ref.name} is not registered: KubernetesCluster ${ref.namespace}/${ref.name} not found`);
    const { managedFields: _, annotations = {}, ...metadata } = found.metadata;
    const next = Object.entries({ ...annotations, ...change(annotations) }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    try {
      await cluster.update({ ...found, metadata: { ...metadata, annotations: Object.fromEntries(next) } });
      return;
    } catch (error) {
      // The server writes statuses there, too.
      if (!(error instanceof ClusterError && error.code === "Conflict") || attempt === MOST_ATTEMPTS) throw error;
    }
  }
}

const MOST_ATTEMPTS = 10;
