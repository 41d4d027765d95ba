import { findProgram } from "./findProgram.ts";

/** The path of the browser; undefined: it is not installed. */
export function findChromium(): string | undefined {
  return findProgram("chromium");
}
