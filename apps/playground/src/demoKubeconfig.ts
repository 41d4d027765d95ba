import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Where the kubeconfig of the demo is, below the folder in which it was started. */
export const DEMO_KUBECONFIG = ".isthmus/kubeconfig";

/** One context: cluster, user and context have its name. */
export interface KubeconfigEntry {
  readonly name: string;
  readonly server: string;
  /** PEM. */
  readonly ca: string;
  readonly token: string;
}

/** A kubeconfig, as JSON, of which the first context is the current one. */
export function kubeconfigText(entries: readonly KubeconfigEntry[]): string {
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": entries[0]?.name ?? "",
    clusters: entries.map(({ name, server, ca }) => ({
      name,
      cluster: { server, "certificate-authority-data": Buffer.from(ca).toString("base64") },
    })),
    users: entries.map(({ name, token }) => ({ name, user: { token } })),
    contexts: entries.map(({ name }) => ({ name, context: { cluster: name, user: name } })),
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

/** Writes it for its owner alone, in place of one that an earlier demo left. The result removes it, unless another demo has written its own since. */
export function writeDemoKubeconfig(path: string, entries: readonly KubeconfigEntry[]): () => void {
  const text = kubeconfigText(entries);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // A mode counts for a new file alone.
  rmSync(path, { force: true });
  writeFileSync(path, text, { mode: 0o600 });
  return () => {
    if (contentOf(path) === text) rmSync(path, { force: true });
  };
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
