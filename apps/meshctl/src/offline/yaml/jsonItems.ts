/**
 * Where the elements of a JSON List's `items` begin and, at last, where they end; empty for other values. For a text that JSON.parse has
 * read: nothing is checked.
 */
export function jsonItemOffsets(text: string): readonly number[] {
  const offsets: number[] = [];
  let depth = 0;
  let key = "";
  let isElementNext = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      if (isElementNext) offsets.push(i);
      isElementNext = false;
      const end = stringEnd(text, i);
      if (depth === 1) key = keyAt(text, i, end) ?? key;
      i = end;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (isElementNext) offsets.push(i);
      isElementNext = ++depth === 2 && code === OPEN_BRACKET && key === "items";
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      isElementNext = false;
      if (--depth === 1 && code === CLOSE_BRACKET && key === "items") return offsets.length === 0 ? offsets : [...offsets, i];
    } else if (code === COMMA) {
      isElementNext = depth === 2 && key === "items" && offsets.length > 0;
    } else if (isElementNext && code > SPACE) {
      offsets.push(i);
      isElementNext = false;
    }
  }
  return [];
}

const [SPACE, QUOTE, COMMA, BACKSLASH] = [0x20, 0x22, 0x2c, 0x5c];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

/** The offset of the quote that ends a string. */
function stringEnd(text: string, begin: number): number {
  let end = begin + 1;
  while (end < text.length && text.charCodeAt(end) !== QUOTE) end += text.charCodeAt(end) === BACKSLASH ? 2 : 1;
  return end;
}

/** A string that a colon follows. */
function keyAt(text: string, begin: number, end: number): string | undefined {
  let next = end + 1;
  while (next < text.length && text.charCodeAt(next) <= SPACE) next++;
  return text[next] === ":" ? text.slice(begin + 1, end) : undefined;
}
