import { Command, Option } from "commander";
import { inManagementCluster, type ManagementTarget } from "../../cluster/managementCluster.ts";
import { PRINTED_KINDS } from "../../plane/kinds.ts";
import { examples, READ_EXIT_CODES } from "../commandLine/helpText.ts";
import { type CommandRuntime, inManagement } from "../commandRuntime.ts";
import { getKindCommand } from "../get.ts";

/** `meshctl cluster list`, `describe` and `diagnose`: how the registered clusters are. */
export function clusterStateCommands(runtime: CommandRuntime): readonly Command[] {
  return [...listCommand(runtime), describeClusterCommand(runtime), diagnoseCommand(runtime)];
}

/** The same as `meshctl get clusters`. */
function listCommand(runtime: CommandRuntime): readonly Command[] {
  const clusters = PRINTED_KINDS.filter(({ name }) => name === "clusters");
  return clusters.map((printed) => getKindCommand(new Command("list"), printed, runtime, LIST_HELP));
}

function describeClusterCommand({ io, connect, now }: CommandRuntime): Command {
  const command = new Command("describe").argument("<name>", "name of the cluster");
  return inManagement(command)
    .description("Describe a registered cluster: its agent, its conditions, and what was discovered in it.")
    .addOption(textOrData("the KubernetesCluster and how much was discovered"))
    .addHelpText("after", DESCRIBE_HELP)
    .action(async (name: string, { output, ...place }: StateOptions) => {
      const { printCluster } = await import("../../plane/describe/printCluster.ts");
      await inManagementCluster(place, connect, (cluster, signal) =>
        printCluster({ io, cluster, name, namespace: place.namespace, now: now(), format: output }, signal),
      );
    });
}

function diagnoseCommand({ io, connect, now, finish }: CommandRuntime): Command {
  return inManagement(new Command("diagnose").argument("<name>", "name of the cluster"))
    .description(
      "Follow a cluster from its registration to a complete sync; at the first step that fails print the cause and the next command.",
    )
    .addOption(textOrData("the steps"))
    .addHelpText("after", DIAGNOSE_HELP)
    .action(async (name: string, { output, ...place }: StateOptions) => {
      const { printDiagnosis } = await import("../../plane/diagnosis.ts");
      const { namespace } = place;
      finish(
        await inManagementCluster(place, connect, (cluster, signal) =>
          printDiagnosis({ io, cluster, name, namespace, now: now(), format: output }, signal),
        ),
      );
    });
}

interface StateOptions extends ManagementTarget {
  readonly output: "text" | "json" | "yaml";
}

function textOrData(data: string): Option {
  return new Option("-o, --output <format>", `text, or ${data} as json or yaml`).choices(["text", "json", "yaml"]).default("text");
}

const LIST_HELP = `${READ_EXIT_CODES}

Examples:
  meshctl cluster list
  # For a script
  meshctl cluster list -o json | jq -r '.items[] | select(.status.state != "CONNECTED") | .metadata.name'`;

const DESCRIBE_HELP =
  READ_EXIT_CODES +
  examples(
    "meshctl cluster describe east",
    "meshctl cluster describe east -o json | jq .discovered",
    "# What stops it from being synced, and the next command",
    "meshctl cluster diagnose east",
  );

const DIAGNOSE_HELP = `
Exit codes: 0 every step is passed, 1 one is not, 2 usage error or no answer.

Examples:
  meshctl cluster diagnose east
  # For a script: the next command
  meshctl cluster diagnose east -o json | jq -r '.steps[] | select(.passed | not) | .next'`;
