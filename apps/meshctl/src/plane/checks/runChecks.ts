import type { Cluster } from "@isthmus/plane/ports";
import type { Check } from "./check.ts";
import { CHECKS } from "./checks.ts";
import { type PlaneState, readPlaneState } from "./planeState.ts";
import type { CheckResult } from "./report.ts";

/** Makes all checks of the management plane. Throws ClusterError when the API server does not answer. */
export async function runChecks(
  cluster: Cluster,
  place: Pick<PlaneState, "namespace" | "now">,
  signal: AbortSignal,
): Promise<readonly CheckResult[]> {
  const { state, unread } = await readPlaneState(cluster, place, signal);
  return CHECKS.map((check) => resultOf(check, state, unread));
}

/** What a check says of a state of which parts may be missing. */
export function resultOf<State>(
  { category, description, reads, findings }: Check<State>,
  state: State,
  unread: ReadonlyMap<string, string>,
): CheckResult {
  const missing = reads.flatMap((name) => unread.get(name) ?? []);
  if (missing.length > 0) return { category, description, findings: [], unread: [...new Set(missing)].join("; ") };
  return { category, description, findings: findings(state) };
}
