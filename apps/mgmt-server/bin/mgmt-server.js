#!/usr/bin/env node
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const built = new URL("../dist/main.js", import.meta.url);
if (!existsSync(fileURLToPath(built))) {
  console.error("gloo-mesh-mgmt-server is not built yet: run `npm run build` in the project's root");
  process.exit(2);
}
await import(built.href);
