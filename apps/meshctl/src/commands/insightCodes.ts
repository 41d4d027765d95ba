import { UsageError } from "@isthmus/core";
import { Command, Option } from "commander";
import type { CommandRuntime } from "./commandRuntime.ts";

interface ListFlags {
  readonly output: "table" | "json" | "markdown";
}

interface ExplainFlags {
  readonly output: "text" | "json" | "markdown";
}

/** `meshctl insights list-rules`: which insights can there be? */
export function listRulesCommand({ io }: Pick<CommandRuntime, "io">): Command {
  const command = new Command("list-rules");
  return command
    .description("List every code that an insight can have: its severity, its category, and whether a rule or a status finds it.")
    .addOption(new Option("-o, --output <format>", "table, json or markdown").choices(["table", "json", "markdown"]).default("table"))
    .allowExcessArguments(false)
    .addHelpText("after", LIST_HELP)
    .action(async ({ output }: ListFlags) => {
      refuseOptionsAbove(command);
      const { codeList } = await import("../offline/insightCodes.ts");
      const { columns } = io;
      await io.out(codeList(output, columns));
    });
}

/** `meshctl insights explain CODE`: what does a code mean? */
export function explainCodeCommand({ io }: Pick<CommandRuntime, "io">): Command {
  const command = new Command("explain");
  return command
    .argument("<code>", "such as RTE1001")
    .description("Explain a code: what it means, why it matters, what to do, and an example.")
    .addOption(new Option("-o, --output <format>", "text, json or markdown").choices(["text", "json", "markdown"]).default("text"))
    .allowExcessArguments(false)
    .addHelpText("after", EXPLAIN_HELP)
    .action(async (code: string, { output }: ExplainFlags) => {
      refuseOptionsAbove(command);
      await refuseCheckCode(code.toUpperCase());
      const { explanation } = await import("../offline/insightCodes.ts");
      const { columns } = io;
      await io.out(explanation(code, output, columns));
    });
}

/** Throws UsageError for a code that only `meshctl check` finds, with its meaning. */
async function refuseCheckCode(code: string): Promise<void> {
  const { explainedCode } = await import("@isthmus/insights/catalogue");
  if (explainedCode(code) !== undefined) return;
  const { CHECK_CODES } = await import("../plane/checks/codes.ts");
  const meaning = Object.entries(CHECK_CODES).find(([known]) => known === code)?.[1];
  if (meaning !== undefined) throw new UsageError(`${code} is no insight: meshctl check finds it. ${meaning}`);
}

/** Throws UsageError for an option of `insights` before the name of the command: it would be passed over. */
function refuseOptionsAbove(command: Command): void {
  const { parent } = command;
  const [given] = (parent?.options ?? []).filter((option) => parent?.getOptionValueSource(option.attributeName()) === "cli");
  if (given !== undefined) throw new UsageError(`${given.long} is of meshctl insights: put options of ${command.name()} after it`);
}

const LIST_HELP = `
Exit codes: 0 printed, 2 usage error.

Examples:
  meshctl insights list-rules
  meshctl insights list-rules -o json | jq -r '.codes[] | select(.severity == "error") | .code'`;

const EXPLAIN_HELP = `
Exit codes: 0 printed, 2 usage error, or there is no such code.

Examples:
  meshctl insights explain RTE1001
  meshctl insights explain SEC1005 -o markdown`;
