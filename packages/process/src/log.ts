import { type Logger, pino, stdTimeFunctions } from "pino";
import pretty from "pino-pretty";

/** Log lines: text on a terminal, else one JSON object a line with the keys level, ts, logger and msg. */
export function createLog({ logger, verbose }: { readonly logger: string; readonly verbose: boolean }): Logger {
  const options = {
    level: verbose ? "debug" : "info",
    messageKey: "msg",
    base: { logger },
    timestamp: () => stdTimeFunctions.isoTime().replace('"time"', '"ts"'),
    formatters: { level: (label: string) => ({ level: label }) },
  };
  if (!process.stderr.isTTY) return pino(options, pino.destination(2));
  return pino(
    options,
    pretty({
      destination: 2,
      sync: true,
      ignore: "logger",
      timestampKey: "ts",
      messageKey: "msg",
      translateTime: "HH:MM:ss.l",
      singleLine: true,
    }),
  );
}
