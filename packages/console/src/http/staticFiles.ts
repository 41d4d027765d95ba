import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

/** A file as it is sent. */
export interface StaticFile {
  readonly type: string;
  readonly content: Uint8Array;
  /** The same in gzip, where that is shorter. */
  readonly compressed: Uint8Array | undefined;
  readonly etag: string;
  /** Whether its name changes with its content. */
  readonly isImmutable: boolean;
}

/** The files of a directory, by the paths under which they are asked for. */
export interface StaticFiles {
  /** The file of a path, or index.html for one that is a page; undefined: there is none. */
  find(pathname: string): StaticFile | undefined;
}

/**
 * Reads the files of a directory, and of those below it, into memory: whatever is asked for, nothing else is ever read. Left out are source maps, hidden files, links, and what has
 * another extension than pages need. Rejects where the directory cannot be read, or holds more than a console.
 */
export async function readStaticFiles(directory: string): Promise<StaticFiles> {
  const files = new Map<string, StaticFile>();
  let bytes = 0;

  async function visit(folder: string, path: string, depth: number): Promise<void> {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const [file, under] = [join(folder, entry.name), `${path}/${entry.name}`];
      if (entry.name.startsWith(".")) continue;
      if (entry.isDirectory() && depth < MOST_DEEP) await visit(file, under, depth + 1);
      const type = TYPES.get(extname(entry.name));
      if (!entry.isFile() || type === undefined) continue;
      bytes += (await stat(file)).size;
      if (files.size >= MOST_FILES || bytes > MOST_BYTES) throw new Error(`${directory} holds more than the files of a console`);
      files.set(under, await fileOf(await readFile(file), { type, name: entry.name }));
    }
  }

  await visit(directory, "", 0);
  const index = files.get("/index.html");
  return { find: (pathname) => files.get(pathname) ?? (isPage(pathname) ? index : undefined) };
}

const MOST_DEEP = 4;
const MOST_FILES = 1_000;
const MOST_BYTES = 64 * 1024 * 1024;

const TYPES: ReadonlyMap<string, string> = new Map([
  [".css", "text/css; charset=utf-8"],
  [".html", "text/html; charset=utf-8"],
  [".ico", "image/x-icon"],
  [".js", "text/javascript; charset=utf-8"],
  [".json", "application/json"],
  [".png", "image/png"],
  [".svg", "image/svg+xml"],
  [".txt", "text/plain; charset=utf-8"],
  [".webmanifest", "application/manifest+json"],
  [".woff2", "font/woff2"],
]);

/** Whether a path is one of a page: pages name objects, in whose names there are dots. */
function isPage(pathname: string): boolean {
  return !/^\/(api|assets)(\/|$)/.test(pathname) && ![...TYPES.keys(), ".map"].includes(extname(pathname));
}

const compress = promisify(gzip);

async function fileOf(content: Buffer, { type, name }: { readonly type: string; readonly name: string }): Promise<StaticFile> {
  const compressed = await compress(content, { level: 9 });
  return {
    type,
    content,
    compressed: compressed.length < content.length ? compressed : undefined,
    etag: `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`,
    isImmutable: /[-.][\w-]{8,64}\.\w{1,8}$/.test(name) && !name.endsWith(".html"),
  };
}
