#!/usr/bin/env node
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`gloo-mesh-mgmt-server needs Node 20.19 or later; this is ${process.version}`);
  process.exit(2);
}
const built = new URL("../dist/main.js", import.meta.url);
if (!existsSync(fileURLToPath(built))) {
  console.error("gloo-mesh-mgmt-server is not built yet: run `npm run build` in the project's root");
  process.exit(2);
}
// V8 reads these when it starts, and Node warns of setting them later: so the program replaces itself by one that has them, in the same
// process. Where that cannot be done (before Node 22.15, and on Windows) it takes more memory (docs/decisions/0043).
const flags = ["--heap-growing-percent=50"].filter(
  (flag) => !process.execArgv.some((given) => given.startsWith(flag.slice(0, flag.indexOf("=") + 1))),
);
if (process.execve !== undefined && flags.length > 0) {
  process.execve(process.execPath, [process.execPath, ...flags, ...process.execArgv, ...process.argv.slice(1)], process.env);
}
await import(built.href);
