import { givenColumns } from "../../io.ts";

/** How many columns there are for messages: of the terminal, as COLUMNS says, or no limit where the output goes elsewhere. */
export function terminalColumns(): number {
  return givenColumns(process.env) ?? process.stderr.columns ?? Number.POSITIVE_INFINITY;
}
