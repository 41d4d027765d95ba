/**
 * A text of its own, cut to `most` UTF-16 code units, for whatever is kept longer than the text that it is a part of. V8 makes `slice`, `split` and matches
 * of regular expressions references into the whole text: 20 letters of a message of 4 MiB keep 4 MiB. No half of a surrogate pair is left at the end;
 * where the text had one alone, U+FFFD stands for it.
 */
export function keptText(text: string, most = Number.POSITIVE_INFINITY): string {
  const end = text.length <= most ? text.length : isHighSurrogate(text.charCodeAt(most - 1)) ? most - 1 : most;
  return decoder.decode(encoder.encode(end === text.length ? text : text.slice(0, end)));
}

const encoder = new TextEncoder();
// A mark at the beginning is a letter like any other.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
