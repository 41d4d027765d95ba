import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ApiServer } from "./apiServer.ts";
import type { Components } from "./components.ts";

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
function helm(
  { components, server }: { readonly components: Components; readonly server?: ApiServer },
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
function chartFolder(chart: ChartName): string {
  return `${CHARTS}/${chart}`;
}

export interface RenderOptions {
  readonly components: Components;
  readonly chart: ChartName;
  readonly values?: ChartValues;
  readonly namespace?: string;
  /** Takes values that the schema would refuse, such as placeholders. */
  readonly skipsSchema?: boolean;
}

/** What `helm template` prints. */
export function renderChart({
  components,
  chart,
  values = {},
  namespace = "gloo-mesh",
  skipsSchema = false,
}: RenderOptions): Promise<HelmAnswer> {
  const args = ["template", chart, chartFolder(chart), `--namespace=${namespace}`, "--kube-version=1.28.0"];
  return helm({ components }, [...args, ...(skipsSchema ? ["--skip-schema-validation"] : [])], values);
}
