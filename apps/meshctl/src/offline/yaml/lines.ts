/** Gives the 1-based line of an offset. The text is looked through once, when the first line is asked for. */
export function lineLookup(text: string): (offset: number) => number {
  let ends: number[] | undefined;
  return (offset) => {
    ends ??= lineEnds(text);
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle] ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}

function lineEnds(text: string): number[] {
  const ends: number[] = [];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) ends.push(at);
  return ends;
}
