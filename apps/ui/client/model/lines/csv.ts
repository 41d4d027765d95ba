/** Rows as CSV (RFC 4180). What a spreadsheet would compute is prefixed with an apostrophe. */
export function csvText(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(field).join(",")}\r\n`).join("");
}

function field(text: string): string {
  const first = text.slice(0, 1);
  const safe = first !== "" && "=+-@\t\r".includes(first) ? `'${text}` : text;
  return [",", '"', "\n", "\r"].some((char) => safe.includes(char)) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
