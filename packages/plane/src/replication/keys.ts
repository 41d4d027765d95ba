/** The parts of a `resourceKeyOf`: its `kindKeyOf` and its `keyOf`. */
export function splitKey(resourceKey: string): { readonly kindKey: string; readonly key: string } {
  const bar = resourceKey.indexOf("|");
  return { kindKey: resourceKey.slice(0, bar), key: resourceKey.slice(bar + 1) };
}
