import { UsageError } from "@isthmus/core";

/** The items of a page of an admin port. Throws UsageError for what is none: it may be the console, a proxy, or a program of another version. */
export function pageItems(page: string, path: string): readonly unknown[] {
  const items = itemsOf(parsedOrNone(page));
  if (items === undefined)
    throw new UsageError(
      `${path}: the answer is no list: is it the admin port of a management server (9091 by default), and not its console or another port?`,
    );
  return items;
}

function itemsOf(value: unknown): readonly unknown[] | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { items } = value as { readonly items?: unknown };
  return Array.isArray(items) ? items : undefined;
}

function parsedOrNone(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
