// Bundles each app to apps/<app>/dist, main.js first. Workspace code is bundled in, packages from npm stay imports, but for those of `INLINED`.
// Runs as npm's `prepare`, so it must need nothing but esbuild, and must do nothing where dev dependencies were left out.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { basename, dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** What every program reads as it starts, wherever it goes on to. */
const READ_AT_START = [
  "@bufbuild/protobuf",
  "@kubernetes/client-node/dist/",
  "@noble/hashes",
  "@sinclair/typebox",
  "ajv",
  "commander",
  "js-yaml",
  "yaml",
];
/** What the servers read besides. What reads files beside its own (gRPC's health and reflection), or has parts of C++ (classic-level), is outside, with what it shares. */
const READ_BY_SERVERS = [...READ_AT_START, "@peculiar/x509", "prom-client", "reflect-metadata"];

/**
 * What an app reads from its own bundle, as it starts: to find and read the 450 files of these packages takes meshctl longer than all else, and
 * the 900 of a server half of its start. They are pure JavaScript, and stay dependencies of the app, in the same versions: so lists of its content name them.
 */
const INLINED = {
  meshctl: [...READ_AT_START, "js-yaml5", "picocolors"],
  agent: READ_BY_SERVERS,
  "mgmt-server": [...READ_BY_SERVERS, "ioredis"],
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
  // A bundled package requires what it has to be there; what is not, such as the colours of `debug`, it tries in vain.
  const outside = imports.filter(({ external, kind }) => external && kind !== "require-call").map(({ path }) => path);
  return [...new Set([...outside, ...inlined])].sort();
}

/**
 * Bundles the browser's part of an app, its folder `client`, to `outdir`: index.html, and below `assets` files whose names change with their content. All of npm is bundled in. There is
 * no source map, as it would have paths of this machine. Gives the files that the first page loads, the largest first, as paths below `outdir`, and the places in the lock file of the
 * packages that are in the pages.
 */
export async function bundleClient(app, outdir) {
  const { build } = await import("esbuild");
  const client = join(app, "client");
  const assets = join(outdir, "assets");
  rmSync(outdir, { recursive: true, force: true });
  mkdirSync(outdir, { recursive: true });
  const { metafile } = await build({
    bundle: true,
    platform: "browser",
    target: "es2022",
    format: "esm",
    jsx: "automatic",
    minify: true,
    sourcemap: false,
    legalComments: "none",
    logLevel: "warning",
    absWorkingDir: root,
    entryPoints: [join(client, "main.tsx")],
    outdir: assets,
    publicPath: "/assets",
    splitting: true,
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    // The worker of the graph's layout is a file of its own.
    loader: { ".min.js": "file" },
    // Generated code is what the page's policy forbids.
    ...(existsSync(join(client, "translation/schemaValidator.ts"))
      ? { alias: { ajv: join(client, "translation/schemaValidator.ts") } }
      : {}),
    define: { "process.env.NODE_ENV": '"production"' },
    metafile: true,
  });
  const outputs = Object.entries(metafile.outputs).map(([path, output]) => ({ name: basename(path), ...output }));
  const main = outputs.find(({ entryPoint }) => entryPoint?.endsWith("main.tsx"));
  const style = basename(main.cssBundle);
  const first = new Set([main.name]);
  // A set also gives what is added while it is read.
  for (const name of first) {
    const imports = outputs.find((output) => output.name === name)?.imports ?? [];
    for (const { kind, path } of imports) if (kind === "import-statement") first.add(basename(path));
  }
  const html = readFileSync(join(client, "index.html"), "utf8");
  writeFileSync(join(outdir, "index.html"), html.replace("/main.css", `/assets/${style}`).replace("/main.js", `/assets/${main.name}`));
  return {
    first: ["index.html", ...[style, ...first].map((name) => `assets/${name}`)],
    packages: packagesIn(outputs.flatMap(({ inputs }) => Object.entries(inputs))),
  };
}

/** `node_modules/a/node_modules/@scope/b/file.js` is of `node_modules/a/node_modules/@scope/b`. What is not in a package of npm is ours. */
function packagesIn(inputs) {
  const places = inputs.flatMap(([path, { bytesInOutput }]) => {
    const [, place] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
    return place === undefined || bytesInOutput === 0 ? [] : [place];
  });
  return [...new Set(places)].sort();
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
  const ui = join(root, "apps/ui");
  if (existsSync(join(ui, "client/main.tsx"))) await bundleClient(ui, join(ui, "dist/client"));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
