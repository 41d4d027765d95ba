import type { Command } from "commander";

/** How a command is told where the admin port of a management server is. */
export interface AdminFlags {
  readonly adminAddress?: string;
  readonly adminTokenFile?: string;
}

/** The options for commands that read live state. */
export function withAdmin(command: Command): Command {
  return command
    .option("--admin-address <url>", "admin port of a management server that can be reached, such as http://127.0.0.1:9091")
    .option("--admin-token-file <file>", "file with a token for the port; not needed on the loopback interface");
}

/** What to do when the port takes a request and does not answer it. */
export const ADMIN_UNANSWERED = "check that --admin-address is the admin port of a management server, or raise --request-timeout";

/** The parts of a help text that such commands share. */
export const ADMIN_HELP = `
The admin port of a server in a cluster is reached with
  kubectl -n gloo-mesh port-forward deployment/gloo-mesh-mgmt-server 9091
and --admin-address http://127.0.0.1:9091. An agent is connected to one replica of the server: only that one knows its figures.`;
