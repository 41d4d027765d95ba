/**
 * The cycles of a directed graph: each strongly connected component of more than one node, or of one that points at itself,
 * as one shortest walk through it, starting at its first node in sorted order. Nodes that only appear as targets count as leaves.
 */
export function cyclesOf(graph: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const found: (readonly string[])[] = [];
  const done = new Set<string>();
  for (const start of [...graph.keys()].sort()) {
    if (done.has(start)) continue;
    const walk = shortestWalk(graph, start);
    if (walk === undefined) continue;
    found.push(walk);
    for (const node of reachableFrom(graph, start)) if (reachableFrom(graph, node).has(start)) done.add(node);
  }
  return found;
}

/** The shortest walk from `start` back to it, without repeating it at the end. */
function shortestWalk(graph: ReadonlyMap<string, readonly string[]>, start: string): readonly string[] | undefined {
  const previous = new Map<string, string>();
  const queue = [start];
  for (let node = queue.shift(); node !== undefined; node = queue.shift()) {
    for (const next of graph.get(node) ?? []) {
      if (next === start) return walkTo(previous, start, node);
      if (previous.has(next)) continue;
      previous.set(next, node);
      queue.push(next);
    }
  }
  return undefined;
}

function walkTo(previous: ReadonlyMap<string, string>, start: string, end: string): readonly string[] {
  const walk = [end];
  for (let node = end; node !== start; ) {
    node = previous.get(node) ?? start;
    walk.unshift(node);
  }
  return walk;
}

function reachableFrom(graph: ReadonlyMap<string, readonly string[]>, start: string): ReadonlySet<string> {
  const seen = new Set<string>();
  const open = [start];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const next of graph.get(node) ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      open.push(next);
    }
  }
  return seen;
}
