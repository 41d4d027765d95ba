import { abortedAfter, UsageError } from "@isthmus/core";
import type { ApiServer } from "@isthmus/kubernetes";
import { ClusterError } from "@isthmus/ports";
import type { NeededFoundations } from "../../cluster/install/installPlane.ts";
import { withRemedy } from "../../cluster/managementCluster.ts";
import { INSTALLING, INSTALLING_ACCOUNT, type NeededPermission, REGISTERING_CLUSTER } from "./permissions.ts";
import { problemsOf } from "./planePrecheck.ts";

/** One of the two clusters; undefined `api`: it is not asked. */
export interface PrecheckTarget {
  readonly api: ApiServer | undefined;
  /** As messages call the cluster. */
  readonly called: string;
  readonly namespace: string;
}

/** The clusters that a registration writes to. */
export interface RegistrationTargets {
  readonly remote: PrecheckTarget;
  readonly management: PrecheckTarget;
}

/** What keeps a cluster from being registered with an agent: an old Kubernetes, or rights that a user lacks. None when all is well. */
export async function registrationProblems(targets: RegistrationTargets, needs: NeededFoundations): Promise<readonly string[]> {
  const isNeeded = ({ resource }: NeededPermission): boolean =>
    (resource !== "namespaces" || needs.namespace) && (resource !== "customresourcedefinitions" || needs.definitions);
  return problemsIn(targets, INSTALLING.filter(isNeeded));
}

/** The same for a registration without an agent. */
export async function standardRegistrationProblems(targets: RegistrationTargets): Promise<readonly string[]> {
  return problemsIn(targets, INSTALLING_ACCOUNT);
}

async function problemsIn({ remote, management }: RegistrationTargets, needed: readonly NeededPermission[]): Promise<readonly string[]> {
  return [...(await problemsAt(remote, needed)), ...(await problemsAt(management, REGISTERING_CLUSTER))];
}

async function problemsAt({ api, called, namespace }: PrecheckTarget, needed: readonly NeededPermission[]): Promise<readonly string[]> {
  if (api === undefined) return [];
  try {
    const problems = await problemsOf(api, { namespace, needed }, abortedAfter(LONGEST_MS));
    return problems.map((problem) => `${called}: ${problem}`);
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error;
    throw new UsageError(`${called}: ${withRemedy(error)}`);
  }
}

/** Each request is short. */
const LONGEST_MS = 30_000;
