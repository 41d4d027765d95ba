import { nearestName, UsageError } from "@isthmus/core";
import { Command, Option } from "commander";
import { version } from "../../package.json";
import type { ManagementTarget } from "../cluster/managementCluster.ts";
import { FINDING_FORMATS } from "../offline/formatNames.ts";
import type { InsightsOptions } from "../offline/insightsOptions.ts";
import { checkSuppressions } from "../offline/suppressions.ts";
import { plainText } from "../output/plainText.ts";
import { ADMIN_HELP, type AdminFlags, adminAnswers, checkAdminFlags, withAdmin } from "./adminOptions.ts";
import { type CommandRuntime, inManagement } from "./commandRuntime.ts";
import { explainCodeCommand, listRulesCommand } from "./insightCodes.ts";
import { suppressOption } from "./suppressOption.ts";

interface InsightsFlags extends InsightsOptions, ManagementTarget, AdminFlags {
  readonly cluster?: string;
  readonly history?: true;
}

/** `meshctl insights`: what is wrong in a fleet, and what to do about it? */
export function insightsCommand(runtime: CommandRuntime): Command {
  const command = new Command("insights")
    .description(
      "Show what is wrong in a fleet and what to do about it: users' resources, Istio objects, gateways, access, certificates and clusters. A running server is asked, or files are read.",
    )
    .option("-f, --file <path...>", "files or directories with YAML or JSON, instead of a running server; - reads standard input")
    .option("--snapshot <file...>", "instead of -f: what a server knows, as meshctl snapshot save writes it")
    .addOption(new Option("-o, --output <format>", "format of the insights").choices(["text", "table", ...FINDING_FORMATS]).default("text"))
    .addOption(
      new Option("--fail-on <severity>", "exit with code 1 for insights of this severity or higher")
        .choices(["info", "warning", "error"])
        .default("error"),
    )
    .option(
      "--suppressed",
      "also print suppressed insights, each with its reason; JSON and JUnit have them always, Markdown and GitHub their number",
    )
    .addOption(suppressOption("insights"))
    .option("--history", "of a running server: also print insights that have ended")
    .option("--cluster <name>", "of a running server: only insights about objects of this cluster")
    .option("--agent-cluster <name>", "of files: treat all input as coming from this cluster")
    .addCommand(listRulesCommand(runtime))
    .addCommand(explainCodeCommand(runtime))
    // `refuseWords` says more of them than commander does.
    .argument("[words...]")
    .usage("[options] [command]");
  return withAdmin(inManagement(command))
    .addHelpText("after", HELP)
    .action(async (words: readonly string[], flags: InsightsFlags) => {
      const { io, now, finish } = runtime;
      await refuseWords(words, command);
      checkFlags(flags);
      if (flags.suppress !== undefined) {
        const { EXPLAINED_CODES } = await import("@isthmus/insights/catalogue");
        checkSuppressions(
          flags.suppress,
          EXPLAINED_CODES.map(({ code }) => code),
        );
      }
      if (flags.file !== undefined || flags.snapshot !== undefined) {
        const { insightsOfFiles } = await import("../offline/insightsOfFiles.ts");
        return finish(await insightsOfFiles(flags, { version, now: now() }, io));
      }
      const { insightsPath, liveInsights, printLiveInsights } = await import("../plane/liveInsights.ts");
      const read = async (page: (path: string) => Promise<string>) => liveInsights(await page(insightsPath(flags.cluster)));
      // Replicas tell the same: what the leader has found.
      const { answers } = await adminAnswers(runtime, flags, { program: "server", read, isOneEnough: true });
      const [found] = answers;
      if (found !== undefined) finish(await printLiveInsights(found, flags, { version, now: now(), io }));
    });
}

/** Throws UsageError for words that are no command, with the one that was perhaps meant. */
async function refuseWords([word]: readonly string[], { commands }: Command): Promise<void> {
  if (word === undefined) return;
  const names = commands.map((command) => command.name());
  const near = nearestName(word, names);
  const hint = near === undefined ? "" : ` (did you mean ${near}?)`;
  const { explainedCode } = await import("@isthmus/insights/catalogue");
  const code = explainedCode(word.toUpperCase())?.code;
  const ofCode = code === undefined ? "" : `; meshctl insights explain ${code} explains the code`;
  throw new UsageError(`unknown command '${plainText(word, LONGEST_WORD)}'${hint}: there are ${names.join(" and ")}${ofCode}`);
}

const LONGEST_WORD = 40;

/** Throws UsageError for options of which one would be passed over. */
function checkFlags(flags: InsightsFlags): void {
  const { file, snapshot, history, cluster, agentCluster, adminAddress, kubeconfig, context } = flags;
  checkAdminFlags(flags);
  if (file !== undefined && snapshot !== undefined) throw new UsageError("--file and --snapshot are mutually exclusive");
  const isLive = file === undefined && snapshot === undefined;
  const ofLive = {
    "--history": history,
    "--cluster": cluster,
    "--admin-address": adminAddress,
    "--kubeconfig": kubeconfig,
    "--context": context,
  };
  const [unused] = Object.entries(ofLive).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (!isLive && unused !== undefined) throw new UsageError(`${unused} is of a running server: files are read without a cluster`);
  if (isLive && agentCluster !== undefined) throw new UsageError("--agent-cluster needs --file or --snapshot");
  if (adminAddress !== undefined && (kubeconfig ?? context) !== undefined)
    throw new UsageError(
      `--admin-address and ${kubeconfig === undefined ? "--context" : "--kubeconfig"} are mutually exclusive: it names the server that is asked`,
    );
}

const HELP = `${ADMIN_HELP}

A server says what the leader found last, and of which moment it is; docs/insights.md describes insights, and list-rules and explain their codes. Without a running server, save the page
/snapshots/input while there is one, or pass what clusters hold with -f.

An annotation on an object suppresses insights about it; Settings.spec.insights.suppressions those of many objects:
  isthmus.mesh/suppress-insights: "BP0001 until 2027-01-31: all teams call it"

Exit codes: 0 no insight is as bad as --fail-on, 1 at least one is, 2 usage error, no answer or unreadable input, 3 none was found, but not everything
could be read, or the server knows nothing of some registered clusters.

Examples:
  # What a running plane has found, and since when
  meshctl insights --context mgmt
  meshctl insights --context mgmt --cluster east --history -o json

  meshctl insights -f clusters/ policies/

  # Without those of one code, and those about objects of one namespace
  meshctl insights --context mgmt -S BP0001 -S '*=*.sandbox'

  # In a pull request, for code scanning
  meshctl insights -f clusters/ policies/ -o sarif --fail-on warning > meshctl.sarif

  # The same from a saved page of a server's admin port
  curl -s http://127.0.0.1:9091/snapshots/input > snapshot.json
  meshctl insights --snapshot snapshot.json`;
