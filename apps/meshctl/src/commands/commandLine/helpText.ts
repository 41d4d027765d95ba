/** Exit codes of a command that prints what it is asked for. */
export const READ_EXIT_CODES = `
Exit codes: 0 printed, 2 usage error, no answer, or no permission.`;

/** Exit codes of a command that changes one thing at once. */
export const WRITE_EXIT_CODES = `
Exit codes: 0 done, or with --dry-run tried, 2 usage error, no answer, or no permission.`;

/** The examples of a help text: command lines, and comments above them. */
export function examples(...lines: readonly string[]): string {
  return `\n\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`;
}
