import { readFileSync } from "node:fs";
import { parse } from "yaml";

/** A difference that we want, with its reason. */
export interface DeliberateDifference {
  /** Names of cases; `*` stands for any characters. */
  readonly case: string;
  readonly cases: RegExp;
  /** Paths as the comparison prints them; `*` stands for any characters. */
  readonly path: string;
  readonly paths: RegExp;
  readonly reason: string;
  /** Where it was decided. */
  readonly decision: string;
  /** False for a difference that follows from a decision, and that no case we know shows. */
  readonly isSeen: boolean;
}

/** Reads the list. Throws when an entry lacks something. */
export function readDeliberate(file: string | URL): readonly DeliberateDifference[] {
  const entries = (parse(readFileSync(file, "utf8")) ?? []) as readonly Readonly<Record<string, unknown>>[];
  return entries.map((entry, position) => {
    const text = (field: string): string => {
      const value = entry[field];
      if (typeof value !== "string" || value === "") throw new Error(`differences.yaml, entry ${position + 1}: ${field} is missing`);
      return value;
    };
    return {
      case: text("case"),
      cases: glob(text("case")),
      path: text("path"),
      paths: glob(text("path")),
      reason: text("reason"),
      decision: text("decision"),
      isSeen: entry["seen"] !== false,
    };
  });
}

/** A pattern in which `*` stands for any text. */
export function glob(pattern: string): RegExp {
  return new RegExp(
    `^${pattern
      .split("*")
      .map((part) => part.replace(/[\\^$.+?()[\]{}|]/g, "\\$&"))
      .join(".*")}$`,
    "s",
  );
}
