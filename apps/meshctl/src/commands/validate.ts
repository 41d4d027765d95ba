import { Command, Option } from "commander";
import { version } from "../../package.json";
import { FINDING_FORMATS } from "../offline/formatNames.ts";
import type { ValidateOptions } from "../offline/validateOptions.ts";
import type { CommandRuntime } from "./commandRuntime.ts";
import { suppressOption } from "./suppressOption.ts";

/** `--fail-on`, which translate and validate share. */
export function failOnOption(): Option {
  return new Option("--fail-on <severity>", "exit with code 1 for findings of this severity or higher")
    .choices(["note", "warning", "rejected"])
    .default("rejected");
}

/** `meshctl validate`: is what stands in files right? Prints findings and nothing else. */
export function validateCommand({ io, now, finish }: Pick<CommandRuntime, "io" | "now" | "finish">): Command {
  return new Command("validate")
    .description("Check resources in files as the management server does: references, conflicts and values. Does not need a cluster.")
    .requiredOption("-f, --file <path...>", "files or directories with YAML or JSON; - reads standard input")
    .addOption(
      new Option("-o, --output <format>", "text prints to standard error; the machine-readable formats print to standard output")
        .choices(["text", ...FINDING_FORMATS])
        .default("text"),
    )
    .addOption(failOnOption())
    .option("--insights", "also find insights, which judge several objects together; an error counts as rejected, an info as a note")
    .addOption(suppressOption("findings"))
    .option("-n, --namespace <name>", "namespace of the management plane", "gloo-mesh")
    .option("--agent-cluster <name>", "treat all input as coming from this cluster")
    .option("--disallow-intersecting-config", "reject policies whose host is already configured by a user-created Istio resource")
    .allowExcessArguments(false)
    .addHelpText("after", HELP)
    .action(async (options: ValidateOptions) => {
      const { validateFiles } = await import("../offline/validateFiles.ts");
      finish(await validateFiles(options, { version, now: now() }, io));
    });
}

const HELP = `
Each finding has a code, which docs/reference/findings.md explains; those of insights, such as BP0001, are in docs/reference/insights.md.

Exit codes: 0 no finding is as bad as --fail-on, 1 at least one is, 2 usage error or unreadable input.

Examples:
  # In a pull request: annotate the affected lines, and fail for warnings, too
  meshctl validate -f clusters/ policies/ --insights -o github --fail-on warning

  # Without what is known of one namespace
  meshctl validate -f clusters/ policies/ -S 'SubsetUnknown=TrafficPolicy *.sandbox'

  # For code scanning
  meshctl validate -f clusters/ policies/ -o sarif > meshctl.sarif`;
