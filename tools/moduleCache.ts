import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vitest/config";

/** Where vitest keeps what it has made of the sources, from run to run; `npm ci` empties it. */
export const MODULE_CACHE = "node_modules/.cache/isthmus/vitest";

/**
 * A plugin for a configuration of vitest that keeps transformed modules in files (`experimental.fsModuleCache`). Vitest keeps them by path, content
 * and configuration. A module has the paths of what it imports, too, and where the import of a package leads is in the package.json of that package.
 */
export function keyedByPackages(root: string): Plugin {
  const key = hashOfPackages(root);
  return {
    name: "isthmus:keyed-by-packages",
    configureVitest({ experimental_defineCacheKeyGenerator: define }) {
      define(() => key);
    },
  };
}

/** Of the contents of package.json in all packages and apps of the repository. */
function hashOfPackages(root: string): string {
  const hash = createHash("sha256");
  for (const folder of ["apps", "packages"]) {
    for (const name of readdirSync(join(root, folder)).sort()) {
      const path = join(folder, name, "package.json");
      if (existsSync(join(root, path))) hash.update(`${path}\n`).update(readFileSync(join(root, path)));
    }
  }
  return hash.digest("hex").slice(0, 16);
}
