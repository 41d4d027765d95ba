/** A JSON value as text: equal values have equal texts, whatever the order of their members. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(ordered(value));
}

/** The same value with the members of each object in order; what is in order already is not copied. */
function ordered(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Array.isArray(value) ? orderedItems(value) : orderedMembers(value as Members);
}

type Members = Readonly<Record<string, unknown>>;

function orderedItems(items: readonly unknown[]): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let i = 0; i < items.length; i++) {
    const item = ordered(items[i]);
    if (copy !== undefined) copy.push(item);
    else if (item !== items[i]) copy = [...items.slice(0, i), item];
  }
  return copy ?? items;
}

/** Looks at each member once: what an agent reports may be nested 64 levels deep, and twice at each of them would never end. */
function orderedMembers(members: Members): Members {
  const keys = Object.keys(members);
  let isInOrder = true;
  for (let i = 1; i < keys.length && isInOrder; i++) isInOrder = (keys[i - 1] as string) < (keys[i] as string);
  let copy = isInOrder ? undefined : emptyCopyOf(members);
  if (!isInOrder) keys.sort();
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    const member = ordered(members[key]);
    if (copy === undefined && member !== members[key]) {
      copy = emptyCopyOf(members);
      for (const before of keys.slice(0, i)) copy[before] = members[before];
    }
    if (copy !== undefined) copy[key] = member;
  }
  return copy ?? members;
}

/** Without a prototype where it would be set: a member may be called `__proto__`. */
function emptyCopyOf(members: Members): Record<string, unknown> {
  return Object.hasOwn(members, "__proto__") ? Object.create(null) : {};
}
