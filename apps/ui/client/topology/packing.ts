/** Something that has a place in a drawing, in pixels. */
export interface Sized {
  readonly width: number;
  readonly height: number;
}

// About as wide as a screen is high.
const ASPECT = 1.6;

/** Places things in rows, in their order, so that all together are about as wide as a screen; `gap` pixels apart. */
export function packed(things: readonly Sized[], gap: number): readonly { readonly x: number; readonly y: number }[] {
  const extent = things.reduce((sum, { width, height }) => sum + (width + gap) * (height + gap), 0);
  const widest = Math.max(0, ...things.map(({ width }) => width));
  const limit = Math.max(widest, Math.sqrt(extent * ASPECT));
  const places: { readonly x: number; readonly y: number }[] = [];
  let [x, y, rowHeight] = [0, 0, 0];
  for (const { width, height } of things) {
    if (x > 0 && x + width > limit) [x, y, rowHeight] = [0, y + rowHeight + gap, 0];
    places.push({ x, y });
    x += width + gap;
    rowHeight = Math.max(rowHeight, height);
  }
  return places;
}

/** The names in groups, of which none is connected with another; each group and all groups in the order of the names. */
export function connectedGroups(
  names: readonly string[],
  connections: readonly (readonly [string, string])[],
): readonly (readonly string[])[] {
  const groupOf = new Map(names.map((name) => [name, new Set([name])]));
  for (const [a, b] of connections) {
    const [first, second] = [groupOf.get(a), groupOf.get(b)];
    if (first === undefined || second === undefined || first === second) continue;
    for (const name of second) {
      first.add(name);
      groupOf.set(name, first);
    }
  }
  return [...new Set(names.map((name) => groupOf.get(name)))].map((group) => names.filter((name) => group?.has(name)));
}
