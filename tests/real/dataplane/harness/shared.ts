import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** Root of this project. */
export const projectRoot = fileURLToPath(new URL("../../../..", import.meta.url));

/** A file or folder of the material beside the project (variable ISTHMUS_SHARED, default `../shared`); undefined when it is not there. */
export function sharedPath(...parts: readonly string[]): string | undefined {
  const path = join(resolve(projectRoot, process.env["ISTHMUS_SHARED"] ?? "../shared"), ...parts);
  return existsSync(path) ? path : undefined;
}
