/** One line of a difference. */
export interface DifferentLine {
  readonly sign: "+" | "-" | " ";
  readonly text: string;
}

/** A stretch of lines that did not change and are left out. */
export interface LeftOut {
  readonly count: number;
}

// Longer stretches that differ are shown as removed and added as a whole: comparing costs the product of their lengths.
const MOST_PAIRS = 1_000_000;

/** What changed between two texts, line by line, with `context` unchanged lines around each change; none when they are equal. */
export function lineDifference(before: readonly string[], after: readonly string[], context = 3): readonly (DifferentLine | LeftOut)[] {
  return folded(allLines(before, after), context);
}

/** A line of two texts beside each other: `undefined` where only the other one has a line. */
export interface LinePair {
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly isChanged: boolean;
}

/** A difference as pairs: what was removed beside what was added in its place. */
export function sideBySide(lines: readonly (DifferentLine | LeftOut)[]): readonly (LinePair | LeftOut)[] {
  const pairs: (LinePair | LeftOut)[] = [];
  let [removed, added]: [string[], string[]] = [[], []];
  const flush = (): void => {
    for (let i = 0; i < Math.max(removed.length, added.length); i++) pairs.push({ before: removed[i], after: added[i], isChanged: true });
    [removed, added] = [[], []];
  };
  for (const line of lines) {
    if ("sign" in line && line.sign === "-") removed.push(line.text);
    else if ("sign" in line && line.sign === "+") added.push(line.text);
    else {
      flush();
      pairs.push("sign" in line ? { before: line.text, after: line.text, isChanged: false } : line);
    }
  }
  flush();
  return pairs;
}

function allLines(before: readonly string[], after: readonly string[]): readonly DifferentLine[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let [endBefore, endAfter] = [before.length, after.length];
  while (endBefore > start && endAfter > start && before[endBefore - 1] === after[endAfter - 1]) {
    endBefore--;
    endAfter--;
  }
  return [
    ...before.slice(0, start).map(same),
    ...middle(before.slice(start, endBefore), after.slice(start, endAfter)),
    ...before.slice(endBefore).map(same),
  ];
}

function same(text: string): DifferentLine {
  return { sign: " ", text };
}

/** By the longest common subsequence. */
function middle(before: readonly string[], after: readonly string[]): readonly DifferentLine[] {
  const [rows, columns] = [before.length, after.length];
  if (rows * columns > MOST_PAIRS)
    return [...before.map((text) => ({ sign: "-", text }) as const), ...after.map((text) => ({ sign: "+", text }) as const)];
  const width = columns + 1;
  const lengths = new Uint32Array((rows + 1) * width);
  for (let i = rows - 1; i >= 0; i--) {
    for (let j = columns - 1; j >= 0; j--) {
      const [down, right] = [lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0];
      lengths[i * width + j] = before[i] === after[j] ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1 : Math.max(down, right);
    }
  }
  const lines: DifferentLine[] = [];
  let [i, j] = [0, 0];
  while (i < rows || j < columns) {
    const [was, is] = [before[i], after[j]];
    if (i < rows && j < columns && was === is) {
      lines.push(same(was ?? ""));
      i++;
      j++;
    } else if (i < rows && (j === columns || (lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0))) {
      lines.push({ sign: "-", text: was ?? "" });
      i++;
    } else {
      lines.push({ sign: "+", text: is ?? "" });
      j++;
    }
  }
  return lines;
}

function folded(lines: readonly DifferentLine[], context: number): readonly (DifferentLine | LeftOut)[] {
  const kept = new Uint8Array(lines.length);
  for (const [i, { sign }] of lines.entries()) if (sign !== " ") kept.fill(1, Math.max(0, i - context), i + context + 1);
  const shown: (DifferentLine | LeftOut)[] = [];
  let left = 0;
  const leaveOut = (): void => {
    if (left > 0) shown.push({ count: left });
    left = 0;
  };
  for (const [i, line] of lines.entries()) {
    if (kept[i] === 1) {
      leaveOut();
      shown.push(line);
    } else left++;
  }
  if (shown.length > 0) leaveOut();
  return shown;
}
