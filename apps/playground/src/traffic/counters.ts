/** Who called what, in the labels of Istio's metrics. Source: istio.io/docs/reference/config/metrics. */
export interface CountedLabels {
  readonly reporter: "source" | "destination";
  readonly source_workload: string;
  readonly source_workload_namespace: string;
  readonly source_cluster: string;
  readonly destination_service_name: string;
  readonly destination_service_namespace: string;
  readonly destination_workload: string;
  readonly destination_workload_namespace: string;
  readonly destination_cluster: string;
  readonly response_code: string;
  readonly response_flags: string;
}

/** One request, as a proxy counts it. */
export interface Counted {
  readonly ms: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
}

/** What one proxy has counted since it started. */
export interface ProxyCounters {
  count(labels: CountedLabels, counted: Counted): void;
  /** In Prometheus' text format. */
  text(): string;
}

interface Series {
  readonly labels: string;
  requests: number;
  /** Not cumulative. */
  readonly buckets: number[];
  ms: number;
  requestBytes: number;
  responseBytes: number;
}

/** Has counted nothing. */
export function proxyCounters(): ProxyCounters {
  const all = new Map<string, Series>();
  return {
    count(labels, { ms, requestBytes, responseBytes }) {
      const key = labelText(labels);
      const series = all.get(key) ?? { labels: key, requests: 0, buckets: BOUNDS.map(() => 0), ms: 0, requestBytes: 0, responseBytes: 0 };
      all.set(key, series);
      series.requests++;
      const at = BOUNDS.findIndex((bound) => ms <= bound);
      if (at >= 0) series.buckets[at] = (series.buckets[at] ?? 0) + 1;
      series.ms += ms;
      series.requestBytes += requestBytes;
      series.responseBytes += responseBytes;
    },
    text: () => [...all.values()].map(seriesText).join(""),
  };
}

function seriesText({ labels, requests, buckets, ms, requestBytes, responseBytes }: Series): string {
  const duration = "istio_request_duration_milliseconds";
  let below = 0;
  const lines = BOUNDS.map((bound, at) => {
    below += buckets[at] ?? 0;
    return `${duration}_bucket{${labels},le="${bound}"} ${below}`;
  });
  return [
    `istio_requests_total{${labels}} ${requests}`,
    ...lines,
    `${duration}_bucket{${labels},le="+Inf"} ${requests}`,
    `${duration}_sum{${labels}} ${ms.toFixed(3)}`,
    `${duration}_count{${labels}} ${requests}`,
    `istio_request_bytes_sum{${labels}} ${requestBytes}`,
    `istio_response_bytes_sum{${labels}} ${responseBytes}`,
    "",
  ].join("\n");
}

function labelText(labels: CountedLabels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${value}"`)
    .join(",");
}

// Source: Envoy, `PrometheusStatsFormatter` (default histogram buckets), in milliseconds.
const BOUNDS = [0.5, 1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000] as const;
