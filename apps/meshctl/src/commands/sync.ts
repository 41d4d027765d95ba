import { Command, Option } from "commander";
import { answered, inManagementCluster, type ManagementTarget } from "../cluster/managementCluster.ts";
import { ADMIN_HELP, ADMIN_UNANSWERED, type AdminFlags, withAdmin } from "./adminOptions.ts";
import { type CommandRuntime, inManagement } from "./commandRuntime.ts";

interface SyncOptions extends ManagementTarget, AdminFlags {
  readonly output: "table" | "json";
}

/** `meshctl sync status`: does every cluster have what is desired? */
export function syncCommand(runtime: CommandRuntime): Command {
  const group = new Command("sync").description("Show whether clusters have what is desired of them.");
  const status = withAdmin(inManagement(new Command("status")))
    .description("Print for each cluster whether it is synced and, with --admin-address, what is queued, unacknowledged and rejected.")
    .addOption(new Option("-o, --output <format>", "table or json").choices(["table", "json"]).default("table"))
    .addHelpText("after", HELP)
    .action((options: SyncOptions) => printSyncStatus(options, runtime));
  group.addCommand(status);
  return group;
}

async function printSyncStatus(
  { adminAddress, adminTokenFile, output, ...place }: SyncOptions,
  { io, connect, readAdminPage, finish }: CommandRuntime,
): Promise<void> {
  const { KubernetesCluster } = await import("@isthmus/api");
  const { clusterSyncs, syncJson, syncText } = await import("../plane/syncStatus.ts");
  const { items } = await inManagementCluster(place, connect, (cluster, signal) =>
    cluster.list(KubernetesCluster, { namespace: place.namespace }, signal),
  );
  const address =
    adminAddress === undefined ? undefined : { url: adminAddress, ...(adminTokenFile === undefined ? {} : { tokenFile: adminTokenFile }) };
  const metrics =
    address === undefined
      ? undefined
      : await answered("admin port", place, (signal) => readAdminPage(address, "/metrics", signal), ADMIN_UNANSWERED);
  const syncs = clusterSyncs(items, metrics);
  const { columns } = io;
  const isMeasured = metrics !== undefined;
  await io.out(output === "json" ? syncJson(syncs) : syncText(syncs, { isMeasured, ...(columns === undefined ? {} : { width: columns }) }));
  const behind = syncs.filter(({ state }) => state !== "CONNECTED").length;
  io.err(`${syncs.length - behind} of ${syncs.length} clusters are connected and have what is desired\n`);
  finish(behind === 0 ? 0 : 1);
}

const HELP = `${ADMIN_HELP}

Exit codes: 0 all clusters are CONNECTED, 1 some are not, 2 usage error or no answer.

Examples:
  meshctl sync status
  meshctl sync status --admin-address http://127.0.0.1:9091`;
