/** The candidate that differs least from a name, when at most half of its letters differ or one is a part of the other: "did you mean". */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  // No name that people mean is longer; what is, could be anything.
  if (name.length > LONGEST_NAME) return undefined;
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const [written, known] = [name.toLowerCase(), candidate.toLowerCase()];
    const distance = editDistance(written, known);
    const isNear = distance <= Math.max(name.length, candidate.length) / 2 || isPart(written, known) || isPart(known, written);
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

/** Levenshtein's distance. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    previous = row;
  }
  return previous[b.length] ?? 0;
}
