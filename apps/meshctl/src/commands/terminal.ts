/** How many columns there are for messages: of the terminal, as COLUMNS says, or no limit where the output goes elsewhere. */
export function terminalColumns(): number {
  const said = Number(process.env["COLUMNS"]);
  return Number.isInteger(said) && said > 0 ? said : (process.stderr.columns ?? Number.POSITIVE_INFINITY);
}
