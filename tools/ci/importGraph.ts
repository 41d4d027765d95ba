import { build, type Plugin } from "esbuild";

/** What the source files of the project import when they run, by paths relative to its root. */
export interface ImportGraph {
  /** These files, and all of the project that they import, however far. A path that is no source file is left out. */
  closureOf(paths: Iterable<string>): ReadonlySet<string>;
  /** What a file imports that is not of the project: packages of npm and modules of Node, as written there. */
  outsideOf(path: string): readonly string[];
}

/** Reads what `sources` import, as bundling sees it. Throws where an import of one of them leads nowhere. */
export async function readImportGraph(root: string, sources: readonly string[]): Promise<ImportGraph> {
  const { metafile } = await build({
    absWorkingDir: root,
    // Nothing runs it: one module that imports each file reads each of them once.
    stdin: { contents: sources.map((path) => `import ${JSON.stringify(`./${path}`)};`).join("\n"), resolveDir: root, loader: "ts" },
    bundle: true,
    write: false,
    outfile: "all.js",
    metafile: true,
    platform: "node",
    format: "esm",
    jsx: "automatic",
    logLevel: "silent",
    loader: { ".css": "empty", ".min.js": "empty", ".node": "empty", ".wasm": "empty" },
    plugins: [onlyOurs],
  });
  const within = new Map<string, readonly string[]>();
  const outside = new Map<string, readonly string[]>();
  for (const [path, { imports }] of Object.entries(metafile.inputs)) {
    within.set(
      path,
      imports.filter(({ external }) => external !== true).map((one) => one.path),
    );
    outside.set(
      path,
      imports.filter(({ external }) => external === true).map((one) => one.path),
    );
  }
  return {
    closureOf(paths) {
      const reached = new Set<string>();
      const add = (path: string): void => {
        if (within.has(path)) reached.add(path);
      };
      for (const path of paths) add(path);
      // A set also gives what is added while it is read.
      for (const path of reached) for (const next of within.get(path) ?? []) add(next);
      return reached;
    },
    outsideOf: (path) => outside.get(path) ?? [],
  };
}

const onlyOurs: Plugin = {
  name: "only-ours",
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === "entry-point" || path.startsWith("@isthmus/") ? undefined : { path, external: true },
    );
  },
};
