import { type QuickDocument, quickYaml } from "./quickYaml.ts";

/**
 * A List as kubectl prints it, with the dashes of its items at the beginning of lines, read item by item: what a library makes of a text on
 * the way takes many times the memory of the text. `otherwise` reads an item that can't be read quickly, if it stands by itself. Undefined
 * for every other document.
 */
export function quickList(text: string, otherwise: (item: string) => unknown = () => undefined): QuickDocument | undefined {
  const places = itemPlaces(text);
  if (places === undefined) return undefined;
  const { begins, end } = places;
  const [first = 0] = begins;
  const envelope = quickYaml(text.slice(0, first) + text.slice(end))?.value;
  if (typeof envelope !== "object" || envelope === null || !Object.hasOwn(envelope, "items")) return undefined;
  const list = envelope as { items: unknown };
  // The key after which the items stand, and no other place that has that name.
  if (list.items !== null) return undefined;
  const items: unknown[] = [];
  for (const [i, begin] of begins.entries()) {
    const itemText = text.slice(begin, begins[i + 1] ?? end);
    const item = quickYaml(itemText)?.value ?? otherwise(itemText);
    if (!Array.isArray(item) || item.length !== 1) return undefined;
    items.push(item[0]);
  }
  list.items = items;
  return { value: list, itemOffsets: [...begins.map((begin) => begin + DASH.length), end] };
}

const ITEMS = "items:\n";
const DASH = "- ";

/** Where the lines with the dashes begin, and where the line after the last item does; undefined where that is not plain to see. */
function itemPlaces(text: string): { readonly begins: readonly number[]; readonly end: number } | undefined {
  const key = text.startsWith(ITEMS) ? 0 : text.indexOf(`\n${ITEMS}`) + 1;
  const first = key + ITEMS.length;
  if ((key === 0 && !text.startsWith(ITEMS)) || !text.startsWith(DASH, first)) return undefined;
  const begins: number[] = [];
  let end = first;
  while (end < text.length) {
    const start = text.charAt(end);
    if (start === "-") {
      const next = text.charAt(end + DASH.length);
      if (!text.startsWith(DASH, end) || next === " " || next === "\n" || next === "\r") return undefined;
      begins.push(end);
    } else if (start === "#" || start === "\t") {
      return undefined;
    } else if (start !== " " && start !== "\n" && start !== "\r") {
      return { begins, end };
    }
    const line = text.indexOf("\n", end);
    end = line === -1 ? text.length : line + 1;
  }
  return { begins, end };
}
