/** One sample of a metric. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The samples of some metrics in the text that a server exposes. Lines that are no samples are left out. Source: the Prometheus text format. */
export function samplesIn(text: string, names: readonly string[]): readonly Sample[] {
  const wanted = new Set(names);
  const samples: Sample[] = [];
  for (const line of text.split("\n")) {
    const brace = line.indexOf("{");
    const space = line.indexOf(" ");
    const end = brace >= 0 && (space < 0 || brace < space) ? brace : space;
    const name = line.slice(0, Math.max(0, end));
    if (!wanted.has(name)) continue;
    const read = end === brace ? labelsFrom(line, brace + 1) : { labels: {}, next: end };
    const value = Number.parseFloat(line.slice(read.next));
    if (!Number.isNaN(value)) samples.push({ name, labels: read.labels, value });
  }
  return samples;
}

/** `a="b",c="d"}` from a place on; a quote, backslash or line break in a value is escaped by a backslash. */
function labelsFrom(line: string, from: number): { readonly labels: Readonly<Record<string, string>>; readonly next: number } {
  const labels: Record<string, string> = {};
  let i = from;
  while (i < line.length && line[i] !== "}") {
    const equals = line.indexOf("=", i);
    if (equals < 0) break;
    const name = line.slice(i, equals);
    let value = "";
    for (i = equals + 2; i < line.length && line[i] !== '"'; i++) {
      if (line[i] === "\\") i++;
      value += line[i] ?? "";
    }
    Object.defineProperty(labels, name, { value, enumerable: true, configurable: true });
    i += line[i + 1] === "," ? 2 : 1;
  }
  return { labels, next: i + 1 };
}
