import { join } from "node:path";
import type { ApiServer } from "./apiServer.ts";
import { type Program, startProgram } from "./childProcess.ts";
import type { Components } from "./components.ts";

/** Starts the controller that puts tokens into the Secrets that ask for a ServiceAccount's, as kube-controller-manager does. */
export function startTokenController({ tokenController }: Components, server: ApiServer, directory: string): Program {
  return startProgram({
    name: `token controller of ${server.name}`,
    command: tokenController,
    args: [`-kubeconfig=${server.kubeconfig}`, `-service-account-private-key-file=${server.serviceAccountKey}`],
    log: join(directory, `token-controller-${server.name}.log`),
  });
}
