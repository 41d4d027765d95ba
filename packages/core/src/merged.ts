/**
 * `{ ...first, ...second }` in little memory: the object shares its hidden class with others that are made alike, where Node 20 gives
 * one that begins with a spread a class of its own (docs/decisions/0026).
 */
export function merged<A extends object, B extends object>(first: A, second: B): Omit<A, keyof B> & B;
export function merged(first: object, second: object): object {
  // Objects of users may have a member of this name, which `Object.assign` would take for their prototype.
  const isStrange = Object.hasOwn(first, "__proto__") || Object.hasOwn(second, "__proto__");
  return isStrange ? { ...first, ...second } : Object.assign({}, first, second);
}
