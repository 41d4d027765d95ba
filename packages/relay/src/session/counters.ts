import type { Metric, MetricLabels, MetricName } from "@isthmus/core";

/** Counters by name and labels, for the metrics page. */
export interface Counters {
  add(name: MetricName, labels?: MetricLabels, amount?: number): void;
  metrics(): readonly Metric[];
}

/** Starts with no counter: each exists, from 0, as soon as something is added to it. */
export function startCounters(): Counters {
  const counters = new Map<string, Metric>();
  return {
    add(name, labels = {}, amount = 1) {
      const key = `${name} ${JSON.stringify(labels)}`;
      counters.set(key, { name, labels, value: (counters.get(key)?.value ?? 0) + amount });
    },
    metrics: () => [...counters.values()],
  };
}
