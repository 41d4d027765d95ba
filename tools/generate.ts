import { generatedCharts } from "./generatedCharts.ts";
import { generatedCrds } from "./generatedCrds.ts";
import { checkGenerated, type GeneratedFiles, writeGenerated } from "./generatedFiles.ts";
import { generatedFindings } from "./generatedFindings.ts";
import { generatedFolders } from "./generatedFolders.ts";
import { generatedKinds } from "./generatedKinds.ts";
import { generatedMetrics } from "./generatedMetrics.ts";
import { generatedSupport } from "./generatedSupport.ts";
import { generatedValues } from "./generatedValues.ts";
import { printsUsage } from "./generatorUsage.ts";

const GENERATORS: Readonly<Record<string, GeneratedFiles>> = {
  architecture: generatedFolders,
  charts: generatedCharts,
  crds: generatedCrds,
  findings: generatedFindings,
  kinds: generatedKinds,
  metrics: generatedMetrics,
  support: generatedSupport,
  values: generatedValues,
};

/** `npm run generate:NAME [-- --check]`: writes these files one after the other, as some follow from others, or says whether they are up to date. */
async function main(args: readonly string[]): Promise<number> {
  const check = args.includes("--check");
  let failed = false;
  for (const name of args.filter((arg) => arg !== "--check")) {
    const generated = GENERATORS[name];
    if (generated === undefined) throw new Error(`nothing generates ${name}: there are ${Object.keys(GENERATORS).join(", ")}`);
    const { summary, problems } = await (check ? checkGenerated : writeGenerated)(generated);
    if (!check) console.log(summary);
    for (const problem of problems) console.error(problem);
    failed ||= problems.length > 0;
  }
  return failed ? 1 : 0;
}

const [first = "NAME"] = process.argv.slice(2);
process.exitCode = printsUsage(`generate:${first}`) ? 0 : await main(process.argv.slice(2));
