import { type Insight, insightsOf, intendedNames } from "@isthmus/insights";
import type { PrintedInsight } from "@isthmus/insights/report";
import type { ExitCode, Io } from "../io.ts";
import { plainText } from "../output/plainText.ts";
import { checkFiles, counted } from "./check.ts";
import { placeIn } from "./findings.ts";
import type { InsightsOptions } from "./insightsOptions.ts";
import { printInsights } from "./insightsReport.ts";

/** Files in, insights out: as text or for programs, on `out` both. */
export async function insightsOfFiles(
  options: InsightsOptions,
  { version, now }: { readonly version: string; readonly now: number },
  io: Io,
): Promise<ExitCode> {
  const { file, snapshot = [], namespace } = options;
  // Of a server it is known when it received objects, which decides conflicts; of files only when they were created.
  const ages = file === undefined ? "FIRST_SEEN" : "CREATED";
  const input = { file: file ?? snapshot, stage: "all", ages } as const;
  const { translation, count, rejected, sourceOf } = await checkFiles({ ...options, ...input }, io);
  const { byObject, cache } = insightsOf(translation, { namespace, now });
  const withNearMiss = intendedNames(cache.tables.inputs);
  const told = (insight: Insight): PrintedInsight => {
    const source = sourceOf(insight.object, insight.field) ?? sourceOf(insight.object, "");
    return { ...withNearMiss(insight), ...(source === undefined ? {} : placeIn(source)) };
  };
  if (rejected.length > 0) {
    const validate = file === undefined ? "" : `: see meshctl validate -f ${plainText(file.join(" "))}`;
    io.err(`${io.colors.yellow("warning:")} ${counted(rejected.length, "object")} cannot be used, so insights may be missing${validate}\n`);
  }
  const judged = [...byObject];
  const report = {
    shown: judged.flatMap(({ shown }) => shown.map(told)),
    suppressed: judged.flatMap(({ suppressed }) => suppressed.map(({ insight, ...why }) => ({ insight: told(insight), ...why }))),
    problems: judged.flatMap(({ problems }) => problems),
  };
  const code = await printInsights(report, options, { version, read: `${counted(count, "object")} read`, io });
  return code === 0 && rejected.length > 0 ? 3 : code;
}
