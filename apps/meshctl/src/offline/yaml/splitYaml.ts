/** One document of a text, with the marker it begins with. */
export interface YamlPiece {
  readonly text: string;
  /** The 1-based line on which it begins. */
  readonly line: number;
}

/**
 * A text of YAML in documents, so that each can be read by itself. Within a document no line begins with `---` and white space: not even
 * in a text of several lines (YAML 1.2.2, 9.1.2, c-forbidden). Undefined where directives or the marker `...` stand at the beginning of a
 * line, which hold for what follows them, and for the line breaks of old Macintoshes, which readers of YAML count differently.
 */
export function splitYaml(text: string): readonly YamlPiece[] | undefined {
  const pieces: YamlPiece[] = [];
  let start = 0;
  let startLine = 1;
  let line = 1;
  for (let begin = 0; begin < text.length; line++) {
    const marker = text.charCodeAt(begin);
    if (marker === PERCENT) return undefined;
    if (marker === DOT && isMarker(text, begin, "...")) return undefined;
    if (marker === HYPHEN && begin > 0 && isMarker(text, begin, "---")) {
      pieces.push({ text: text.slice(start, begin), line: startLine });
      start = begin;
      startLine = line;
    }
    const end = text.indexOf("\n", begin);
    if (end === -1) break;
    begin = end + 1;
  }
  pieces.push({ text: text.slice(start), line: startLine });
  if (hasLoneReturn(text)) return undefined;
  const [first, ...others] = pieces;
  // What stands before the first marker is a document only if something stands there.
  return first !== undefined && others.length > 0 && isBlank(first.text) ? others : pieces;
}

const [PERCENT, DOT, HYPHEN] = [0x25, 0x2e, 0x2d];

function isMarker(text: string, at: number, marker: string): boolean {
  if (!text.startsWith(marker, at)) return false;
  const after = text[at + marker.length];
  return after === undefined || after === " " || after === "\t" || after === "\n" || after === "\r";
}

function hasLoneReturn(text: string): boolean {
  for (let at = text.indexOf("\r"); at !== -1; at = text.indexOf("\r", at + 1)) if (text[at + 1] !== "\n") return true;
  return false;
}

/** Whether a text holds nothing but white space and comments. A byte order mark is neither. */
function isBlank(text: string): boolean {
  return !text.startsWith("---") && text.split("\n").every((line) => /^[ \t\r]*(?:#|$)/.test(line));
}
