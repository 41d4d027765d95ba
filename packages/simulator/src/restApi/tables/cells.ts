import { isMembers, type Members } from "../../apply/json.ts";

/** A member of an object by its path; undefined where something on the way is none. */
export function at(value: unknown, path: string): unknown {
  let here: unknown = value;
  for (const name of path.split(".")) here = isMembers(here) && Object.hasOwn(here, name) ? here[name] : undefined;
  return here;
}

/** The objects of a list. */
export function listAt(value: unknown, path: string): readonly Members[] {
  const list = at(value, path);
  return Array.isArray(list) ? list.filter(isMembers) : [];
}

/** A text; `otherwise` where there is none. */
export function textAt(value: unknown, path: string, otherwise = ""): string {
  const found = at(value, path);
  return found === undefined || found === null || found === "" ? otherwise : String(found);
}

/** A number; 0 where there is none. */
export function numberAt(value: unknown, path: string): number {
  const found = at(value, path);
  return typeof found === "number" ? found : 0;
}

/** Labels as a selector is written: `a=b,c=d`, or `<none>`. */
export function labelsText(labels: unknown): string {
  if (!isMembers(labels)) return "<none>";
  const pairs = Object.entries(labels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${String(value)}`);
  return pairs.length === 0 ? "<none>" : pairs.join(",");
}

const OPERATORS: Readonly<Record<string, string>> = { In: "in", NotIn: "notin" };

/** A selector of labels as a text. */
export function selectorText(selector: unknown): string {
  if (!isMembers(selector)) return "<none>";
  const labels = labelsText(selector["matchLabels"]);
  const parts = labels === "<none>" ? [] : labels.split(",");
  for (const { key, operator, values } of listAt(selector, "matchExpressions")) {
    if (operator === "Exists") parts.push(String(key));
    else if (operator === "DoesNotExist") parts.push(`!${String(key)}`);
    else
      parts.push(
        `${String(key)} ${OPERATORS[String(operator)] ?? ""} (${(Array.isArray(values) ? values : []).map(String).sort().join(",")})`,
      );
  }
  return parts.length === 0 ? "<none>" : parts.sort((a, b) => (keyIn(a) < keyIn(b) ? -1 : 1)).join(",");
}

function keyIn(part: string): string {
  return part.replace(/^!/, "").split(/[= ]/)[0] ?? "";
}

/** Names and images of the containers of a pod's spec. */
export function containerCells(podSpec: unknown): readonly [string, string] {
  const containers = listAt(podSpec, "containers");
  return [containers.map(({ name }) => String(name)).join(","), containers.map(({ image }) => String(image ?? "")).join(",")];
}
