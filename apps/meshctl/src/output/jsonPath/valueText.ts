/** A value as kubectl prints it in a template: texts and numbers as they are, objects and lists as JSON of Go. */
export function valueText(value: unknown): string {
  return typeof value === "string" ? value : goJson(value);
}

/** JSON as Go writes it: keys in order, and what HTML could read as `\u003c`. */
function goJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goJson).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${members.map(([key, member]) => `${escaped(key)}:${goJson(member)}`).join(",")}}`;
  }
  return typeof value === "string" ? escaped(value) : String(value);
}

function escaped(text: string): string {
  return JSON.stringify(text).replaceAll("<", "\\u003c").replaceAll(">", "\\u003e").replaceAll("&", "\\u0026");
}
