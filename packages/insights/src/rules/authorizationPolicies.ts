import { AuthorizationPolicy, Mesh, rootNamespaceOf, Workload } from "@isthmus/api";
import { type Index, matchesLabels, nearestName } from "@isthmus/core";
import { inputKind, join } from "@isthmus/translators/incremental";
import { defineRule, type InsightTables, type Lookup, lookUp, type RuleFinding } from "../rule.ts";
import { accountsBy, byAnyNamespace, byMeshCluster, byObjectCluster, byWorkloadCluster, byWorkloadPlace, placeKey } from "./places.ts";

const ownPlace: Index<AuthorizationPolicy> = (policy) => (policy.spec?.selector === undefined ? [] : [placeKey(policy)]);
const byRootPlace: Index<Mesh> = (mesh) => byMeshCluster(mesh).map((cluster) => `${rootNamespaceOf(mesh)}/${cluster}`);

/** All workloads of a cluster, for policies in a root namespace there: those are for pods of all namespaces. */
const workloadsEverywhere: Lookup<AuthorizationPolicy, Workload> = {
  kind: Workload,
  through: [Mesh],
  joinFrom: (from) => {
    const rooted = join({ from, to: inputKind<InsightTables, Mesh>(Mesh), key: ownPlace, index: byRootPlace });
    return join({ from: rooted.source, to: inputKind<InsightTables, Workload>(Workload), key: byMeshCluster, index: byWorkloadCluster });
  },
};

/** SEC1004 of Istio objects of users. */
export const authorizationSelectsNothing = defineRule({
  code: "SEC1004",
  of: AuthorizationPolicy,
  reads: {
    workloads: lookUp(Workload, { key: ownPlace, index: byWorkloadPlace }),
    everywhere: workloadsEverywhere,
    rooted: lookUp(Mesh, { key: ownPlace, index: byRootPlace }),
  },
  *find(policy, { lookup }) {
    const { matchLabels = {} } = policy.spec?.selector ?? {};
    const isRooted = lookup("rooted").length > 0;
    const workloads = isRooted ? lookup("everywhere") : lookup("workloads");
    // Where no workload is known, none is missing.
    if (Object.keys(matchLabels).length === 0 || workloads.length === 0) return;
    if (workloads.some(({ spec }) => matchesLabels(matchLabels, spec?.kubernetes?.podLabels))) return;
    const labels = Object.entries(matchLabels).map(([key, value]) => `${key}: ${value}`);
    const values = workloads.flatMap(({ spec }) =>
      Object.entries(spec?.kubernetes?.podLabels ?? {}).map(([key, value]) => `${key}: ${value}`),
    );
    const where = isRooted ? "the mesh" : `namespace ${policy.metadata.namespace}`;
    yield {
      field: "spec.selector.matchLabels",
      message: `no workload of ${where} has pods with ${labels.join(", ")}, so the policy applies to nothing`,
      remedy: "correct the labels",
      nearMiss: nearestName(labels[0] ?? "", new Set(values)),
    };
  },
});

/** A caller: by its service account, or by its namespace alone. */
interface Caller {
  readonly path: string;
  /** Undefined where the trust domain is not said: then it is the mesh's own. */
  readonly trustDomain: string | undefined;
  readonly namespace: string;
  readonly account: string | undefined;
}

/** `cluster.local/ns/bookinfo/sa/reviews`; what has wildcards names nobody. */
function callerOf(path: string, principal: string): readonly Caller[] {
  const [trustDomain = "", ns, namespace = "", sa, account = ""] = principal.split("/", 6);
  return ns === "ns" && sa === "sa" && namespace !== "" && !principal.includes("*") ? [{ path, trustDomain, namespace, account }] : [];
}

