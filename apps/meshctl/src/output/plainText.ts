/** Text from a cluster, as it may go to a terminal: one line, at most `most` characters, nothing that moves the cursor or hides what follows. */
export function plainText(text: string, most = LONGEST): string {
  let result = "";
  // Twice as much is looked at, so that a text which begins with what is left out is still shown.
  for (const character of text.slice(0, 2 * most)) {
    const code = character.codePointAt(0) ?? 0;
    if (isSpace(code)) result += result.endsWith(" ") ? "" : " ";
    else if (!isHidden(code)) result += character;
  }
  const line = result.trim();
  return line.length > most || text.length > 2 * most ? `${line.slice(0, most - 1)}…` : line;
}

// A sentence of a status has a few hundred.
const LONGEST = 2_048;

/** The same of all texts in a JSON value, keys included; line breaks and tabs in values stay. Deeper than `MAX_DEPTH` nothing is shown. */
export function plainJson(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return withoutHidden(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) return "…";
  if (Array.isArray(value)) return value.map((item: unknown) => plainJson(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [withoutHidden(key), plainJson(member, depth + 1)]));
}

const MAX_DEPTH = 200;

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
const CARRIAGE_RETURN = 13;

function isSpace(code: number): boolean {
  return code === TAB || code === LINE_FEED || code === CARRIAGE_RETURN || code === 32;
}

/** Control characters (C0, DEL, C1), and those without width or that change the direction of what follows. */
function isHidden(code: number): boolean {
  return code < 32 || (code >= 0x7f && code <= 0x9f) || HIDDEN.some(([from, to]) => code >= from && code <= to);
}

const HIDDEN = [
  [0x061c, 0x061c],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0xfeff, 0xfeff],
] as const;
