import { execFile } from "node:child_process";
import type { ApiServer } from "./apiServer.ts";
import type { Components } from "./components.ts";

export interface KubectlAnswer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs kubectl as a person would, with this kubeconfig. `input` goes to its standard input, as JSON. */
export function kubectl(
  { components, server }: { readonly components: Components; readonly server: Pick<ApiServer, "kubeconfig"> },
  args: readonly string[],
  input?: unknown,
): Promise<KubectlAnswer> {
  const cache = `${server.kubeconfig}.cache`;
  return new Promise((resolve) => {
    const child = execFile(
      components.kubectl,
      [`--kubeconfig=${server.kubeconfig}`, `--cache-dir=${cache}`, ...args],
      { env: { PATH: process.env["PATH"] ?? "", HOME: cache } },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
    );
    child.stdin?.end(input === undefined ? "" : JSON.stringify(input));
  });
}
