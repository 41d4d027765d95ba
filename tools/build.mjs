// Bundles each app to apps/<app>/dist/main.js. Workspace code is bundled in, packages from npm stay imports.
// Runs as npm's `prepare`, so it must need nothing but esbuild, and must do nothing where dev dependencies were left out.
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

const workspaceOnly = {
  name: "workspace-only",
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === "entry-point" || path.startsWith("@isthmus/") ? undefined : { path, external: true },
    );
  },
};

/** Bundles one entry file; `outfile` is written with a source map so that stack traces name TypeScript lines. */
export async function bundle(entry, outfile) {
  const { build } = await import("esbuild");
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    sourcemap: true,
    logLevel: "warning",
    plugins: [workspaceOnly],
    absWorkingDir: root,
  });
}

async function main() {
  try {
    await import("esbuild");
  } catch {
    console.error("esbuild is not installed (production install?): apps are not built");
    return;
  }
  const apps = readdirSync(join(root, "apps"))
    .map((app) => join(root, "apps", app))
    .filter((app) => existsSync(join(app, "src/main.ts")));
  await Promise.all(apps.map((app) => bundle(join(app, "src/main.ts"), join(app, "dist/main.js"))));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
