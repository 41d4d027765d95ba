/** With a peer that knows this feature, messages bear the ids of the changes that they are about. */
export const TRACES_FEATURE = "traces";

// Enough to follow one change; a burst of hundreds is followed by some of them.
const MAX_TRACES = 8;

/** Ids that travel together: those that came first, and each once. */
export function joinTraceIds(before: readonly string[], more: readonly string[] = []): readonly string[] {
  if (more.length === 0 || before.length >= MAX_TRACES) return before;
  return [...new Set([...before, ...more])].slice(0, MAX_TRACES);
}

/** Ids as they came from the other end: what is none, or is too many, is left out. */
export function tracesFrom(ids: readonly string[]): readonly string[] {
  return ids.slice(0, MAX_TRACES).filter((id) => /^[0-9a-f]{32}$/.test(id));
}

/** As a field of something that bears ids: absent when there are none. */
export function tracesField(traces: readonly string[]): { readonly traces?: readonly string[] } {
  return traces.length === 0 ? {} : { traces };
}
