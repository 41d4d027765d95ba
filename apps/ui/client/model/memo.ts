/** A function of one object that remembers its last result: what is derived of a part of the fleet is derived again only when that part is another. */
export function remembering<I, O>(compute: (input: I) => O): (input: I) => O {
  let last: { readonly input: I; readonly output: O } | undefined;
  return (input) => {
    if (last === undefined || last.input !== input) last = { input, output: compute(input) };
    return last.output;
  };
}
