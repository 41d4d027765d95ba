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
];

it("bundles meshctl with all that it needs to start", async () => {
  const folder = mkdtempSync(join(tmpdir(), "isthmus-build-"));
  try {
    await bundleApp(join(process.cwd(), "apps/meshctl"), folder);
    const outside = readdirSync(folder)
      .filter((file) => file.endsWith(".js"))
      .flatMap((file) => [...readFileSync(join(folder, file), "utf8").matchAll(/(?:\bfrom |^import |\bimport\()"([@a-z][^" ]*)"/gm)])
      .map(([, name = ""]) => name)
      .filter((name) => !isBuiltin(name));
    expect([...new Set(outside)].sort()).toEqual(READ_LATE);
    // The whole client would be, where it was imported beside its parts.
    const main = readFileSync(join(folder, "main.js"), "utf8");
    expect(main).not.toContain('from "@');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
