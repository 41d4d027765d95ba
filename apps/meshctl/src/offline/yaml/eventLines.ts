import { EVENT_ID, type Event, getScalarValue, SCALAR_STYLE } from "js-yaml5";
import { eventsOf, type QuickDocument } from "./quickYaml.ts";

type Path = readonly (string | number)[];

/**
 * Where the member at a path begins in a text that `quickYaml` has read, with its key; where its nearest ancestor does that the text
 * holds. Of a List no more than the item is read again.
 */
export function offsetIn(text: string, { itemOffsets }: Pick<QuickDocument, "itemOffsets">, path: Path): number {
  const [list, index] = path;
  const begin = typeof index === "number" && list === "items" ? itemOffsets[index] : undefined;
  const end = typeof index === "number" ? itemOffsets[index + 1] : undefined;
  if (begin === undefined || end === undefined) return memberOffset(text, path);
  const item = itemText(text, begin, end);
  return Math.max(begin, item.offset + memberOffset(item.text, [0, ...path.slice(2)]));
}

/** An item as a list of its own: from the beginning of its line, with the dash, or in brackets. */
function itemText(text: string, begin: number, end: number): { readonly text: string; readonly offset: number } {
  const line = text.lastIndexOf("\n", begin - 1) + 1;
  if (!/^ *- *$/.test(text.slice(line, begin).slice(0, LONGEST_INDENT)))
    return { text: `[${flowValue(text.slice(begin, end))}]`, offset: begin - 1 };
  return { text: text.slice(line, end === text.length ? end : text.lastIndexOf("\n", end - 1) + 1), offset: line };
}

const LONGEST_INDENT = 1024;

/** An element of a list in brackets, without what stands between it and the next. */
function flowValue(text: string): string {
  let end = text.length;
  while (end > 0 && ", \t\r\n".includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

function memberOffset(text: string, path: Path): number {
  const events = eventsOf(text) ?? [];
  // After the event that opens the document.
  let at = 1;
  let offset = startOf(events[at]) ?? 0;
  for (const step of path) {
    const member = memberAt({ events, text }, at, step);
    if (member === undefined) break;
    at = member.value;
    offset = startOf(events[member.key]) ?? startOf(events[at]) ?? offset;
  }
  return offset;
}

interface Source {
  readonly events: readonly Event[];
  readonly text: string;
}

/** Where the key of a member and its value stand among the events: the same place in a list. */
function memberAt(
  { events, text }: Source,
  at: number,
  step: string | number,
): { readonly key: number; readonly value: number } | undefined {
  const parent = events[at];
  const isMap = parent?.type === EVENT_ID.MAPPING;
  if (!isMap && parent?.type !== EVENT_ID.SEQUENCE) return undefined;
  let child = at + 1;
  for (let index = 0; events[child] !== undefined && events[child]?.type !== EVENT_ID.POP; index++) {
    const key = events[child];
    const value = isMap ? after(events, child) : child;
    if (isMap ? key?.type === EVENT_ID.SCALAR && key.valueStart !== -1 && getScalarValue(text, key) === step : index === step) {
      return { key: child, value };
    }
    child = after(events, value);
  }
  return undefined;
}

/** The event after a value. */
function after(events: readonly Event[], at: number): number {
  let depth = 0;
  for (let i = at; i < events.length; i++) {
    const type = events[i]?.type;
    if (type === EVENT_ID.POP) depth--;
    else if (type === EVENT_ID.MAPPING || type === EVENT_ID.SEQUENCE) depth++;
    if (depth <= 0) return i + 1;
  }
  return events.length;
}

function startOf(event: Event | undefined): number | undefined {
  if (event?.type === EVENT_ID.SCALAR) {
    if (event.valueStart === -1) return undefined;
    // In block style it begins on the line before its text, with what says so.
    return event.style === SCALAR_STYLE.LITERAL_BLOCK || event.style === SCALAR_STYLE.FOLDED_BLOCK
      ? event.valueStart - 1
      : event.valueStart;
  }
  return event?.type === EVENT_ID.MAPPING || event?.type === EVENT_ID.SEQUENCE ? event.start : undefined;
}
