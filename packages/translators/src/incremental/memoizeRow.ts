/**
 * A pure function of an immutable object that makes each answer once. Answers live as long as the objects they are about, so
 * from one translation to the next for all that did not change.
 */
export function memoizeRow<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const answers = new WeakMap<K, { readonly value: V }>();
  return (key) => {
    const known = answers.get(key);
    if (known !== undefined) return known.value;
    const value = make(key);
    answers.set(key, { value });
    return value;
  };
}
