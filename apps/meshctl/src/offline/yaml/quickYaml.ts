import {
  COLLECTION_STYLE,
  EVENT_ID,
  type Event,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
  YAMLException,
} from "js-yaml5";
import { isScalar, Schema } from "yaml";

/** A document that was read quickly. */
export interface QuickDocument {
  readonly value: unknown;
  /** Where the elements of a List's `items` begin in the text and, at last, where they end; empty for other documents. */
  readonly itemOffsets: readonly number[];
}

// Control characters, line breaks of YAML 1.1 and byte order marks: what of them is right, and what a line, is not agreed upon.
// And tabs where lines are indented, and keys that are marked as such.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNUSUAL = /(?:^|\n) *\t|(?:^|\n)[ -]*\?[ \t\r\n]|[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff]/;

// Far below what either library takes, so that whatever is nested deeper is judged by the one that judges all that is refused.
const MAX_DEPTH = 60;

/**
 * A document as `yaml` reads it, in a small part of the time (docs/decisions/0047). Undefined for what is refused, as `yaml` is to name the
 * mistake, and for what the two libraries read differently, or may: anchors, tags, merge keys, keys that are repeated or no text.
 */
export function quickYaml(text: string): QuickDocument | undefined {
  const events = UNUSUAL.test(text) ? undefined : eventsOf(text);
  return events === undefined ? undefined : documentOf(events, text);
}

/** The events of one document, the one that opens it and the one that closes it among them; undefined when it is not right. */
export function eventsOf(text: string): readonly Event[] | undefined {
  try {
    return parseEvents(text, { maxDepth: MAX_DEPTH });
  } catch {
    // The other library finds it as well, and says what it is.
    return undefined;
  }
}

/** Why a text is not read quickly: where one that is too large to be read otherwise is wrong, or what makes it so slow. */
export function quickProblem(text: string): { readonly line: number; readonly problem: string } {
  try {
    parseEvents(text, { maxDepth: MAX_DEPTH });
  } catch (error) {
    if (error instanceof YAMLException) return { line: (error.mark?.line ?? 0) + 1, problem: error.reason };
    throw error;
  }
  const causes = "anchors, tags, merge keys, repeated keys, directives, or lines with `...`";
  return { line: 1, problem: `is larger than 8 MiB and has ${causes}: remove them, or split it into smaller documents` };
}

function documentOf(events: readonly Event[], text: string): QuickDocument | undefined {
  const building: Building = {
    text,
    root: undefined,
    parents: [],
    keys: [],
    itemOffsets: [],
    areItemsOver: false,
    flowDepth: undefined,
    valueEnd: undefined,
  };
  const [first] = events;
  if (first !== undefined && (first.type !== EVENT_ID.DOCUMENT || first.explicitStart !== text.startsWith("---"))) return undefined;
  for (let i = 1; i < events.length - 1; i++) {
    const event = events[i];
    if (event === undefined || !take(building, event)) return undefined;
  }
  const { root, itemOffsets, areItemsOver } = building;
  if (itemOffsets.length > 0 && !areItemsOver) itemOffsets.push(text.length);
  return { value: root, itemOffsets };
}

interface Building {
  readonly text: string;
  root: unknown;
  /** The collections that are open, the outermost first. */
  readonly parents: (unknown[] | Record<string, unknown>)[];
  /** Of each of them the key whose value is being read; undefined in lists, and where a key comes next. */
  readonly keys: (string | undefined)[];
  readonly itemOffsets: number[];
  areItemsOver: boolean;
  /** Of the collection in brackets that is open, the outermost: how many stand around it. */
  flowDepth: number | undefined;
  /** Where the last value ends as far as is known; undefined where nothing can stand beside it. */
  valueEnd: number | undefined;
}

