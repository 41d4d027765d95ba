import { Command, Option } from "commander";
import { version } from "../../package.json";
import type { InsightsOptions } from "../offline/insightsOptions.ts";
import type { CommandRuntime } from "./commandRuntime.ts";

/** `meshctl insights`: what is wrong in a fleet that stands in files, and what to do about it? */
export function insightsCommand({ io, now, finish }: CommandRuntime): Command {
  return new Command("insights")
    .description(
      "Show what is wrong in a fleet and what to do about it: users' resources, Istio objects, gateways, access, certificates and clusters. Does not need a cluster.",
    )
    .requiredOption("-f, --file <path...>", "files or directories with YAML or JSON; - reads standard input")
    .addOption(new Option("-o, --output <format>", "format of the insights").choices(["text", "json", "sarif", "github"]).default("text"))
    .addOption(
      new Option("--fail-on <severity>", "exit with code 1 for insights of this severity or higher")
        .choices(["info", "warning", "error"])
        .default("error"),
    )
    .option("-n, --namespace <name>", "namespace of the management plane", "gloo-mesh")
    .option("--agent-cluster <name>", "treat all input as coming from this cluster")
    .allowExcessArguments(false)
    .addHelpText("after", HELP)
    .action(async (options: InsightsOptions) => {
      const { insightsOfFiles } = await import("../offline/insightsOfFiles.ts");
      finish(await insightsOfFiles(options, { version, now: now() }, io));
    });
}

const HELP = `
Each insight has a code, which docs/insights.md explains. An annotation on an object suppresses insights about it:
  isthmus.mesh/suppress-insights: "BP0001 until 2027-01-31: all teams call it"

Exit codes: 0 no insight is as bad as --fail-on, 1 at least one is, 2 usage error or unreadable input, 3 none was found, but not everything
could be read.

Examples:
  meshctl insights -f clusters/ policies/

  # In a pull request, for code scanning
  meshctl insights -f clusters/ policies/ -o sarif --fail-on warning > meshctl.sarif`;
