/** Bundles one entry file; `outfile` is written with a source map so that stack traces name TypeScript lines. */
export function bundle(entry: string, outfile: string, plugins?: readonly import("esbuild").Plugin[]): Promise<void>;
