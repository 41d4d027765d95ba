import type { Failure } from "./messages.ts";

const FRAMES = 3;

/** What failures have in common that have one cause, as far as a stack trace tells. */
export function groupOf(target: string, { type, detail }: Failure): string {
  if (type === "stalled" || type === "slow" || type === "grew") return `${target}: ${type}`;
  const lines = detail.split("\n");
  const frames = lines.filter((line) => /^\s+at /.test(line) && !line.includes("node:internal"));
  // Without what differs from one input to the next: numbers, and whatever the input said.
  const what = (lines[0] ?? "")
    .replace(/["'`].*/, "")
    .replace(/\b(?:number|boolean|string) \S+|[-+.\de]*\d+/g, "N")
    .slice(0, 80);
  return `${target}: ${type}: ${what} ${frames.slice(0, FRAMES).map(placeOf).join(" < ")}`.trim();
}

/** The function and file of a stack frame. */
function placeOf(frame: string): string {
  const [, name = ""] = /^\s+at (?:async )?([^\s(]+) \(/.exec(frame) ?? [];
  const [, file = ""] = /([^/\s(]+\.[cm]?[jt]s)(?::\d+)*\)?$/.exec(frame) ?? [];
  return `${name}@${file}`;
}
