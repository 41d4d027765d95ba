import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type AnyResource, type JsonObject, UsageError } from "@isthmus/core";
import { parseAllDocuments } from "yaml";
import { inApplyOrder } from "../renderedObjects.ts";
import type { RunHelm } from "./runHelm.ts";

/** Values of a chart that a user gives, as Helm takes them. */
export interface ChartValues {
  /** Paths of files, or `-` for the standard input; a later one wins. */
  readonly files: readonly string[];
  /** `key=value`; these win over files. */
  readonly sets: readonly string[];
}

/** What is rendered. */
export interface ChartRendering {
  readonly chart: "gloo-mesh-agent" | "gloo-mesh-mgmt-server";
  readonly namespace: string;
  readonly values: ChartValues;
  /** What meshctl itself sets; the values of the user win, so that the caller sees a contradiction. */
  readonly own: JsonObject;
  readonly runHelm: RunHelm;
}

/**
 * Renders a chart that is part of meshctl with values of a user, by the Helm of the user's machine. Gives its objects in the order in which they are
 * applied. Throws UsageError with what Helm says.
 */
export async function renderChart({ chart, namespace, values, own, runHelm }: ChartRendering): Promise<readonly AnyResource[]> {
  const folder = await mkdtemp(join(tmpdir(), "meshctl-chart-"));
  try {
    const ownValues = join(folder, "own.json");
    await writeFile(ownValues, JSON.stringify(own));
    for (const [path, text] of Object.entries(await filesOf(chart))) {
      const file = join(folder, chart, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    const files = [ownValues, ...values.files].flatMap((file) => ["--values", file]);
    const sets = values.sets.flatMap((set) => ["--set", set]);
    const { code, stdout, stderr } = await runHelm([
      "template",
      chart,
      join(folder, chart),
      "--skip-tests",
      // What Helm assumes of a cluster that it does not ask depends on how it was built; what a cluster does not serve is left out when it is applied.
      `--api-versions=${ADMISSION_POLICIES}`,
      "--namespace",
      namespace,
      ...files,
      ...sets,
    ]);
    if (code !== 0) throw new UsageError(`Helm refuses these values: ${reasonIn(stderr)}: correct --values or --set`);
    return inApplyOrder(objectsIn(stdout));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Which the charts have where they are served. */
const ADMISSION_POLICIES = "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy";

/** Apart from the command, so that only who gives values reads them. */
async function filesOf(chart: ChartRendering["chart"]): Promise<Readonly<Record<string, string>>> {
  const { default: files } =
    chart === "gloo-mesh-agent" ? await import("../../gen/agentChart.json") : await import("../../gen/serverChart.json");
  return files;
}

/** Without the lines in which Helm advises to look for the cause. */
function reasonIn(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "" && !/^(WARNING|Use --debug|coalesce\.go)/i.test(line));
  const text = lines
    .join(" ")
    .replace(/^Error: (execution error at \([^)]*\): )?/, "")
    .replace(/\s+/g, " ")
    .trim();
  return text.length > MOST_REASON ? `${text.slice(0, MOST_REASON)}…` : text;
}

const MOST_REASON = 500;

function objectsIn(text: string): readonly AnyResource[] {
  return parseAllDocuments(text).flatMap((document) => {
    const object: unknown = document.toJS();
    if (object === null || object === undefined) return [];
    const { apiVersion, kind, metadata } = object as Partial<AnyResource>;
    if (typeof apiVersion !== "string" || typeof kind !== "string" || typeof metadata?.name !== "string")
      throw new UsageError("with these values the chart renders something that is no Kubernetes object: correct --values or --set");
    return [object as AnyResource];
  });
}
