import { UsageError } from "@isthmus/core";
import { Command, Option } from "commander";
import { version } from "../../package.json";
import { inManagementCluster, type ManagementTarget } from "../cluster/managementCluster.ts";
import type { PlaneVersions } from "../plane/printVersions.ts";
import { type CommandRuntime, inManagement } from "./commandRuntime.ts";

interface VersionOptions extends ManagementTarget {
  readonly client?: true;
  readonly output: "table" | "json" | "yaml";
}

/** `meshctl version`: indented JSON where nothing else is said, as the published meshctl prints it. */
export function versionCommand({ io, connect, finish }: CommandRuntime): Command {
  return inManagement(new Command("version"))
    .description("Print the versions of meshctl, of the management plane and of each agent.")
    .option("--client", "only the version of meshctl; needs no cluster")
    .addOption(new Option("-o, --output <format>", "json, yaml or table").choices(["json", "yaml", "table"]).default("json"))
    .action(async ({ client, output, ...place }: VersionOptions) => {
      const own = { client: { version } };
      const printed = client ? own : { ...own, ...(await versionsOrNone(place)) };
      const { versionsText } = await import("../plane/versionsText.ts");
      await io.out(versionsText(printed, output, io.columns));
    })
    .addHelpText("after", HELP);

  /** A client that reaches no cluster still knows its own version. */
  async function versionsOrNone(place: ManagementTarget): Promise<PlaneVersions | { readonly server: null }> {
    try {
      const { planeVersions } = await import("../plane/printVersions.ts");
      return await inManagementCluster(place, connect, (cluster, signal) => planeVersions(cluster, place.namespace, signal));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      io.err(`${io.colors.yellow("warning:")} the versions of the management plane are unknown: ${error.message}\n`);
      finish(3);
      return { server: null };
    }
  }
}

const HELP = `
An agent may be up to two minor versions older than the server, or one newer: its skew is then supported. Where no cluster answers,
server is null.

Exit codes: 0 printed, 2 usage error, 3 printed without the versions of the management plane, which has not answered: --client does not ask it.

Examples:
  meshctl version -o table
  meshctl version --client | jq -r .client.version
  # Agents to upgrade
  meshctl version | jq -r '.agents[] | select(.skew == "unsupported") | .cluster'`;
