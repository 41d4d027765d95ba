/** A page that only some may read: gives its JSON text bit by bit. An empty bit lets others have their turn. */
export type Page = (query: URLSearchParams) => Iterable<string>;

/** Text of another type than JSON. */
export interface TypedText {
  readonly contentType: string;
  readonly text: Iterable<string>;
}

/** A page for which others must be asked first. Who reads it waits for them. */
export type AsyncPage = (query: URLSearchParams) => Promise<Iterable<string>>;

/** A page whose text has a type of its own. */
export type TypedPage = (query: URLSearchParams) => TypedText;

/** A page for scrapers of Prometheus. */
export function textPage(page: (query: URLSearchParams) => Iterable<string>): TypedPage {
  return (query) => ({ contentType: "text/plain; version=0.0.4; charset=utf-8", text: page(query) });
}

/** What is asked by a text that is sent: JSON bit by bit, as long as `signal` is not aborted. */
export type PostPage = (query: URLSearchParams, content: string, signal: AbortSignal) => AsyncIterable<string>;

/** What a page refuses, with the status and the text that the reader gets. */
export class PageRefusal extends Error {
  override readonly name = "PageRefusal";
  readonly status: 400 | 404 | 429;

  constructor(status: PageRefusal["status"], message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * The page of a path: of the path itself, or one with a part in braces, such as `/v1/apis/{id}/schema`, whose value is a parameter of `query`
 * then, in place of one that was given.
 */
export function pageAt<P>(pages: Readonly<Record<string, P>>, path: string, query: URLSearchParams): P | undefined {
  if (Object.hasOwn(pages, path)) return pages[path];
  const parts = path.split("/");
  if (parts.length > MOST_PARTS) return undefined;
  for (const [template, page] of Object.entries(pages)) {
    const expected = template.split("/");
    if (expected.length !== parts.length || !template.includes("{")) continue;
    const values = expected.map((part, at) => valueOfPart(part, parts[at] ?? ""));
    if (values.includes(undefined)) continue;
    expected.forEach((part, at) => {
      if (part.startsWith("{")) query.set(part.slice(1, -1), values[at] ?? "");
    });
    return page;
  }
  return undefined;
}

/** Undefined: it is not that part. */
function valueOfPart(part: string, given: string): string | undefined {
  if (!part.startsWith("{")) return part === given ? given : undefined;
  try {
    return given === "" ? undefined : decodeURIComponent(given);
  } catch {
    return undefined;
  }
}

const MOST_PARTS = 16;
