import type { AccessPolicy, Pod, Workload } from "@isthmus/api";
import { displayName, nearestName } from "@isthmus/core";
import { istioSidecar } from "@isthmus/translators";
import { groupsBy } from "../groupsBy.ts";

/** As whom workloads in a mesh call others. */
export interface Caller {
  readonly name: string;
  readonly namespace: string;
  readonly clusterName: string;
}

/** All callers, in what they are looked up by. */
export interface KnownCallers {
  readonly byAccount: ReadonlyMap<string, readonly Caller[]>;
  readonly byNamespace: ReadonlyMap<string, readonly Caller[]>;
  readonly clusters: ReadonlySet<string>;
}

/**
 * As whom the Workloads act: their service account, or `default` where their pods name none. Workloads without a controller are left out. Where some are
 * known, pods with a sidecar that belong to none, as those of Jobs do, act as well.
 */
export function knownCallers(workloads: readonly Workload[], pods: readonly Pod[] = []): KnownCallers {
  const ofWorkloads = workloads.flatMap(({ spec }): readonly Caller[] => {
    const { controller, serviceAccountName } = spec?.kubernetes ?? {};
    const { namespace = "", clusterName = "" } = controller ?? {};
    return controller === undefined ? [] : [{ name: serviceAccountName || "default", namespace, clusterName }];
  });
  const clusters = new Set(ofWorkloads.map(({ clusterName }) => clusterName));
  const ofPods = pods.flatMap((pod): readonly Caller[] => {
    const { namespace = "", clusterName = "" } = pod.metadata;
    if (!clusters.has(clusterName) || !istioSidecar.isInjected(pod)) return [];
    return [{ name: pod.spec?.serviceAccountName || "default", namespace, clusterName }];
  });
  const callers = [...ofWorkloads, ...ofPods];
  return {
    byAccount: groupsBy(callers, ({ name }) => name),
    byNamespace: groupsBy(callers, ({ namespace }) => namespace),
    clusters,
  };
}

/** A name in a policy that nothing known has. */
export interface UnknownName {
  /** The field. */
  readonly path: string;
  readonly problem: string;
  readonly remedy: string;
}

/** Service accounts that no workload of their cluster runs as; none where no workloads are known. */
export function unknownAccounts({ spec }: AccessPolicy, { byAccount, clusters }: KnownCallers): readonly UnknownName[] {
  return (spec?.sourceSelector ?? []).flatMap(({ kubeServiceAccountRefs }, i) =>
    (kubeServiceAccountRefs?.serviceAccounts ?? []).flatMap(({ name = "", namespace = "", clusterName = "" }, j) => {
      const isNear = (caller: Caller) =>
        (namespace === "" || caller.namespace === namespace) && (clusterName === "" || caller.clusterName === clusterName);
      if (name === "" || clusters.size === 0 || byAccount.get(name)?.some(isNear) === true) return [];
      const near = [...byAccount].flatMap(([account, callers]) => (callers.some(isNear) ? [account] : []));
      const hint = nearestName(name, near);
      return {
        path: `spec.sourceSelector[${i}].kubeServiceAccountRefs.serviceAccounts[${j}]`,
        problem: `no workload in a mesh runs as service account ${displayName({ name, namespace, clusterName })}`,
        remedy: hint === undefined ? `check name, namespace and clusterName${knownText(near)}` : `did you mean ${hint}?`,
      };
    }),
  );
}

/** A guess would be copied: whom there is says more. */
function knownText(names: readonly string[]): string {
  if (names.length === 0) return "";
  return `; workloads there run as ${[...names].sort().slice(0, MOST_NAMES).join(", ")}${names.length > MOST_NAMES ? ", …" : ""}`;
}

const MOST_NAMES = 10;

/** Namespaces of callers in which no workload is in a mesh; none where no workloads are known. */
export function unknownNamespaces({ spec }: AccessPolicy, { byNamespace, clusters: known }: KnownCallers): readonly UnknownName[] {
  return (spec?.sourceSelector ?? []).flatMap(({ kubeIdentityMatcher }, i) => {
    const { namespaces = [], clusters = [] } = kubeIdentityMatcher ?? {};
    const isNear = ({ clusterName }: Caller) => clusters.length === 0 || clusters.includes(clusterName);
    return namespaces.flatMap((namespace, j) => {
      if (known.size === 0 || byNamespace.get(namespace)?.some(isNear) === true) return [];
      const near = [...byNamespace].flatMap(([other, callers]) => (callers.some(isNear) ? [other] : []));
      const hint = nearestName(namespace, near);
      const place = clusters.length === 0 ? "" : ` of ${clusters.join(", ")}`;
      return {
        path: `spec.sourceSelector[${i}].kubeIdentityMatcher.namespaces[${j}]`,
        problem: `no workload in a mesh is in namespace ${namespace}${place}`,
        remedy: hint === undefined ? "check the name, and the clusters beside it" : `did you mean ${hint}?`,
      };
    });
  });
}
