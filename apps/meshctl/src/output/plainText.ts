import { isHidden } from "@isthmus/core";

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

const TAB = 9;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

function isSpace(code: number): boolean {
  return code === TAB || code === LINE_FEED || code === CARRIAGE_RETURN || code === 32;
}
