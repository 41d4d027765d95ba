import { UsageError } from "@isthmus/core";

/** The page with the input snapshot of a program, in as many parts as it takes. Throws UsageError for what is none. */
export async function inputSnapshot(page: (path: string) => Promise<string>): Promise<readonly string[]> {
  const parts: string[] = [];
  let next: string | undefined = "";
  while (next !== undefined) {
    if (parts.length === MOST_PARTS) {
      throw new UsageError(
        `${PATH}: more than ${MOST_PARTS * OBJECTS_IN_PART} objects: save those that are needed to files, and pass them with -f`,
      );
    }
    const part = await page(`${PATH}?limit=${OBJECTS_IN_PART}${next === "" ? "" : `&continue=${encodeURIComponent(next)}`}`);
    parts.push(part);
    next = continuationOf(part);
  }
  return parts;
}

const PATH = "/snapshots/input";
// Far below the bytes of one page, however large objects are on average; and more than any fleet has.
const [OBJECTS_IN_PART, MOST_PARTS] = [10_000, 100] as const;

function continuationOf(part: string): string | undefined {
  let list: { readonly items?: unknown; readonly metadata?: { readonly continue?: unknown } } | null;
  try {
    list = JSON.parse(part) as typeof list;
  } catch {
    list = null;
  }
  if (!Array.isArray(list?.items))
    throw new UsageError(`${PATH}: the answer is no list of objects: is it the admin port of a management server?`);
  const { continue: next } = list.metadata ?? {};
  return typeof next === "string" && next !== "" ? next : undefined;
}
