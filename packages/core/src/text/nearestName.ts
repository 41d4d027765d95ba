/**
 * The candidate that differs least from a name, when at most a third of its letters differ or one is a part of the other: "did you mean". `share`: another
 * part of the letters.
 */
export function nearestName(name: string, candidates: Iterable<string>, share = 1 / 3): string | undefined {
  // No name that people mean is longer; what is, could be anything.
  if (name.length > LONGEST_NAME) return undefined;
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const [written, known] = [name.toLowerCase(), candidate.toLowerCase()];
    const distance = editDistance(written, known);
    const isNear = distance <= Math.max(name.length, candidate.length) * share || isPart(written, known) || isPart(known, written);
    if (isNear && distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

const LONGEST_NAME = 256;

function isPart(part: string, whole: string): boolean {
  return part.length > 3 && whole.includes(part);
}

/** Levenshtein's distance, in which two letters that have changed places are one difference. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  let before: readonly number[] = [];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? (before[j - 2] ?? 0) + 1 : replaced;
      row.push(Math.min(replaced, swapped, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    before = previous;
    previous = row;
  }
  return previous[b.length] ?? 0;
}
