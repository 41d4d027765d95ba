/** Structured log lines. `fields` are facts, `message` is for people. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}
export type LogFields = Readonly<Record<string, unknown>>;
