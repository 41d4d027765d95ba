import { execFile } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AnyResource } from "@isthmus/core";
import type { ApiServer } from "./apiServer.ts";
import type { Components } from "./components.ts";
import { objectsIn } from "./manifests.ts";

const CHARTS = fileURLToPath(new URL("../../../deploy/helm", import.meta.url));

/** The charts that are delivered. */
export type ChartName = "gloo-mesh-crds" | "gloo-mesh-mgmt-server" | "gloo-mesh-agent";

export interface HelmAnswer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Values as a values file would have them. */
export type ChartValues = Readonly<Record<string, unknown>>;

/** Runs Helm as an operator would; with `server` as the administrator of that cluster. Values go to its standard input. */
export function helm(
  { components, server }: { readonly components: Components; readonly server?: Pick<ApiServer, "kubeconfig"> },
  args: readonly string[],
  values?: ChartValues,
): Promise<HelmAnswer> {
  const at = server === undefined ? [] : [`--kubeconfig=${server.kubeconfig}`];
  const given = values === undefined ? [] : ["--values=-"];
  return new Promise((resolve) => {
    const child = execFile(
      components.helm,
      [...args, ...at, ...given],
      // Nothing of the machine's own Helm: no repositories, no plugins.
      { env: { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", HELM_DRIVER: "secret" }, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
    );
    child.stdin?.end(values === undefined ? "" : JSON.stringify(values));
  });
}

/** Folder of a chart. */
export function chartFolder(chart: ChartName): string {
  return `${CHARTS}/${chart}`;
}

/** A copy of a chart for an API server that was built from its module: it calls itself v0.0.0, which is older than the chart demands. */
export function chartForAnyVersion(chart: ChartName, directory: string): string {
  const folder = join(directory, chart);
  cpSync(chartFolder(chart), folder, { recursive: true });
  const file = join(folder, "Chart.yaml");
  const text = readFileSync(file, "utf8");
  const without = text.replace(/^kubeVersion: .*\n/m, "");
  if (without === text) throw new Error(`${file} demands no version of Kubernetes`);
  writeFileSync(file, without);
  return folder;
}

export interface RenderOptions {
  readonly components: Components;
  readonly chart: ChartName;
  readonly values?: ChartValues;
  readonly namespace?: string;
  /** Of the cluster. Default: the oldest that the charts support. */
  readonly kubeVersion?: string;
  /** Takes values that the schema would refuse, such as placeholders. */
  readonly skipsSchema?: boolean;
}

/** What `helm template` prints. */
export function renderChart({
  components,
  chart,
  values = {},
  namespace = "gloo-mesh",
  kubeVersion = "1.28.0",
  skipsSchema = false,
}: RenderOptions): Promise<HelmAnswer> {
  // What `helm test` makes is not part of an installation.
  const args = ["template", chart, chartFolder(chart), "--skip-tests", `--namespace=${namespace}`, `--kube-version=${kubeVersion}`];
  return helm({ components }, [...args, ...(skipsSchema ? ["--skip-schema-validation"] : [])], values);
}

/** The objects of a chart with these values. Rejects with what Helm says against them. */
export async function renderedObjects(options: RenderOptions): Promise<readonly AnyResource[]> {
  const { code, stdout, stderr } = await renderChart(options);
  if (code !== 0) throw new Error(`helm template ${options.chart}: ${stderr}`);
  return objectsIn(stdout);
}
