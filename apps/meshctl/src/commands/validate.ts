import { Command, Option } from "commander";
import { version } from "../../package.json";
import type { ExitCode, Io } from "../io.ts";
import type { FindingFormat } from "../offline/findingFormats.ts";
import type { Severity } from "../offline/findings.ts";

/** What `meshctl validate` was asked for. */
export interface ValidateOptions {
  readonly file: readonly string[];
  readonly output: "text" | FindingFormat;
  readonly failOn: Severity;
  readonly namespace: string;
  readonly agentCluster?: string;
  readonly disallowIntersectingConfig?: true;
}

/** `--fail-on`, which translate and validate share. */
export function failOnOption(): Option {
  return new Option("--fail-on <severity>", "exit with 1 for a finding of this severity, or a worse one")
    .choices(["note", "warning", "rejected"])
    .default("rejected");
}

/** `meshctl validate`: is what stands in files right? Prints findings and nothing else. */
export function validateCommand(io: Io, finish: (code: ExitCode) => void): Command {
  return new Command("validate")
    .description("Check resources in files as the management server would: references, conflicts, values. Needs no cluster.")
    .requiredOption("-f, --file <path...>", "files or folders with YAML or JSON; - reads standard input")
    .addOption(
      new Option("-o, --output <format>", "text for people on standard error; the others for programs on standard output")
        .choices(["text", "json", "sarif", "github"])
        .default("text"),
    )
    .addOption(failOnOption())
    .option("-n, --namespace <name>", "namespace of the management plane", "gloo-mesh")
    .option("--agent-cluster <name>", "discover as the agent of this cluster does")
    .option("--disallow-intersecting-config", "refuse what would meet a user's own Istio objects on one host")
    .allowExcessArguments(false)
    .addHelpText("after", HELP)
    .action(async (options: ValidateOptions) => {
      const { validateFiles } = await import("../offline/validateFiles.ts");
      finish(await validateFiles(options, version, io));
    });
}

const HELP = `
Each finding has a code; docs/reference/findings.md says what it means.

Examples:
  # In a pull request: annotations on the lines that are wrong, and a red check for warnings too
  meshctl validate -f clusters/ policies/ -o github --fail-on warning

  # For code scanning
  meshctl validate -f clusters/ policies/ -o sarif > meshctl.sarif`;
