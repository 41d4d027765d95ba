/** The members of a JSON object. */
export type Members = Readonly<Record<string, unknown>>;

/** Whether a JSON value is an object. */
export function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A member that should be an object, as one; empty when it is anything else. */
export function membersAt(value: Members, name: string): Members {
  const member = value[name];
  return isMembers(member) ? member : {};
}

/**
 * The value without members that are null or undefined, as an API server stores it. What holds none is returned as it is,
 * so that unchanged parts stay shared.
 */
export function withoutAbsent<T>(value: T): T {
  return cleaned(value) as T;
}

function cleaned(value: unknown): unknown {
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined;
    for (let i = 0; i < value.length; i++) {
      const element = cleaned(value[i]);
      if (element === value[i]) continue;
      copy ??= [...value];
      copy[i] = element;
    }
    return copy ?? value;
  }
  if (!isMembers(value)) return value;
  let copy: Record<string, unknown> | undefined;
  for (const name in value) {
    const before = value[name];
    const after = before === null || before === undefined ? undefined : cleaned(before);
    if (after === before && after !== undefined) continue;
    copy ??= { ...value };
    if (after === undefined) delete copy[name];
    else copy[name] = after;
  }
  return copy ?? value;
}

/** `value` with `name` set to `member`, or without it when that is undefined; the same value when nothing changes. */
export function withMember<M extends Members>(value: M, name: string, member: unknown): M {
  if (value[name] === member) return value;
  if (member !== undefined) return { ...value, [name]: member };
  const { [name]: _, ...rest } = value;
  return rest as M;
}
