import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleApp } from "../../../tools/build.mjs";
import { documentedProgram } from "../src/meshctl.ts";
import { commandsBelow } from "./commandTree.ts";
import { runOf } from "./meshctlProcess.ts";
import { recordedIo } from "./recordedIo.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** What a command needs beside its path, to get to its first request; what starts nothing that loads packages needs nothing. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  translate: ["-f", "/dev/null"],
  validate: ["-f", "/dev/null"],
  insights: ["-f", "/dev/null"],
  "insights explain": ["RTE1001"],
  completion: ["bash"],
  "snapshot save": ["fleet.json"],
  "snapshot serve": ["/dev/null"],
  wait: ["tpol/a", "--for=condition=Applied"],
  "what-if": ["--without", "east", "-f", "/dev/null"],
  "explain delete": ["VirtualService/a/b", "--cluster", "east"],
  "cert inspect": ["a"],
  "cert rotate": ["a"],
  "cluster register": ["east", "--remote-context", "one"],
  "cluster deregister": ["east", "--remote-context", "one"],
  "cluster trust-domain accept": ["east", "east.example"],
  "cluster confirm-removed": ["east", "istio-system/istiod"],
  "cluster token create": ["--cluster", "east"],
};
/** Those that take the name of a cluster. */
const NAMED = ["describe", "diagnose", "pause", "resume", "revoke", "replace"].map((name) => `cluster ${name}`);

const paths = commandsBelow(documentedProgram(recordedIo()), "").map(({ path }) => path.trimStart());

/** Writes down each package that is imported, beside the modules of Node. */
const HOOKS = `
import { appendFileSync } from "node:fs";
import { isBuiltin } from "node:module";
export async function resolve(specifier, context, next) {
  if (/^[@a-z]/.test(specifier) && !/^(node|file|data):/.test(specifier) && !isBuiltin(specifier)) appendFileSync(process.env.IMPORTED, specifier + "\\n");
  return next(specifier, context);
}`;
const PRELOAD = `
import { register } from "node:module";
register("data:text/javascript," + encodeURIComponent(${JSON.stringify(HOOKS)}));`;

/** Of an API server that is not there: a command ends with its first request, and has loaded what it needs for that. */
const KUBECONFIG = JSON.stringify({
  clusters: [{ name: "one", cluster: { server: "https://127.0.0.1:1" } }],
  users: [{ name: "one", user: { token: "t" } }],
  contexts: [{ name: "one", context: { cluster: "one", user: "one" } }],
  "current-context": "one",
});

describe("until its first request", () => {
  let folder = "";
  beforeAll(async () => {
    // Below node_modules, so that npm packages resolve from there.
    folder = mkdtempSync(join(ROOT, "node_modules/.meshctl-startup-"));
    mkdirSync(join(folder, "dist"));
    await bundleApp(join(ROOT, "apps/meshctl"), join(folder, "dist"));
    writeFileSync(join(folder, "kubeconfig"), KUBECONFIG);
    writeFileSync(join(folder, "preload.mjs"), PRELOAD);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  // Each takes a process: those that share all their code before the first request are tried once.
  const tried = paths.filter((path) => !/^(get|describe) (?!meshes|mesh)/.test(path));
  it.each(tried)("meshctl %s imports no package from npm", async (path) => {
    const imported = join(folder, "imported");
    writeFileSync(imported, "");
    const args = [...path.split(" "), ...(ARGUMENTS[path] ?? (NAMED.includes(path) ? ["east"] : []))];
    const env = { ...process.env, KUBECONFIG: join(folder, "kubeconfig"), IMPORTED: imported };
    const preload = ["--import", join(folder, "preload.mjs")];
    const child = spawn(process.execPath, [...preload, join(folder, "dist/main.js"), ...args], { cwd: folder, env, timeout: 100_000 });
    const { code, err } = await runOf(child);
    // It got that far: it did not stumble over its arguments.
    if (code !== 0) expect(err).toMatch(/127\.0\.0\.1:1|no objects found/);
    expect([...new Set(readFileSync(imported, "utf8").split("\n"))].filter((name) => name !== "")).toEqual([]);
  });
});
