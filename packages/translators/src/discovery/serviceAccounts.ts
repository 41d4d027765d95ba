import type { Pod, Workload } from "@isthmus/api";
import { intern } from "@isthmus/core";
import type { AddressGroup } from "./endpoints.ts";

/** What tells of the service accounts behind a Service. */
export interface AccountSources {
  /** The pods that it selects, whether they are ready or not. */
  readonly pods: readonly Pod[];
  /** The workloads that it selects, which say what comes next. */
  readonly workloads: readonly Workload[];
  /** Its ready addresses. */
  readonly addresses: readonly AddressGroup[];
}

/**
 * The service accounts of the pods of a Service, in order: those of its pods now and of the templates of its workloads, so that during a rollout
 * both are there. Undefined where that of a pod is not known, an address is of no known pod, or there are very many: a list that lacks one breaks
 * calls to it (docs/decisions/0165).
 */
export function serviceAccountsBehind({ pods, workloads, addresses }: AccountSources): readonly string[] | undefined {
  if (!areAllOf(pods, addresses)) return undefined;
  const accounts = new Set<string>();
  for (const pod of pods) {
    const account = serviceAccountOf(pod);
    if (account === undefined) return undefined;
    accounts.add(account);
  }
  // Kubernetes gives pods the default one where their template says none.
  for (const { spec } of workloads) accounts.add(spec?.kubernetes?.serviceAccountName || DEFAULT_ACCOUNT);
  return accounts.size > MOST_ACCOUNTS ? undefined : intern([...accounts].sort());
}

/** The service account of a pod. API servers give one to each but static pods, which have no identity. Source: Kubernetes, admission controller ServiceAccount. */
export function serviceAccountOf({ spec }: Pod): string | undefined {
  return spec?.serviceAccountName || undefined;
}

// Proxies compare the peer with each of them. More are nobody's workload.
const MOST_ACCOUNTS = 100;
const DEFAULT_ACCOUNT = "default";

function areAllOf(pods: readonly Pod[], addresses: readonly AddressGroup[]): boolean {
  if (addresses.length === 0) return true;
  const names = new Set(pods.map(({ metadata }) => metadata.name));
  return addresses.every((group) => group.addresses.every(({ podName }) => names.has(podName)));
}
