import { Command, InvalidArgumentError, Option } from "commander";
import { version } from "../../package.json";
import { FINDING_FORMATS } from "../offline/formatNames.ts";
import type { ValidateOptions } from "../offline/validateOptions.ts";
import type { CommandRuntime } from "./commandRuntime.ts";
import { suppressOption } from "./suppressOption.ts";

/** `--fail-on`, which translate and validate share. */
export function failOnOption(): Option {
  return new Option("--fail-on <severity>", "exit with code 1 for findings of this severity or higher")
    .choices(SEVERITIES)
    .argParser((text: string) => {
      const severity = SEVERITIES.find((one) => one === (EARLIER_SEVERITIES.get(text) ?? text));
      if (severity === undefined) throw new InvalidArgumentError(`Allowed choices are ${SEVERITIES.join(", ")}.`);
      return severity;
    })
    .default("error");
}

const SEVERITIES = ["info", "warning", "error"] as const;
// What pipelines may still say: findings had a scale of their own once.
const EARLIER_SEVERITIES: ReadonlyMap<string, string> = new Map([
  ["note", "info"],
  ["rejected", "error"],
]);

/** `-f`, of commands that take files as arguments, too. */
export function fileOption(): Option {
  return new Option("-f, --file <path...>", "the same");
}

/** `--snapshot`, beside files. */
export function snapshotOption(): Option {
  return new Option(
    "--snapshot <file...>",
    "what a server knows, as meshctl snapshot save writes it: files are read beside it, and count in place of objects of the same name in it",
  );
}

/** `meshctl validate`: is what stands in files right? Prints findings and nothing else. */
export function validateCommand({ io, now, finish }: Pick<CommandRuntime, "io" | "now" | "finish">): Command {
  return new Command("validate")
    .description("Check resources in files as the management server does: references, conflicts and values. Does not need a cluster.")
    .argument("[files...]", "files or directories with YAML or JSON; - reads standard input")
    .addOption(fileOption())
    .addOption(snapshotOption())
    .addOption(new Option("-o, --output <format>", "format of the findings").choices(["text", ...FINDING_FORMATS]).default("text"))
    .addOption(failOnOption())
    .addOption(
      new Option("--strict [boolean]", "exit with code 1 for fields and modes that are not known, too; their severity stays")
        .choices(["true", "false"])
        .preset("true")
        .default("true"),
    )
    .option("--insights", "also find insights, which judge several objects together; on the same scale of severities")
    .addOption(suppressOption("findings"))
    .option("-n, --namespace <name>", "namespace of the management plane", "gloo-mesh")
    .option("--agent-cluster <name>", "treat all input as coming from this cluster")
    .option("--disallow-intersecting-config", "reject policies whose host is already configured by a user-created Istio resource")
    .addHelpText("after", HELP)
    .action(async (files: readonly string[], options: ValidateOptions) => {
      const { validateFiles } = await import("../offline/validateFiles.ts");
      finish(await validateFiles(files, options, { version, now: now() }, io));
    });
}

const HELP = `
Each finding has a code, which docs/reference/findings.md explains; those of insights, such as BP0001, are in docs/reference/insights.md.

An input in which there is no cluster (no Mesh, Destination, Workload or KubernetesCluster, and no Service with metadata.clusterName) is judged by itself: fields,
values, and references between its objects. A note says that the rest was left.

Exit codes: 0 no finding is as bad as --fail-on, 1 at least one is, or a field or mode is not known (--strict=false passes these over), 2 usage error or unreadable input.

Examples:
  # A folder of policies alone
  meshctl validate policies/

  # The same beside what a running server knows
  meshctl snapshot save fleet.json --context mgmt
  meshctl validate policies/ --snapshot fleet.json

  # In a pull request: annotate the affected lines, and fail for warnings, too
  meshctl validate clusters/ policies/ --insights -o github --fail-on warning

  # Without what is known of one namespace
  meshctl validate clusters/ policies/ -S 'SubsetUnknown=TrafficPolicy *.sandbox'

  # For code scanning
  meshctl validate clusters/ policies/ -o sarif > meshctl.sarif`;
