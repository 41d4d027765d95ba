import { isMembers, type Members } from "../../apply/json.ts";

/** `value` with those of `defaults` that it lacks; the same value when it lacks none. */
export function filled(value: Members, defaults: Members): Members {
  const missing = Object.keys(defaults).filter((name) => value[name] === undefined || value[name] === null);
  if (missing.length === 0) return value;
  return { ...value, ...Object.fromEntries(missing.map((name) => [name, defaults[name]])) };
}

/** `value` with each member that is there withChanged. */
export function withChanged(value: Members, changes: Readonly<Record<string, (member: Members) => Members>>): Members {
  const result: Record<string, unknown> = { ...value };
  for (const [name, change] of Object.entries(changes)) {
    const member = result[name];
    if (isMembers(member)) result[name] = change(member);
    else if (Array.isArray(member)) result[name] = member.map((each: unknown) => (isMembers(each) ? change(each) : each));
  }
  return result;
}
