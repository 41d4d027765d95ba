import { posix } from "node:path";
import { ALWAYS } from "./suiteKeys.ts";

/** Whether one of these paths is an input of a test file, or of all of them. One that `isGone` may have been read with the others of its folder. */
export function affectedBy(changed: readonly string[], inputs: readonly string[], isGone: (path: string) => boolean): boolean {
  const known = new Set(inputs);
  const folders = new Set(inputs.map((path) => posix.dirname(path)));
  return changed.some((path) => known.has(path) || isOfAll(path) || (isGone(path) && folders.has(posix.dirname(path))));
}

function isOfAll(path: string): boolean {
  return ALWAYS.some((one) => path === one || path.startsWith(`${one}/`));
}
