/** One top-level JSON value of a text. */
export interface JsonPiece {
  readonly text: string;
  /** The 1-based line on which it begins. */
  readonly line: number;
}

/**
 * The top-level values of a text of JSON objects, one after the other, as `kubectl` and `jq` write them. Undefined when the
 * text holds anything else between them. Values are distinguished by their brackets; whether each is JSON is for its reader to say.
 */
export function splitJson(text: string): readonly JsonPiece[] | undefined {
  const pieces: JsonPiece[] = [];
  let line = 1;
  let start = -1;
  let startLine = 1;
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === NEWLINE) line++;
    if (inString) {
      if (code === BACKSLASH) i++;
      else if (code === QUOTE) inString = false;
    } else if (depth > 0 && code === QUOTE) {
      inString = true;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (depth++ > 0) continue;
      start = i;
      startLine = line;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      if (--depth < 0) return undefined;
      if (depth === 0) pieces.push({ text: text.slice(start, i + 1), line: startLine });
    } else if (depth === 0 && !isSpace(code)) {
      return undefined;
    }
  }
  return depth === 0 && pieces.length > 0 ? pieces : undefined;
}

const NEWLINE = 0x0a;
const BACKSLASH = 0x5c;
const QUOTE = 0x22;
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

function isSpace(code: number): boolean {
  // The byte order mark that some Windows programs put first counts as space.
  return code === 0x20 || code === NEWLINE || code === 0x0d || code === 0x09 || code === 0xfeff;
}
