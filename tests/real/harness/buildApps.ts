import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Bundles the apps once for all suites, so that what runs is what the sources say now. */
export function setup(): void {
  execFileSync(process.execPath, [join(root, "tools/build.mjs")], { cwd: root, stdio: "inherit" });
}
