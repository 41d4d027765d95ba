import type { Resource } from "@isthmus/core";
import { ClusterError, type Malformed, type ResourceList, type WholeListOptions } from "@isthmus/ports";
import { asListed, parsedObject } from "./objects.ts";
import { collectionPath } from "./paths.ts";
import { call, ResponseTooLarge } from "./request.ts";
import { selectionQuery } from "./selectors.ts";
import type { WatchTarget } from "./target.ts";

// A Pod as it is sent may take 10 KB and its JSON thrice as much while it is read: a page is some megabytes. Kubernetes' own client
// asks for 500.
const PAGE_SIZE = 200;
// Of objects that are many times as large, a page holds fewer.
const SMALL_PAGE_SIZE = 10;
const MAX_PAGE_BYTES = 64 * 1024 * 1024;
// In one piece, what is more than Node could hold as one text anyway.
const MAX_WHOLE_BYTES = 256 * 1024 * 1024;
// Several times the pods that Kubernetes supports in one cluster. Source: kubernetes.io/docs/setup/best-practices/cluster-large
const MAX_OBJECTS = 1_000_000;
// A page may be empty where all that it stands for was filtered out.
const MAX_EMPTY_PAGES = 1_000;

interface Page {
  readonly items: readonly unknown[];
  readonly resourceVersion: string;
  readonly continuation: string | undefined;
}

/** All objects of a kind, page by page, as of one resourceVersion. */
export async function listAll<R extends Resource>(
  target: WatchTarget<R>,
  options: WholeListOptions<R>,
  signal?: AbortSignal,
): Promise<ResourceList<R>> {
  const query = selectionQuery(options);
  const read = (limit: number, maxBytes: number) =>
    pages(target, options, { query: { ...query, ...(limit === 0 ? {} : { limit: String(limit) }) }, maxBytes }, signal);
  try {
    return await read(PAGE_SIZE, MAX_PAGE_BYTES);
  } catch (error) {
    if (error instanceof ResponseTooLarge) return read(SMALL_PAGE_SIZE, MAX_PAGE_BYTES);
    // The paging took longer than the server keeps an old state: once more, in one piece.
    if (!(error instanceof ClusterError) || error.code !== "Expired") throw error;
    return read(0, MAX_WHOLE_BYTES);
  }
}

async function pages<R extends Resource>(
  target: WatchTarget<R>,
  { namespace, transform: keep }: WholeListOptions<R>,
  { query, maxBytes }: { readonly query: Readonly<Record<string, string>>; readonly maxBytes: number },
  signal: AbortSignal | undefined,
): Promise<ResourceList<R>> {
  const { connection, kind, collection } = target;
  const path = collectionPath(collection, namespace);
  const items: R[] = [];
  const malformed: Malformed[] = [];
  let continuation: string | undefined;
  let emptyPages = 0;
  while (true) {
    const pageQuery = continuation === undefined ? query : { ...query, continue: continuation };
    const page = pageOf(await call(connection, { method: "GET", path, query: pageQuery }, signal, maxBytes), target);
    emptyPages = page.items.length === 0 ? emptyPages + 1 : 0;
    if (items.length + malformed.length + page.items.length > MAX_OBJECTS || emptyPages > MAX_EMPTY_PAGES) {
      throw new ClusterError("Unavailable", `${connection.server} never ends the list of ${collection.plural}`);
    }
    for (const object of page.items) {
      const result = parsedObject(kind, asListed(object, target), keep);
      if ("resource" in result) items.push(result.resource);
      else malformed.push(result.malformed);
    }
    continuation = page.continuation;
    if (continuation === undefined) return { items, malformed, resourceVersion: page.resourceVersion };
  }
}

function pageOf(answer: unknown, { connection, collection }: WatchTarget<Resource>): Page {
  const { items, metadata } = (answer ?? {}) as { readonly items?: unknown; readonly metadata?: unknown };
  const { resourceVersion = "", continue: continuation = "" } = (metadata ?? {}) as Readonly<Record<string, unknown>>;
  if (!Array.isArray(items ?? []) || typeof resourceVersion !== "string" || typeof continuation !== "string") {
    throw new ClusterError("Unavailable", `${connection.server} does not return a list of ${collection.plural}`);
  }
  return { items: (items ?? []) as readonly unknown[], resourceVersion, continuation: continuation === "" ? undefined : continuation };
}
