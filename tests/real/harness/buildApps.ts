import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Bundles the apps once for all suites, so that what runs is what the sources say now. With ISTHMUS_BUILT=1 they are as `npm ci` has just made them. */
export function setup(): void {
  if (process.env["ISTHMUS_BUILT"] === "1") return;
  execFileSync(process.execPath, [join(root, "tools/build.mjs")], { cwd: root, stdio: "inherit" });
}
