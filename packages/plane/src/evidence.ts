import { formatRef } from "@isthmus/core";
import type { Evidence } from "./ports.ts";

/** Why an object goes, in words for the log. */
export function reasonFor({ reason, inputs, snapshot }: Evidence): string {
  const since = snapshot === undefined ? "" : ` (snapshot ${snapshot})`;
  return `${reason === "InputRemoved" ? "gone" : "changed"}: ${inputs.map(formatRef).join(", ")}${since}`;
}
