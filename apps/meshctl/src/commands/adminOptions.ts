import { UsageError } from "@isthmus/core";
import type { Command } from "commander";
import { answered, inManagementCluster, type ManagementTarget, REQUEST_TIMEOUT_MS } from "../cluster/managementCluster.ts";
import { plainText } from "../output/plainText.ts";
import type { AdminReading } from "../plane/adminPages.ts";
import type { CommandRuntime } from "./commandRuntime.ts";

/** How a command learns where the admin port of a management server is. */
export interface AdminFlags {
  readonly adminAddress?: string;
  readonly adminTokenFile?: string;
}

/** The options for commands that read live state. */
export function withAdmin(command: Command): Command {
  return command
    .option(
      "--admin-address <url>",
      "admin port that can be reached directly, such as http://127.0.0.1:9091, instead of through the API server",
    )
    .option("--admin-token-file <file>", "file with a token for --admin-address; not needed on the loopback interface");
}

/** Throws UsageError for a token that nothing would be shown to. */
export function checkAdminFlags({ adminAddress, adminTokenFile }: AdminFlags): void {
  if (adminTokenFile !== undefined && adminAddress === undefined)
    throw new UsageError("--admin-token-file needs --admin-address: through the API server the port is reached without a token");
}

/** A page of the address that was given; else of each pod of the program, through the API server. What could not be read is reported on standard error. */
export async function adminPages(
  runtime: CommandRuntime,
  place: AdminFlags & ManagementTarget,
  { program, path }: { readonly program: "server" | "agent"; readonly path: string },
): Promise<{ readonly pages: readonly string[]; readonly isComplete: boolean }> {
  const { answers: pages, isComplete } = await adminAnswers(runtime, place, { program, read: (page) => page(path) });
  return { pages, isComplete };
}

/** As `adminPages`, of several pages. */
export async function adminAnswers<T>(
  { io, connect, connectApiServer, readAdminPage }: CommandRuntime,
  { adminAddress, adminTokenFile, ...place }: AdminFlags & ManagementTarget,
  reading: AdminReading<T> & { readonly program: "server" | "agent" },
): Promise<{ readonly answers: readonly T[]; readonly isComplete: boolean }> {
  if (adminAddress !== undefined) {
    const { requestTimeout = REQUEST_TIMEOUT_MS } = place;
    const address = { url: adminAddress, ...(adminTokenFile === undefined ? {} : { tokenFile: adminTokenFile }) };
    const read = (signal: AbortSignal): Promise<T> => reading.read((path) => readAdminPage(address, path, signal));
    return { answers: [await answered("admin port", { requestTimeout }, read, ADMIN_UNANSWERED)], isComplete: true };
  }
  const { podAnswers } = await import("../plane/adminPages.ts");
  const api = await connectApiServer(place);
  const { answers, problems } = await inManagementCluster(place, connect, (cluster, signal) =>
    podAnswers({ cluster, api }, { ...reading, namespace: place.namespace }, signal),
  );
  for (const problem of problems) io.err(`warning: ${plainText(problem)}\n`);
  return { answers, isComplete: problems.length === 0 };
}

/** What to do when the port takes a request and does not answer it. */
const ADMIN_UNANSWERED = "check that --admin-address is the admin port of a management server, or raise --request-timeout";

/** The parts of a help text that such commands share. */
export const ADMIN_HELP = `
The admin ports of all running pods are read through the API server, as kubectl port-forward does; your user needs the verbs get and create on
pods/portforward, and list on Deployments and pods. An agent is connected to one replica of the server: only that one knows its metrics.`;
