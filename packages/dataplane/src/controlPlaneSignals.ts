import type { MetricSample } from "./exposition.ts";

/** What istiod counts, in the order of `ControlPlaneCounts.counts`. Source: istio.io/docs/reference/commands/pilot-discovery, exported metrics. */
export const CONTROL_PLANE_COUNTERS = ["pushes", "rejects", "errors", "convergences", "convergenceSeconds"] as const;

const COUNTED: ReadonlyMap<string, (typeof CONTROL_PLANE_COUNTERS)[number]> = new Map([
  ["pilot_xds_pushes", "pushes"],
  ["pilot_total_xds_rejects", "rejects"],
  ["pilot_total_xds_internal_errors", "errors"],
  ["pilot_proxy_convergence_time_count", "convergences"],
  ["pilot_proxy_convergence_time_sum", "convergenceSeconds"],
]);
const PROXIES = "pilot_xds";

/** The metrics that `controlPlaneSignals` reads. */
export const CONTROL_PLANE_METRICS: ReadonlySet<string> = new Set([PROXIES, ...COUNTED.keys()]);

/** Numbers of one replica of a control plane since it started, and how many proxies are connected to it now. */
export interface ControlPlaneCounts {
  readonly proxies: number;
  readonly counts: Float64Array;
}

/** Sums what a control plane exposes over all labels. */
export function controlPlaneSignals(): { take(sample: MetricSample): void; counts(): ControlPlaneCounts } {
  const counts = new Float64Array(CONTROL_PLANE_COUNTERS.length);
  let proxies = 0;
  return {
    take({ name, value }) {
      if (!(value >= 0 && value <= Number.MAX_SAFE_INTEGER)) return;
      if (name === PROXIES) proxies += value;
      const counter = COUNTED.get(name);
      if (counter === undefined) return;
      const at = CONTROL_PLANE_COUNTERS.indexOf(counter);
      counts[at] = (counts[at] ?? 0) + value;
    },
    counts: () => ({ proxies, counts }),
  };
}
