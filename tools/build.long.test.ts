import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { bundleApp } from "./build.mjs";

/** Packages that only some commands need, while they work: none of them is read when a command starts. */
const READ_LATE = [
  "@grpc/grpc-js",
  "@grpc/reflection",
  "@kubernetes/client-node",
  "@peculiar/x509",
  "grpc-health-check",
  "reflect-metadata",
  "ws",
];
const OF_SERVERS = ["@grpc/grpc-js", "@grpc/reflection", "@kubernetes/client-node", "grpc-health-check", "pino", "pino-pretty", "ws"];

it.each([
  ["meshctl", READ_LATE],
  ["agent", OF_SERVERS],
  ["mgmt-server", [...OF_SERVERS, "classic-level"].sort()],
])("bundles %s with what it needs to start", async (app, left) => {
  const folder = mkdtempSync(join(tmpdir(), "isthmus-build-"));
  try {
    await bundleApp(join(process.cwd(), "apps", app), folder);
    const outside = readdirSync(folder)
      .filter((file) => file.endsWith(".js"))
      .flatMap((file) => [...readFileSync(join(folder, file), "utf8").matchAll(/(?:\bfrom |^import |\bimport\()"([@a-z][^" ]*)"/gm)])
      .map(([, name = ""]) => name)
      .filter((name) => !isBuiltin(name));
    expect([...new Set(outside)].sort()).toEqual(left);
    if (app !== "meshctl") return;
    // The whole client would be, where it was imported beside its parts.
    const main = readFileSync(join(folder, "main.js"), "utf8");
    expect(main).not.toContain('from "@');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
