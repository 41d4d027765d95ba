import type { TrafficPolicy } from "@isthmus/api";
import { CATEGORIES, type Check, type CheckFinding, subjectName } from "./check.ts";

const category = CATEGORIES.configuration;

/** Where traffic goes. */
export const trafficHasDestinations: Check = {
  category,
  description: "No TrafficPolicy sends most of its traffic to clusters that are not connected",
  reads: ["trafficPolicies", "clusters"],
  findings: ({ trafficPolicies, clusters }) => {
    const away = new Map(
      clusters.flatMap(({ metadata, status }) => (AWAY.has(status?.state ?? "") ? [[metadata.name, status?.state]] : [])),
    );
    return trafficPolicies.flatMap((policy): readonly CheckFinding[] => {
      const shares = sharesOf(policy).filter(({ cluster }) => away.has(cluster));
      const share = shares.reduce((sum, one) => sum + one.share, 0);
      if (share <= 0.5) return [];
      const names = [...new Set(shares.map(({ cluster }) => cluster))].map((cluster) => `${cluster}, which is ${away.get(cluster)}`);
      const message = `${subjectName(policy)}: ${Math.round(share * 100)} % of its traffic goes to cluster ${names.join("; ")}: to the endpoints that were known last`;
      const remedy = `meshctl cluster diagnose ${shares[0]?.cluster}; to shift the traffic: kubectl -n ${policy.metadata.namespace} edit trafficpolicy ${policy.metadata.name}`;
      return [{ code: "RTE1018", severity: "error", message, remedy }];
    });
  },
};

/** As REL1001 has them, but for those in which nothing has ever been. */
const AWAY: ReadonlySet<string> = new Set(["OFFLINE", "UNREACHABLE", "REVOKED"]);

/** The shares of the traffic of a policy that is in force, by cluster. A single destination gets all, whatever its weight. */
function sharesOf({ spec, status }: TrafficPolicy): readonly { readonly cluster: string; readonly share: number }[] {
  if (status?.state !== "ACCEPTED") return [];
  const destinations = spec?.policy?.trafficShift?.destinations ?? [];
  const total = destinations.reduce((sum, { weight = 0 }) => sum + weight, 0);
  return destinations.flatMap(({ weight = 0, kubeService }) => {
    const share = destinations.length === 1 ? 1 : total === 0 ? 0 : weight / total;
    return kubeService?.clusterName === undefined ? [] : [{ cluster: kubeService.clusterName, share }];
  });
}

/** Faults are for tests. */
export const faultsAreShort: Check = {
  category,
  description: "No TrafficPolicy that injects faults is older than a day",
  reads: ["trafficPolicies"],
  findings: ({ trafficPolicies, now }) =>
    trafficPolicies.flatMap((policy): readonly CheckFinding[] => {
      const { spec, status, metadata } = policy;
      const age = now - Date.parse(metadata.creationTimestamp ?? "");
      if (spec?.policy?.faultInjection === undefined || status?.state !== "ACCEPTED" || !(age > DAY_MS)) return [];
      const { percentage = 100 } = spec.policy.faultInjection;
      const message = `${subjectName(policy)}: injects faults into ${percentage} % of its requests, and is ${Math.floor(age / DAY_MS)} d old`;
      return [
        { code: "RTE1014", severity: "info", message, remedy: `kubectl -n ${metadata.namespace} delete trafficpolicy ${metadata.name}` },
      ];
    }),
};

const DAY_MS = 24 * 3_600_000;
