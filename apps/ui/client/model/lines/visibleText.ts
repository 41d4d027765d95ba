// Controls, and characters that change the direction or width of what stands beside them: nobody sees them, and they make a text look like another one.
const INVISIBLE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** A text of others with what cannot be seen written out, as `\u202e`; line ends too. */
export function visibleText(text: string): string {
  return text.replace(INVISIBLE, escaped);
}

function escaped(char: string): string {
  const code = (char.codePointAt(0) ?? 0).toString(16);
  return code.length <= 4 ? `\\u${code.padStart(4, "0")}` : `\\U${code.padStart(8, "0")}`;
}
