import type { Page } from "./pages.ts";

/** A page of things that happened or are, one a line: `{"items":[...]}`. */
export function listPage(items: () => Iterable<object>): Page {
  return function* () {
    yield '{"items":[';
    let separator = "\n";
    for (const item of items()) {
      yield `${separator}${JSON.stringify(item)}`;
      separator = ",\n";
    }
    yield "\n]}\n";
  };
}
