import { isMembers } from "../../apply/json.ts";

const SEGMENT = /^(?:\.([^.[\]]+)|\['([^']+)'\]|\[(\*|-?\d+)\]|\[\?\(@\.([^=!]+)(==|!=)["']([^"']*)["']\)\])/;

/** The values at a path of a printer column, such as `.status.conditions[?(@.type=="Ready")].status`. A path that cannot be read has none. */
export function valueAtPath(object: unknown, path: string): readonly unknown[] {
  let values: readonly unknown[] = [object];
  let rest = path.replaceAll("\\.", "\u0000");
  while (rest !== "") {
    const match = SEGMENT.exec(rest);
    if (match === null) return [];
    rest = rest.slice(match[0].length);
    values = values.flatMap((value) => step(value, match));
  }
  return values;
}

function step(value: unknown, [, dotted, quoted, index, field, operator, wanted]: RegExpExecArray): readonly unknown[] {
  const name = dotted?.replaceAll("\u0000", ".") ?? quoted;
  if (name !== undefined) {
    if (name === "*") return Array.isArray(value) ? value : isMembers(value) ? Object.values(value) : [];
    return isMembers(value) && Object.hasOwn(value, name) ? [value[name]] : [];
  }
  if (!Array.isArray(value)) return [];
  if (index === "*") return value;
  if (index !== undefined) return value.slice(Number(index)).slice(0, 1);
  const keys = (field ?? "").trim().split(".");
  return value.filter((element: unknown) => {
    let found: unknown = element;
    for (const key of keys) found = isMembers(found) ? found[key] : undefined;
    return (String(found) === wanted) === (operator === "==");
  });
}
