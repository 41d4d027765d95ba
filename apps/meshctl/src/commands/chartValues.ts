import { UsageError } from "@isthmus/core";
import { type Command, Option } from "commander";
import type { ChartValues } from "../cluster/charts/renderChart.ts";
import type { RunHelm } from "../cluster/charts/runHelm.ts";

/** What a user gives of a chart's values. */
export interface ChartValuesOptions {
  readonly values?: readonly string[];
  readonly set?: readonly string[];
  readonly resetValues?: true;
}

/** Adds the options for values of a chart; `published`: those of the published command for files of values. */
export function withChartValues(command: Command, chart: string, published: string): Command {
  const repeatable = (flags: string, description: string): Option => new Option(flags, description).argParser(collected);
  // commander hands options over by their own names only.
  const name = new Option(published).attributeName();
  command.hook("preAction", (_, action) => {
    const files = action.getOptionValue(name) as readonly string[] | undefined;
    if (files === undefined) return;
    const values = (action.getOptionValue("values") as readonly string[] | undefined) ?? [];
    action.setOptionValueWithSource("values", [...files, ...values], "cli");
  });
  return command
    .addOption(repeatable("--values <file>", `values of the chart ${chart}, which Helm renders; - is the standard input; repeatable`))
    .addOption(repeatable("--set <key=value>", "one value of the chart, as Helm takes it; repeatable"))
    .option("--reset-values", "go back to the chart's defaults where an earlier run had values")
    .addOption(repeatable(published, "").hideHelp());
}

/** The values that a command has been given, and whether those of an earlier run end. Throws UsageError for both. */
export async function givenChartValues(
  { values: files = [], set: sets = [], resetValues }: ChartValuesOptions,
  runHelm: RunHelm | undefined,
): Promise<{ readonly values: (ChartValues & { readonly runHelm: RunHelm }) | undefined; readonly resetsValues: boolean }> {
  if (files.length === 0 && sets.length === 0) return { values: undefined, resetsValues: resetValues === true };
  if (resetValues === true)
    throw new UsageError("--reset-values and --values or --set are mutually exclusive: values replace all earlier ones");
  const helm = runHelm ?? (await import("../cluster/charts/runHelm.ts")).runHelm;
  return { values: { files, sets, runHelm: helm }, resetsValues: true };
}

function collected(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}
