import type { AnyResource } from "@isthmus/core";
import type { SimulatedCluster } from "@isthmus/simulator";

/** A pod with a proxy. */
export interface MeshProxy {
  readonly cluster: string;
  readonly namespace: string;
  readonly pod: string;
  /** The Deployment. */
  readonly workload: string;
  readonly serviceAccount: string;
  readonly address: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Names a proxy among those of all clusters. */
export function proxyKey({ cluster, address }: Pick<MeshProxy, "cluster" | "address">): string {
  return `${cluster} ${address}`;
}

/** The pods of a cluster that run a proxy and are ready, in order of their names. */
export function proxiesIn(cluster: SimulatedCluster): readonly MeshProxy[] {
  return cluster.objects().flatMap((object) => (object.kind === "Pod" ? (proxyOf(object as PodObject, cluster.name) ?? []) : []));
}

type PodObject = AnyResource & {
  readonly spec?: {
    readonly serviceAccountName?: string;
    readonly containers?: readonly { readonly name?: string }[];
  };
  readonly status?: {
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type?: string; readonly status?: string }[];
  };
};

function proxyOf({ metadata, spec, status }: PodObject, cluster: string): MeshProxy | undefined {
  const { podIP, conditions = [] } = status ?? {};
  const isReady = conditions.some(({ type, status }) => type === "Ready" && status === "True");
  const hasProxy = (spec?.containers ?? []).some(({ name }) => name === "istio-proxy");
  if (podIP === undefined || !isReady || !hasProxy || metadata.deletionTimestamp !== undefined) return undefined;
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  return {
    cluster,
    namespace: metadata.namespace ?? "",
    pod: metadata.name,
    // A ReplicaSet is called after its Deployment, with a hash.
    workload: owner?.kind === "ReplicaSet" ? owner.name.slice(0, owner.name.lastIndexOf("-")) : (owner?.name ?? metadata.name),
    serviceAccount: spec?.serviceAccountName ?? "default",
    address: podIP,
    labels: metadata.labels ?? {},
  };
}
