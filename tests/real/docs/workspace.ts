import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ApiServer } from "../harness/apiServer.ts";
import type { Components } from "../harness/components.ts";
import { chartForAnyVersion } from "../harness/helm.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const CHARTS = ["gloo-mesh-crds", "gloo-mesh-mgmt-server", "gloo-mesh-agent"] as const;

/** Where a reader of a document works. */
export interface Workspace {
  /** Looks like a checkout, and can be written to. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A folder like a checkout, with helm, kubectl and meshctl on the PATH, and a kubeconfig with a context for each API server. */
export function makeWorkspace(components: Components, directory: string, servers: readonly ApiServer[]): Workspace {
  const folder = join(directory, "checkout");
  const bin = join(directory, "bin");
  const home = join(directory, "home");
  for (const made of [folder, bin, home]) mkdirSync(made);
  for (const name of ["apps", "docs", "node_modules", "packages", "tools", "package.json"])
    symlinkSync(join(root, name), join(folder, name));
  cpSync(join(root, "deploy"), join(folder, "deploy"), { recursive: true });
  // API servers that are built from their module do not know their version.
  for (const chart of CHARTS) chartForAnyVersion(chart, join(folder, "deploy/helm"));
  for (const program of ["kubectl", "helm"] as const) symlinkSync(components[program], join(bin, program));
  symlinkSync(join(root, "apps/meshctl/bin/meshctl.js"), join(bin, "meshctl"));
  const kubeconfig = join(directory, "kubeconfig");
  writeFileSync(kubeconfig, JSON.stringify(mergedKubeconfig(servers)), { mode: 0o600 });
  const PATH = `${bin}:${process.env["PATH"] ?? ""}`;
  return { folder, env: { PATH, HOME: home, KUBECONFIG: kubeconfig, COLUMNS: "200", npm_config_update_notifier: "false" } };
}

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: object }[];
  readonly users: readonly { readonly user: object }[];
}

/** The name of each API server is the name of its context; the first is the current one. */
function mergedKubeconfig(servers: readonly ApiServer[]): object {
  const read = servers.map(({ name, kubeconfig }) => ({ name, ...(JSON.parse(readFileSync(kubeconfig, "utf8")) as Kubeconfig) }));
  return {
    apiVersion: "v1",
    kind: "Config",
    "current-context": servers[0]?.name ?? "",
    contexts: read.map(({ name }) => ({ name, context: { cluster: name, user: name } })),
    clusters: read.map(({ name, clusters }) => ({ name, cluster: clusters[0]?.cluster })),
    users: read.map(({ name, users }) => ({ name, user: users[0]?.user })),
  };
}
