#!/usr/bin/env node
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`gloo-mesh-ui needs Node 20.19 or later; this is ${process.version}`);
  process.exit(2);
}
const built = new URL("../dist/main.js", import.meta.url);
if (!existsSync(fileURLToPath(built))) {
  console.error("gloo-mesh-ui is not built yet: run `npm run build` in the project's root");
  process.exit(2);
}
await import(built.href);
