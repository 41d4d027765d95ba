import type { Resource } from "@isthmus/core";
import { ClusterError, type Malformed, type ResourceList, type WholeListOptions } from "@isthmus/plane/ports";
import { asRead, checked, type WireObject } from "./objects.ts";
import { collectionPath } from "./paths.ts";
import { call } from "./request.ts";
import { selectionQuery } from "./selectors.ts";
import type { Target } from "./target.ts";

// A Pod as it is sent may take 10 KB and its JSON thrice as much while it is read: a page is some megabytes. Kubernetes' own client
// asks for 500.
const PAGE_SIZE = 200;

interface WireList {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: readonly WireObject[] | null;
}

/** All objects of a kind, page by page, as of one resourceVersion. */
export async function listAll<R extends Resource>(
  target: Target<R>,
  options: WholeListOptions<R>,
  signal?: AbortSignal,
): Promise<ResourceList<R>> {
  const query = selectionQuery(options);
  try {
    return await pages(target, options, { ...query, limit: String(PAGE_SIZE) }, signal);
  } catch (error) {
    // The paging took longer than the server keeps an old state: once more, in one piece.
    if (!(error instanceof ClusterError) || error.code !== "Expired") throw error;
    return pages(target, options, query, signal);
  }
}

async function pages<R extends Resource>(
  target: Target<R>,
  { namespace, keep }: WholeListOptions<R>,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<ResourceList<R>> {
  const { connection, clusterName, kind, collection } = target;
  const path = collectionPath(collection, namespace);
  const items: R[] = [];
  const malformed: Malformed[] = [];
  let continuation: string | undefined;
  while (true) {
    const pageQuery = continuation === undefined ? query : { ...query, continue: continuation };
    const page = (await call(connection, { method: "GET", path, query: pageQuery }, signal)) as WireList;
    for (const object of page.items ?? []) {
      const result = checked(kind, asRead(object, collection, clusterName), keep);
      if ("resource" in result) items.push(result.resource);
      else malformed.push(result.malformed);
    }
    continuation = page.metadata?.continue || undefined;
    if (continuation === undefined) return { items, malformed, resourceVersion: page.metadata?.resourceVersion ?? "" };
  }
}
