import { Command } from "commander";
import { version } from "../../package.json";
import type { Io } from "../io.ts";

/** `meshctl version`: indented JSON, as the published meshctl prints it. */
export function versionCommand(io: Io): Command {
  return new Command("version")
    .description("Print the version of meshctl as JSON.")
    .allowExcessArguments(false)
    .action(() => io.out(`${JSON.stringify({ client: { version } }, undefined, 2)}\n`))
    .addHelpText("after", "\nExamples:\n  meshctl version\n  meshctl version | jq -r .client.version");
}
