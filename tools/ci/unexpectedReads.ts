import type { ProjectFiles } from "./projectFiles.ts";

/** What a suite read of the project that is not among its inputs; or what it read that git does not have, so that no hash of it is known. */
export function readsBeyond(
  inputs: readonly string[],
  reads: readonly string[],
  files: ProjectFiles,
): { readonly paths: readonly string[] } | { readonly unknown: string } {
  const known = new Set(inputs);
  const beyond: string[] = [];
  for (const path of reads) {
    const program = /^apps\/([^/]+)\/dist(?:\/|$)/.exec(path)?.[1];
    if (program !== undefined) {
      // Made of the sources, as the pages are.
      if (!known.has(`apps/${program}/src/main.ts`) && !known.has(`apps/${program}/client/main.tsx`))
        beyond.push(`apps/${program}`, "packages");
    } else if (files.has(path)) {
      if (!files.below(path).every((file) => known.has(file))) beyond.push(path);
    } else return { unknown: path };
  }
  return { paths: [...new Set(beyond)].sort() };
}
