// Bundles each app to apps/<app>/dist, main.js first. Workspace code is bundled in, packages from npm stay imports, but for those of `INLINED`.
// Runs as npm's `prepare`, so it must need nothing but esbuild, and must do nothing where dev dependencies were left out.
import { existsSync, readdirSync, rmSync } from "node:fs";
import { isBuiltin } from "node:module";
import { basename, dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/**
 * What an app reads from its own bundle, as it starts for each command: to find and read the 450 files of these packages takes longer than all
 * else. They are pure JavaScript, and stay dependencies of the app, in the same versions: so lists of its content name them.
 */
const INLINED = {
  meshctl: [
    "@bufbuild/protobuf",
    "@kubernetes/client-node/dist/",
    "@noble/hashes",
    "@sinclair/typebox",
    "ajv",
    "commander",
    "js-yaml",
    "js-yaml5",
    "picocolors",
    "yaml",
  ],
};

/** Whether an import is of one of these packages, or below a folder of one that ends with a slash. */
function isOf(packages, path) {
  return packages.some((name) => path === name || path.startsWith(name.endsWith("/") ? name : `${name}/`));
}

const inlining = (packages) => ({
  name: "inlined-packages",
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, ({ path, importer }) => {
      const isInlined = isOf(packages, path) || importer.includes(`${sep}node_modules${sep}`);
      return isInlined && !isBuiltin(path) ? undefined : workspaceOrExternal(path);
    });
  },
});

const workspaceOnly = {
  name: "workspace-only",
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, ({ path, kind }) => (kind === "entry-point" ? undefined : workspaceOrExternal(path)));
  },
};

function workspaceOrExternal(path) {
  return path.startsWith("@isthmus/") ? undefined : { path, external: true };
}

// Packages that are CommonJS require Node's own modules.
const REQUIRE = 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);';

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
 * the bundle imports from npm and Node, as it is written there, and what it has of them within it.
 */
export async function bundleApp(app, outdir) {
  const { build } = await import("esbuild");
  const inlined = INLINED[basename(app)] ?? [];
  const result = await build({
    ...options,
    plugins: inlined.length === 0 ? options.plugins : [inlining(inlined)],
    banner: inlined.length === 0 ? {} : { js: REQUIRE },
    entryPoints: [join(app, "src/main.ts")],
    outdir,
    splitting: true,
    chunkNames: "[name]-[hash]",
    metafile: true,
  });
  const written = new Set(Object.keys(result.metafile.outputs).map((path) => basename(path)));
  for (const file of readdirSync(outdir)) if (!written.has(file)) rmSync(join(outdir, file), { recursive: true });
  const imports = Object.values(result.metafile.outputs).flatMap((output) => output.imports);
  const outside = imports.filter(({ external }) => external).map(({ path }) => path);
  return [...new Set([...outside, ...inlined])].sort();
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
