/** A new id of a change, in the form of W3C's trace ids: 32 hex digits, never all zero. `random` gives 0..1. */
export function newTraceId(random: () => number): string {
  const word = () => Math.floor(random() * 2 ** 32);
  // A generator that gives nothing but zeros must not make an invalid id.
  return [word(), word(), word(), Math.max(1, word())].map((number) => number.toString(16).padStart(8, "0")).join("");
}
