import { readFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { SourceMap } from "node:module";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** In how many runs each line of each source was reached in full, by path and by line (1-based). */
export type LineCounts = ReadonlyMap<string, ReadonlyMap<number, number>>;

export interface Measurement {
  /** What was reached since the last call counts once. */
  ranOnce(): Promise<void>;
  /** What was reached since the last call counts not at all. */
  forget(): Promise<void>;
  counts(): LineCounts;
}

/** A place in the bundle, and the line of a source that it comes from. */
interface Place {
  readonly offset: number;
  readonly path: string;
  readonly line: number;
}

/** Measures the program that runs, a bundle at `url` with a source map beside it, in sources whose paths (from `root`) are `wanted`. */
export async function startMeasuring(url: string, root: string, wanted: (path: string) => boolean): Promise<Measurement> {
  const file = fileURLToPath(url);
  const text = readFileSync(file, "utf8");
  const places = placesOf({ file, text, root, wanted });
  const reached = new Uint32Array(places.length);
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });

  async function taken(): Promise<Uint8Array> {
    const { result } = await session.post("Profiler.takePreciseCoverage");
    const painted = new Uint8Array(text.length);
    for (const script of result) {
      if (script.url !== url) continue;
      // Outer ranges come before inner ones.
      for (const { ranges } of script.functions) {
        for (const { startOffset, endOffset, count } of ranges) painted.fill(count > 0 ? 1 : 0, startOffset, endOffset);
      }
    }
    return painted;
  }

  return {
    async ranOnce() {
      const painted = await taken();
      for (const [i, { offset }] of places.entries()) reached[i] = (reached[i] ?? 0) + (painted[offset] ?? 0);
    },
    async forget() {
      await taken();
    },
    counts() {
      const counts = new Map<string, Map<number, number>>();
      for (const [i, { path, line }] of places.entries()) {
        const ofPath = counts.get(path) ?? new Map<number, number>();
        counts.set(path, ofPath);
        ofPath.set(line, Math.min(ofPath.get(line) ?? Number.POSITIVE_INFINITY, reached[i] ?? 0));
      }
      return counts;
    },
  };
}

interface Bundle {
  readonly file: string;
  readonly text: string;
  readonly root: string;
  readonly wanted: (path: string) => boolean;
}

/** Where a statement or an expression begins within a function; what runs when the module is loaded is no place. */
function placesOf({ file, text, root, wanted }: Bundle): readonly Place[] {
  const map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, "utf8")));
  const sources = new Map<string, readonly string[]>();
  const places: Place[] = [];
  let offset = 0;
  for (const [generatedLine, generated] of text.split("\n").entries()) {
    let last = "";
    for (let column = 0; column < generated.length; column++) {
      const entry = map.findEntry(generatedLine, column);
      if (!("originalSource" in entry) || entry.generatedLine !== generatedLine || entry.generatedColumn !== column) continue;
      const path = resolve(dirname(file), entry.originalSource).slice(root.length + 1);
      if (!wanted(path)) continue;
      const lines = sources.get(path) ?? readFileSync(resolve(root, path), "utf8").split("\n");
      sources.set(path, lines);
      const at = lines[entry.originalLine] ?? "";
      const original = at.slice(entry.originalColumn);
      const key = `${path}:${entry.originalLine}:${entry.originalColumn}`;
      // What declares a function of one line runs when the module is loaded, and is no part of it.
      if (/^(export )?const /.test(at) && entry.originalColumn < at.indexOf("=>")) continue;
      // Closing brackets belong to what has been left already.
      if (key === last || !/^[\w"'`([{!-]/.test(original) || /^(import|export|type|interface)\b/.test(original)) continue;
      last = key;
      places.push({ offset: offset + column, path, line: entry.originalLine + 1 });
    }
    offset += generated.length + 1;
  }
  return places;
}
