import type { Log } from "@isthmus/core";

/** Says on standard error what goes wrong, when asked to by BENCH_LOG=1. */
export const benchLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: (fields, message) => told("warning", fields, message),
  error: (fields, message) => told("error", fields, message),
};

function told(level: string, fields: object, message: string): void {
  if (process.env["BENCH_LOG"] === "1") console.error(level, message, JSON.stringify(fields));
}