function callersOf({ spec }: AuthorizationPolicy): readonly Caller[] {
  return (spec?.rules ?? []).flatMap(({ from = [] }, i) =>
    from.flatMap(({ source }, j) => {
      const path = `spec.rules[${i}].from[${j}].source`;
      const namespaces = (source?.namespaces ?? []).map((namespace, k): Caller => {
        return { path: `${path}.namespaces[${k}]`, trustDomain: undefined, namespace, account: undefined };
      });
      const principals = (source?.principals ?? []).flatMap((principal, k) => callerOf(`${path}.principals[${k}]`, principal));
      return [...principals, ...namespaces.filter(({ namespace }) => !namespace.includes("*"))];
    }),
  );
}

// Istio reads it as the trust domain of the mesh, whatever that is. Source: istio.io/docs/reference/config/security/authorization-policy.
const OWN_DOMAIN = "cluster.local";

const callerNamespaces: Index<AuthorizationPolicy> = (policy) => [...new Set(callersOf(policy).map(({ namespace }) => namespace))];
const callerDomains: Index<AuthorizationPolicy> = (policy) => [
  ...new Set(callersOf(policy).flatMap(({ trustDomain }) => trustDomain ?? [])),
];
const byTrustDomain: Index<Mesh> = ({ spec }) => (spec?.istio === undefined ? [] : [spec.istio.trustDomain || OWN_DOMAIN]);
const clusterOfCallers: Index<AuthorizationPolicy> = (policy) => (callersOf(policy).length === 0 ? [] : byObjectCluster(policy));

const reads = {
  named: lookUp(Workload, { key: callerNamespaces, index: byAnyNamespace }),
  meshes: lookUp(Mesh, { key: callerDomains, index: byTrustDomain }),
};

/** Callers whose trust domain is of the fleet: of others nothing is known. */
function knownCallers(policy: AuthorizationPolicy, meshes: readonly Mesh[]): readonly Caller[] {
  const domains = new Set([OWN_DOMAIN, ...meshes.flatMap(byTrustDomain)]);
  return callersOf(policy).filter(({ trustDomain }) => trustDomain === undefined || domains.has(trustDomain));
}

/** SEC1005 of Istio objects of users. */
export const principalUnknown = defineRule({
  code: "SEC1005",
  of: AuthorizationPolicy,
  reads,
  find(policy, { lookup }) {
    const known = accountsBy(lookup("named"), ({ namespace = "" }) => namespace);
    return knownCallers(policy, lookup("meshes")).flatMap(({ path, namespace, account }): readonly RuleFinding[] => {
      const accounts = known.get(namespace);
      // A namespace without workloads is SEC1007, and may be unknown.
      if (account === undefined || accounts === undefined || accounts.has(account)) return [];
      // Jobs have accounts too, and no pods most of the time, and agents send no CronJobs: only what looks like a mistake is reported.
      const nearMiss = nearestName(account, accounts);
      const message = `no workload runs as service account ${namespace}/${account}`;
      return nearMiss === undefined ? [] : [{ field: path, message, remedy: "correct the service account", nearMiss }];
    });
  },
});

/** SEC1007 of Istio objects of users. */
export const sourceNamespaceEmpty = defineRule({
  code: "SEC1007",
  of: AuthorizationPolicy,
  reads: { ...reads, own: lookUp(Workload, { key: clusterOfCallers, index: byWorkloadCluster }) },
  find: (policy, { lookup }) => {
    const own = new Set(lookup("own").flatMap(({ spec }) => spec?.kubernetes?.controller?.namespace ?? []));
    if (own.size === 0) return [];
    const known = accountsBy(lookup("named"), ({ namespace = "" }) => namespace);
    return knownCallers(policy, lookup("meshes")).flatMap(({ path, namespace }): readonly RuleFinding[] => {
      if (known.has(namespace)) return [];
      const nearMiss = nearestName(namespace, own);
      return [{ field: path, message: `no workload in a mesh is in namespace ${namespace}`, remedy: "correct the namespace", nearMiss }];
    });
  },
});
