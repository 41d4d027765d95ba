import { Command, Option } from "commander";
import { inManagementCluster, type ManagementTarget } from "../cluster/managementCluster.ts";
import { ADMIN_HELP, type AdminFlags, adminPages, checkAdminFlags, withAdmin } from "./adminOptions.ts";
import { type CommandRuntime, inManagement } from "./commandRuntime.ts";

interface SyncOptions extends ManagementTarget, AdminFlags {
  readonly metrics?: true;
  readonly output: "table" | "json" | "yaml";
}

/** `meshctl sync status`: does every cluster have what is desired? */
export function syncCommand(runtime: CommandRuntime): Command {
  const group = new Command("sync").description("Show whether clusters have what is desired of them.");
  const status = withAdmin(inManagement(new Command("status")))
    .description(
      "Print for each cluster whether it is synced, its mode and what would be written in it and, with --metrics, what is queued and rejected.",
    )
    .option("--metrics", "also what the servers measure, of all their pods; implied by --admin-address")
    .addOption(new Option("-o, --output <format>", "table, json or yaml").choices(["table", "json", "yaml"]).default("table"))
    .addHelpText("after", HELP)
    .action((options: SyncOptions) => printSyncStatus(options, runtime));
  group.addCommand(status);
  return group;
}

async function printSyncStatus(options: SyncOptions, runtime: CommandRuntime): Promise<void> {
  const { adminAddress, adminTokenFile, metrics, output, ...place } = options;
  const { io, connect, finish } = runtime;
  checkAdminFlags(options);
  const { KubernetesCluster } = await import("@isthmus/api");
  const { clusterSyncs, isInSync, syncText } = await import("../plane/syncStatus.ts");
  const { items } = await inManagementCluster(place, connect, (cluster, signal) =>
    cluster.list(KubernetesCluster, { namespace: place.namespace }, signal),
  );
  const isMeasured = metrics === true || adminAddress !== undefined;
  const measured = isMeasured ? await adminPages(runtime, options, { program: "server", path: "/metrics" }) : undefined;
  const syncs = clusterSyncs(items, measured?.pages.join("\n"));
  const { columns } = io;
  const { dataText } = await import("../plane/dataText.ts");
  const tableText = (): string => syncText(syncs, { isMeasured, ...(columns === undefined ? {} : { width: columns }) });
  await io.out(output === "table" ? tableText() : dataText({ clusters: syncs }, output));
  const behind = syncs.filter(({ state }) => state !== "CONNECTED").length;
  const unmanaged = syncs.filter(({ mode }) => mode !== "manage").length;
  const modes = unmanaged === 0 ? "" : `; ${unmanaged} in mode observe or freeze`;
  io.note(`${syncs.filter(isInSync).length} of ${syncs.length} clusters are connected and have what is desired${modes}\n`);
  finish(behind > 0 ? 1 : measured?.isComplete === false ? 3 : 0);
}

const HELP = `${ADMIN_HELP}

Of a cluster that is observed or frozen the first objects that would be created, changed or deleted are listed, and those that others manage.

Exit codes: 0 all clusters are CONNECTED, whatever their mode, 1 some are not, 2 usage error or no answer, 3 all are, and some replicas have not answered.

Examples:
  meshctl sync status
  meshctl sync status -o json | jq -r '.clusters[] | select(.state != "CONNECTED") | .cluster'
  meshctl sync status --metrics --context mgmt`;
