// Bundles each app to apps/<app>/dist, main.js first. Workspace code is bundled in, packages from npm stay imports.
// Runs as npm's `prepare`, so it must need nothing but esbuild, and must do nothing where dev dependencies were left out.
import { existsSync, readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
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

const options = {
  bundle: true,
  platform: "node",
  target: "node20",
  format: "esm",
  // Stack traces name TypeScript lines.
  sourcemap: true,
  logLevel: "warning",
  plugins: [workspaceOnly],
  absWorkingDir: root,
};

/** Bundles one entry file into one file. */
export async function bundle(entry, outfile, plugins = []) {
  const { build } = await import("esbuild");
  await build({ ...options, plugins: [...options.plugins, ...plugins], entryPoints: [entry], outfile });
}

/**
 * Bundles an app, by its folder, to `outdir`, which then holds nothing else. What it imports late stays apart, so that a command does not load what only another one needs. Gives what
 * the bundle imports from npm and Node, as it is written there.
 */
export async function bundleApp(app, outdir) {
  const { build } = await import("esbuild");
  const result = await build({
    ...options,
    entryPoints: [join(app, "src/main.ts")],
    outdir,
    splitting: true,
    chunkNames: "[name]-[hash]",
    metafile: true,
  });
  const written = new Set(Object.keys(result.metafile.outputs).map((path) => basename(path)));
  for (const file of readdirSync(outdir)) if (!written.has(file)) rmSync(join(outdir, file), { recursive: true });
  const imports = Object.values(result.metafile.outputs).flatMap((output) => output.imports);
  return [...new Set(imports.filter(({ external }) => external).map(({ path }) => path))].sort();
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
  await Promise.all(apps.map((app) => bundleApp(app, join(app, "dist"))));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
