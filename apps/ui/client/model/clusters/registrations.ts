import type { Fleet } from "../../data/fleet.ts";
import { KubernetesCluster } from "../../data/kinds.ts";

/** The registrations of clusters: KubernetesClusters in the namespace of the management plane. Those in other namespaces register nothing, whatever they say. */
export function registrationsIn({ snapshot, source }: Pick<Fleet, "snapshot" | "source">): readonly KubernetesCluster[] {
  return source === undefined ? [] : [...snapshot.of(KubernetesCluster)].filter(({ metadata }) => metadata.namespace === source.namespace);
}

/** The registration of a cluster, if there is one. */
export function registrationOf({ snapshot, source }: Pick<Fleet, "snapshot" | "source">, name: string): KubernetesCluster | undefined {
  return source && snapshot.of(KubernetesCluster).get({ name, namespace: source.namespace, clusterName: "" });
}
