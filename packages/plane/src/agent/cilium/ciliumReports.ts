import { type CiliumEndpoint, type CiliumNetworkPolicy, CiliumPolicyReport, type CiliumPolicyState, shortenedMessage } from "@isthmus/api";

/**
 * What is read back of each of these policies, all of one namespace, when `endpoints` are those of that namespace; undefined where they are
 * not known: then nothing is said of them. Costs the labels of the endpoints, however many policies there are.
 */
export function policyReports(
  policies: readonly CiliumNetworkPolicy[],
  endpoints: readonly CiliumEndpoint[] | undefined,
): readonly CiliumPolicyReport[] {
  const counts = endpoints === undefined ? undefined : countsOf(policies, endpoints);
  return policies.map((policy) => {
    const { name, namespace = "", clusterName = "" } = policy.metadata;
    const { apiVersion, kind } = CiliumPolicyReport;
    return { apiVersion, kind, metadata: { name, namespace, clusterName }, status: { ...validityOf(policy), ...counts?.get(policy) } };
  });
}

/** Cilium before 1.17 says nothing of a policy, and no version does before it has read it. */
function validityOf({ status }: CiliumNetworkPolicy): Pick<CiliumPolicyState, "valid" | "message"> {
  const condition = status?.conditions?.find(({ type }) => type === "Valid");
  if (condition?.status === "True") return { valid: true };
  return condition?.status === "False" ? { valid: false, message: shortenedMessage(condition.message ?? "") } : {};
}

type Counts = Required<Pick<CiliumPolicyState, "endpoints" | "enforcing">>;

/** Of each policy whose selector is such as we write them. */
function countsOf(policies: readonly CiliumNetworkPolicy[], endpoints: readonly CiliumEndpoint[]): ReadonlyMap<object, Counts> {
  const counts = new Map<object, { endpoints: number; enforcing: number }>();
  /** By the first of their labels: an endpoint has few. */
  const byLabel = new Map<string, { readonly policy: object; readonly labels: readonly string[] }[]>();
  for (const policy of policies) {
    const labels = selectedLabels(policy);
    const [first] = labels;
    if (first === undefined) continue;
    counts.set(policy, { endpoints: 0, enforcing: 0 });
    byLabel.set(first, [...(byLabel.get(first) ?? []), { policy, labels }]);
  }
  for (const { metadata, status } of endpoints) {
    // Cilium has endpoints of its own, which are no workloads.
    if (metadata.ownerReferences?.some(({ kind }) => kind === "Pod") !== true) continue;
    const own = new Set(status?.identity?.labels);
    for (const label of own) {
      for (const { policy, labels } of byLabel.get(label) ?? []) {
        const count = counts.get(policy);
        if (count === undefined || !labels.every((one) => own.has(one))) continue;
        count.endpoints++;
        if (status?.policy?.ingress?.enforcing === true) count.enforcing++;
      }
    }
  }
  return counts;
}

/** The labels that a policy selects pods by, as identities have them; none for a selector of another form. */
function selectedLabels({ spec }: CiliumNetworkPolicy): readonly string[] {
  const selector = membersOf(spec?.["endpointSelector"]);
  const labels = Object.entries(membersOf(selector["matchLabels"]));
  const isPlain = selector["matchExpressions"] === undefined && labels.every(([key]) => key.startsWith("k8s:"));
  return isPlain ? labels.map(([key, value]) => `${key}=${String(value)}`) : [];
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, unknown>>) : {};
}
