import { plainJson } from "@isthmus/core";
import { yamlText } from "../offline/yamlText.ts";

/** Formats for programs. */
export type DataFormat = "json" | "yaml";

/** A value for programs, without what a terminal acts on. */
export function dataText(value: unknown, format: DataFormat): string {
  const plain = plainJson(value);
  return format === "json" ? `${JSON.stringify(plain, undefined, 2)}\n` : yamlText(plain);
}
