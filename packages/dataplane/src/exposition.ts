/** One line of an exposition. */
export interface MetricSample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
  /** The labels as they were written, without `le`: equal for consecutive buckets of one histogram. */
  readonly series: string;
}

/** How much of an exposition is read. */
export interface ExpositionLimits {
  /** Of the whole text, in bytes. What follows is not read. */
  readonly bytes: number;
  /** Samples with a name that is asked for. What follows is not read. */
  readonly samples: number;
}

/** What became of a text. */
export interface ExpositionResult {
  readonly bytes: number;
  readonly samples: number;
  /** Lines that are no sample although they begin as one that is asked for, or are too long to be one. */
  readonly malformed: number;
  /** A limit was reached: something was not read. */
  readonly isTruncated: boolean;
}

/** Reads a text in parts, wherever they are cut. */
export interface ExpositionParser {
  /** Whether more is of use: false once a limit is reached. */
  write(part: Uint8Array): boolean;
  /** No more comes. */
  end(): ExpositionResult;
}

/**
 * Reads Prometheus' text format as a stream, and gives samples whose names are asked for to `take`. Most lines of a proxy are others: of those
 * only the name is looked at. Never throws for a text; memory is one part and one line. Comments, types and exemplars are passed over, and a
 * timestamp is not needed. Source: prometheus.io/docs/instrumenting/exposition_formats.
 */
export function expositionParser(
  names: ReadonlySet<string>,
  take: (sample: MetricSample) => void,
  limits: ExpositionLimits,
): ExpositionParser {
  const decoder = new TextDecoder();
  let rest = "";
  let isInLongLine = false;
  let [bytes, samples, malformed] = [0, 0, 0];
  let isTruncated = false;

  function line(text: string): void {
    const name = nameOf(text);
    if (!names.has(name)) return;
    if (samples >= limits.samples) {
      isTruncated = true;
      return;
    }
    const sample = parseSample(text, name);
    if (sample === undefined) malformed++;
    else {
      samples++;
      take(sample);
    }
  }

  function read(text: string): void {
    let from = 0;
    if (isInLongLine) {
      const end = text.indexOf("\n");
      if (end < 0) return;
      isInLongLine = false;
      from = end + 1;
    }
    for (let end = text.indexOf("\n", from); end >= 0 && !isTruncated; end = text.indexOf("\n", from)) {
      if (end - from > MOST_LINE) malformed++;
      else line(text.slice(from, end));
      from = end + 1;
    }
    rest = isTruncated ? "" : text.slice(from);
    if (rest.length <= MOST_LINE) return;
    rest = "";
    isInLongLine = true;
    malformed++;
  }

  return {
    write(part) {
      if (isTruncated) return false;
      const room = limits.bytes - bytes;
      bytes += Math.min(part.length, room);
      read(rest + decoder.decode(part.subarray(0, room), { stream: true }));
      if (part.length > room) isTruncated = true;
      return !isTruncated;
    },
    end() {
      // A line that a limit has cut is none, and one that the sender has not ended may lack the end of its number.
      if (!isTruncated && rest !== "") malformed++;
      rest = "";
      return { bytes, samples, malformed, isTruncated };
    },
  };
}

// Istio's lines have up to 2 KB: more than 30 labels.
const MOST_LINE = 16 * 1024;

function nameOf(line: string): string {
  for (let i = 0; i < line.length; i++) {
    const code = line.charCodeAt(i);
    if (code === BRACE || code === SPACE || code === TAB) return line.slice(0, i);
  }
  return "";
}

const BRACE = 0x7b;
const SPACE = 0x20;
const TAB = 0x09;
const BACKSLASH = 0x5c;

/** Undefined for what is no sample. */
function parseSample(line: string, name: string): MetricSample | undefined {
  const labels = new Map<string, string>();
  let series = "";
  let at = name.length;
  if (line.charCodeAt(at) === BRACE) {
    at++;
    for (;;) {
      const label = labelAt(line, at);
      if (label === undefined) return undefined;
      at = label.end;
      if (label.name === "") break;
      labels.set(label.name, label.value);
      if (label.name !== "le") series += `${label.name}=${label.value}\n`;
    }
  }
  const value = numberIn(line.slice(at).trim().split(/[ \t]/, 1)[0] ?? "");
  return value === undefined ? undefined : { name, labels, value, series };
}

interface Label {
  /** Empty where the labels end. */
  readonly name: string;
  readonly value: string;
  /** Where the next one begins. */
  readonly end: number;
}

/** `name="value"` with what separates it from the next, or the brace that ends all. Undefined for anything else. */
function labelAt(line: string, from: number): Label | undefined {
  let start = from;
  while (line[start] === " " || line[start] === ",") start++;
  if (line[start] === "}") return { name: "", value: "", end: start + 1 };
  const equals = line.indexOf('="', start);
  if (equals <= start) return undefined;
  const begin = equals + 2;
  let end = begin;
  while (end < line.length && line[end] !== '"') end += line.charCodeAt(end) === BACKSLASH ? 2 : 1;
  if (end >= line.length) return undefined;
  const text = line.slice(begin, end);
  return { name: line.slice(start, equals).trim(), value: text.includes("\\") ? unescaped(text) : text, end: end + 1 };
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/gs, (_, escaped: string) => (escaped === "n" ? "\n" : escaped));
}

/** Undefined for what is no number, and for NaN, of which no sum can be made. */
function numberIn(text: string): number | undefined {
  if (text === "+Inf" || text === "Inf") return Number.POSITIVE_INFINITY;
  const value = text === "" ? Number.NaN : Number(text);
  return Number.isNaN(value) ? undefined : value;
}
