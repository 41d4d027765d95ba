import { METRICS, type Meter, type Metric, type MetricDefinition, type MetricName, type MetricSource } from "@isthmus/core";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

/** All metrics of one program, with those of Node itself: event loop, heap, garbage collection. */
export interface Metrics extends Meter {
  readonly contentType: string;
  /** The page in Prometheus' text format. */
  text(): Promise<string>;
}

export interface MetricsOptions {
  readonly source: MetricSource;
  /** Figures that are read when somebody asks, instead of being pushed as they arise. */
  readonly read: () => readonly Metric[];
}

/**
 * Registers the metrics that `source` serves (`METRICS`), and those of Node. `add` and `record` throw TypeError for a metric that is not
 * among them, or of another type.
 */
export function startMetrics({ source, read }: MetricsOptions): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const definitions = Object.entries<MetricDefinition>(METRICS).filter(([, { on }]) => on.includes(source));
  const instruments = new Map(definitions.map(([name, definition]) => [name, instrumentOf(name, definition, registry)] as const));

  /** Of what is read. */
  const names = new Set<MetricName>();

  function instrument<T>(name: MetricName, type: new (...args: never[]) => T): T {
    const found = instruments.get(name);
    if (!(found instanceof type)) throw new TypeError(`${name} is not a ${type.name} of the ${source}`);
    return found;
  }

  function takeReadings(): void {
    // What is not read any more, of a cluster that was forgotten, is gone from the page too.
    for (const name of names) instruments.get(name)?.reset();
    const readings = read();
    for (const { name } of readings) names.add(name);
    for (const { name, labels, value } of readings) {
      if (METRICS[name].type === "counter") instrument(name, Counter).inc(labels, value);
      else instrument(name, Gauge).set(labels, value);
    }
  }

  return {
    contentType: registry.contentType,
    async text() {
      takeReadings();
      return registry.metrics();
    },
    add: (name, labels = {}, amount = 1) => instrument(name, Counter).inc(labels, amount),
    record: (name, value, labels = {}) => instrument(name, Histogram).observe(labels, value),
  };
}

function instrumentOf(name: string, { type, help, labels, buckets }: MetricDefinition, registry: Registry): Counter | Gauge | Histogram {
  const common = { name, help, labelNames: [...labels], registers: [registry] };
  switch (type) {
    case "counter":
      return new Counter(common);
    case "gauge":
      return new Gauge(common);
    case "histogram":
      return new Histogram({ ...common, ...(buckets === undefined ? {} : { buckets: [...buckets] }) });
  }
}
