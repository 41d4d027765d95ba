/** A JSON value with `withoutHidden` of all its texts, keys included; line breaks and tabs in values stay. Deeper than 200 levels nothing is shown. */
export function plainJson(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return withoutHidden(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= DEEPEST) return "…";
  if (Array.isArray(value)) return value.map((item: unknown) => plainJson(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [withoutHidden(key), plainJson(member, depth + 1)]));
}

const DEEPEST = 200;

/** Text without what a terminal acts on; it stays as long as it is, with its line breaks. */
export function withoutHidden(text: string): string {
  let result = "";
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === TAB || code === LINE_FEED || !isHidden(code)) continue;
    result += text.slice(from, i);
    from = i + 1;
  }
  return from === 0 ? text : result + text.slice(from);
}

const TAB = 9;
const LINE_FEED = 10;

/** Whether nobody sees a character, by its code: control characters (C0, DEL, C1), and those without width or that change the direction of what follows. */
export function isHidden(code: number): boolean {
  return code < 32 || (code >= 0x7f && code <= 0x9f) || HIDDEN.some(([from, to]) => code >= from && code <= to);
}

const HIDDEN = [
  [0x061c, 0x061c],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0xfeff, 0xfeff],
] as const;