/** Takes the next event. False: the document holds what is not read here. */
function take(building: Building, event: Event): boolean {
  const { parents, keys } = building;
  if (event.type === EVENT_ID.POP) {
    parents.pop();
    keys.pop();
    if (keys.length > 0) keys[keys.length - 1] = undefined;
    return true;
  }
  // A second document, too, is none of ours.
  if (event.type === EVENT_ID.ALIAS || event.type === EVENT_ID.DOCUMENT || event.anchorStart !== -1 || event.tagStart !== -1) return false;
  const start = event.type === EVENT_ID.SCALAR ? event.valueStart : event.start;
  if (!isApart(building, start)) return false;
  const parent = parents.at(-1);
  const isKey = parent !== undefined && !Array.isArray(parent) && keys.at(-1) === undefined;
  if (event.type === EVENT_ID.SCALAR) {
    // A text by itself is no object, and how far it is indented no line above it tells.
    if (parent === undefined) return event.valueStart === -1;
    if (isKey) return takeKey(building, parent, event);
    const value = scalarOf(building.text, event);
    // How much of an empty text in block style is its indentation, the libraries answer differently.
    if (isBlock(event) && value !== "" && String(value).trim() === "") return false;
    if (event.valueStart !== -1) building.valueEnd = isBlock(event) ? undefined : event.valueEnd;
    if (!add(building, value, event.valueStart)) return false;
    keys[keys.length - 1] = undefined;
    return true;
  }
  if (isKey) return false;
  if (event.style === COLLECTION_STYLE.FLOW) {
    building.flowDepth ??= parents.length;
    building.valueEnd = event.start;
  }
  const collection = event.type === EVENT_ID.SEQUENCE ? [] : {};
  if (!add(building, collection, event.start)) return false;
  parents.push(collection);
  keys.push(undefined);
  return true;
}

/** Whether nothing follows a value on its line, in brackets or quotes, which js-yaml does not refuse. */
function isApart(building: Building, start: number): boolean {
  const { text, flowDepth, valueEnd, parents } = building;
  if (flowDepth !== undefined && parents.length > flowDepth) return true;
  building.flowDepth = undefined;
  building.valueEnd = undefined;
  return start === -1 || valueEnd === undefined || text.slice(valueEnd, start).includes("\n");
}

function isBlock({ style }: ScalarEvent): boolean {
  return style === SCALAR_STYLE.LITERAL_BLOCK || style === SCALAR_STYLE.FOLDED_BLOCK;
}

function takeKey(building: Building, parent: Record<string, unknown>, event: ScalarEvent): boolean {
  const { text, parents, keys, itemOffsets, areItemsOver } = building;
  if (event.valueStart === -1) return false;
  const key = getScalarValue(text, event);
  if (key === "<<" || key === "__proto__" || Object.hasOwn(parent, key)) return false;
  if (parents.length === 1 && itemOffsets.length > 0 && !areItemsOver) {
    itemOffsets.push(event.valueStart);
    building.areItemsOver = true;
  }
  keys[keys.length - 1] = key;
  return true;
}

/** False: an item of a List that is not there, and so stands nowhere. */
function add(building: Building, value: unknown, offset: number): boolean {
  const { parents, keys, itemOffsets } = building;
  const parent = parents.at(-1);
  if (parent === undefined) {
    building.root = value;
  } else if (Array.isArray(parent)) {
    parent.push(value);
    if (parents.length !== 2 || keys[0] !== "items") return true;
    itemOffsets.push(offset);
    return offset !== -1;
  } else {
    const key = keys.at(-1);
    if (key !== undefined) parent[key] = value;
  }
  return true;
}

function scalarOf(text: string, event: ScalarEvent): unknown {
  const value = event.valueStart === -1 ? "" : getScalarValue(text, event);
  return event.style === SCALAR_STYLE.PLAIN ? plainValue(value) : value;
}

// Which plain words are no text says the other library, so that both read them alike.
const TAGS = new Schema({ schema: "core" }).tags.flatMap((tag) =>
  "test" in tag && tag.test !== undefined && tag.default === true ? [{ test: tag.test, resolve: tag.resolve }] : [],
);
const FIRST_LETTERS: ReadonlySet<string> = new Set("~nNtTfF+-.0123456789");

function plainValue(text: string): unknown {
  if (text !== "" && !FIRST_LETTERS.has(text.charAt(0))) return text;
  const tag = TAGS.find(({ test }) => test.test(text));
  if (tag === undefined) return text;
  const resolved: unknown = tag.resolve(text, () => undefined, {});
  return isScalar(resolved) ? resolved.value : resolved;
}
