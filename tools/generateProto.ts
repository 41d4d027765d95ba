import { rmSync } from "node:fs";
import { GENERATED, generateMessages } from "./generatedMessages.ts";
import { printsUsage } from "./generatorUsage.ts";

/** `npm run generate:proto`: writes the messages of the relay and of Envoy's services. The check `proto` says whether they are up to date. */
async function main(): Promise<number> {
  for (const folder of GENERATED) rmSync(folder, { recursive: true, force: true });
  const problems = await generateMessages(".");
  for (const problem of problems) console.error(problem);
  return problems.length > 0 ? 1 : 0;
}

process.exitCode = printsUsage("generate:proto") ? 0 : await main();
