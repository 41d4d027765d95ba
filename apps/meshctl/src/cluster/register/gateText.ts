import type { GateResult } from "./gates.ts";

/** A gate as a line, or as several where the terminal is narrow: what follows is indented, and words are never broken. */
export function gateText({ gate, isOpen, tookMs, text }: GateResult, columns: number): string {
  const time = `${(tookMs / 1000).toFixed(1)} s`;
  return wrapped(`${isOpen ? "✓" : "✗"} ${gate.padEnd(14)} ${time.padStart(7)}  `, text, columns);
}

/** A text behind a lead, broken between words; further lines are indented as the lead is long. */
function wrapped(lead: string, text: string, columns: number): string {
  const width = Math.max(LEAST_WIDTH, columns - lead.length);
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return `${lead}${lines.join(`\n${" ".repeat(lead.length)}`)}`;
}

const LEAST_WIDTH = 30;
