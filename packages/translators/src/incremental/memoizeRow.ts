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

/**
 * The same for the object that was asked for last only: where one row is asked for the same by several, one after the other, and an answer
 * for each of a million would be more than it saves.
 */
export function memoizeLast<K extends object, V>(make: (key: K) => V): (key: K) => V {
  let last: { readonly key: K; readonly value: V } | undefined;
  return (key) => {
    if (last?.key !== key) last = { key, value: make(key) };
    return last.value;
  };
}
