/** Bundles one entry file; `outfile` is written with a source map so that stack traces name TypeScript lines. */
export function bundle(entry: string, outfile: string, plugins?: readonly import("esbuild").Plugin[]): Promise<void>;

/** Bundles an app, by its folder, to `outdir`. Gives what the bundle imports from npm and Node, and what it has of them within it. */
export function bundleApp(app: string, outdir: string): Promise<readonly string[]>;

/** Bundles the browser's part of an app. Gives the files that the first page loads, as paths below `outdir`. */
export function bundleClient(
  app: string,
  outdir: string,
): Promise<{ readonly first: readonly string[]; readonly packages: readonly string[] }>;
