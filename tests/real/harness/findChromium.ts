import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The path of the browser; undefined: it is not installed. */
export function findChromium(): string | undefined {
  return (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "chromium"))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
