import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { METRICS, type MetricDefinition, type MetricSource } from "@isthmus/core";
import { parser } from "@prometheus-io/lezer-promql";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

const CHARTS = fileURLToPath(new URL("../deploy/helm", import.meta.url));
const REFERENCE = fileURLToPath(new URL("../docs/reference/metrics.md", import.meta.url));
// What expressions of ours use beside metrics and their labels.
const WORDS = new Set(["max", "min", "sum", "by", "on", "and", "rate", "increase", "absent", "histogram_quantile", "le", "instance", "m"]);
/** Those of Node, without labels of ours; by the reference, which is generated from what a program exposes. */
const NODE_METRICS = new Set(
  [...readFileSync(REFERENCE, "utf8").matchAll(/^\| `((?:nodejs|process)_\w+)`/gm)].map(([, name = ""]) => name),
);

interface Expression {
  readonly expr: string;
  /** The text that shows its result. */
  readonly shown: string;
}

interface AlertGroup {
  readonly rules: readonly {
    readonly alert: string;
    readonly expr: string;
    readonly labels: { readonly severity: string };
    readonly annotations: { readonly summary: string; readonly description: string };
  }[];
}

interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[] }[];
}

function alertsOf(chart: string): readonly AlertGroup["rules"][number][] {
  return (parse(readFileSync(join(CHARTS, chart, "files/alerts.yaml"), "utf8")) as readonly AlertGroup[]).flatMap(({ rules }) => rules);
}

function dashboardExpressions(): readonly Expression[] {
  const text = readFileSync(join(CHARTS, "gloo-mesh-mgmt-server/files/dashboard.json"), "utf8");
  return (JSON.parse(text) as Dashboard).panels.flatMap(({ targets }) =>
    targets.map(({ expr, legendFormat }) => ({ expr, shown: legendFormat })),
  );
}

/** What is wrong with an expression of a program: names that are neither metrics of it nor their labels. */
function problemsOf({ expr, shown }: Expression, source: MetricSource): readonly string[] {
  const definitions: Readonly<Record<string, MetricDefinition>> = METRICS;
  const words = [...(expr.match(/[a-z_]\w*/gi) ?? [])].filter((word) => !WORDS.has(word));
  const labels = new Set<string>(["instance"]);
  const rest: string[] = [];
  let metrics = 0;
  for (const word of words) {
    const definition = definitions[word.replace(/_(bucket|sum|count)$/, "")];
    const isHistogram = /_(bucket|sum|count)$/.test(word) && definitions[word] === undefined;
    if (NODE_METRICS.has(word)) metrics++;
    else if (definition?.on.includes(source) && isHistogram === (definition.type === "histogram")) {
      metrics++;
      for (const label of definition.labels) labels.add(label);
    } else rest.push(word);
  }
  const used = [...rest, ...[...shown.matchAll(/\{\{ ?(?:\$labels\.)?(\w+) ?\}\}/g)].map(([, label = ""]) => label)];
  const unknown = used
    .filter((word) => !labels.has(word))
    .map((word) => `${expr}: ${word} is neither a metric of the ${source} nor a label of it`);
  return metrics === 0 ? [`${expr}: no metric`] : unknown;
}

/** Where an expression is not PromQL, by Prometheus' own grammar. */
function syntaxProblems(expr: string): readonly string[] {
  const problems: string[] = [];
  parser.parse(expr).iterate({
    enter({ type, from, to }) {
      if (type.isError) problems.push(`${expr}: not PromQL at ${from}: ${JSON.stringify(expr.slice(from, to + 10))}`);
    },
  });
  return problems;
}

it("each expression of alerts and dashboard is PromQL", () => {
  const all = [...["gloo-mesh-mgmt-server", "gloo-mesh-agent"].flatMap(alertsOf), ...dashboardExpressions()].map(({ expr }) => expr);
  expect(all.length).toBeGreaterThan(20);
  expect(all.flatMap(syntaxProblems)).toEqual([]);
  for (const broken of ["rate(up[5m]", "sum by (cluster (up)", "up ==", "up[5m"]) expect(syntaxProblems(broken)).not.toEqual([]);
});

describe.each([
  ["gloo-mesh-mgmt-server", "server"],
  ["gloo-mesh-agent", "agent"],
] as const)("alerts of %s", (chart, source) => {
  it("are about metrics that the program exposes, and have what an operator needs", () => {
    const alerts = alertsOf(chart);
    expect(alerts.length).toBeGreaterThan(3);
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
    for (const { expr, labels, annotations } of alerts) {
      expect(problemsOf({ expr, shown: annotations.summary }, source)).toEqual([]);
      expect(["critical", "warning", "info"]).toContain(labels.severity);
      expect(annotations.description).toMatch(/\.$/);
    }
  });
});

it("the dashboard shows metrics that the server exposes", () => {
  const expressions = dashboardExpressions();
  expect(expressions.length).toBeGreaterThan(16);
  expect(expressions.flatMap((expression) => problemsOf(expression, "server"))).toEqual([]);
});

it.each([
  ["a metric that nobody exposes", { expr: "gloo_mesh_nothing > 0", shown: "" }],
  ["a metric of the other program", { expr: "max(relay_agent_connected)", shown: "" }],
  ["a gauge as a histogram", { expr: "rate(gloo_mesh_outputs_bucket[5m])", shown: "" }],
  ["a histogram as a gauge", { expr: "max(gloo_mesh_translation_time_sec)", shown: "" }],
  ["a label that a metric does not have", { expr: "max by (cluster) (gloo_mesh_outputs)", shown: "" }],
  ["a label that is only shown", { expr: "max(gloo_mesh_outputs)", shown: "{{cluster}}" }],
])("%s is found", (_, expression) => {
  expect(problemsOf(expression, "server")).not.toEqual([]);
});
