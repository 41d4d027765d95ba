/**
 * A JSON value as YAML in block style, without aliases and folding, so that each object can be read, compared and copied by
 * itself. Strings that a reader of YAML 1.1 (as Kubernetes has it) or 1.2 would take for something else are quoted.
 * By hand, as the output of a large fleet takes the `yaml` package a minute, and this a few seconds.
 */
export function yamlText(value: unknown): string {
  const lines: string[] = [];
  if (isEmptyOrScalar(value)) lines.push(inline(value));
  else writeBlock(lines, value, "", "");
  return `${lines.join("\n")}\n`;
}

/** Writes a collection. Its first line begins with `lead`, in place of the indentation, as in a list's entry after the dash. */
function writeBlock(lines: string[], collection: object, indent: string, lead: string): void {
  let start = lead;
  if (Array.isArray(collection)) {
    for (const item of collection) {
      if (isEmptyOrScalar(item)) lines.push(`${start}- ${inline(item)}`);
      else writeBlock(lines, item, `${indent}  `, `${start}- `);
      start = indent;
    }
    return;
  }
  for (const [key, member] of Object.entries(collection)) {
    if (member === undefined) continue;
    if (isEmptyOrScalar(member)) {
      lines.push(`${start}${inline(key)}: ${inline(member)}`);
    } else {
      lines.push(`${start}${inline(key)}:`);
      const inner = `${indent}  `;
      writeBlock(lines, member, inner, inner);
    }
    start = indent;
  }
}

/** Whether a value stands on one line; objects of which every member is undefined are empty. */
function isEmptyOrScalar(value: unknown): value is string | number | boolean | null | undefined {
  if (typeof value !== "object" || value === null) return true;
  return Array.isArray(value) ? value.length === 0 : !Object.values(value).some((member) => member !== undefined);
}

function inline(value: unknown): string {
  if (typeof value === "string") return PLAIN.test(value) && !TAKEN.test(value) ? value : quoted(value);
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "[]" : "{}";
  return JSON.stringify(value) ?? "null";
}

// Begins with a letter, or is a duration; `: `, ` #` and a colon or space at the end mean something else in YAML.
const PLAIN = /^(?:[A-Za-z_/](?:[\w./@+()=;-]|[,:](?=[\w/])|[ ,]+(?=[\w(]))*|\d+(?:ms|s|m|h))$/;
// Booleans and null, in all spellings of YAML 1.1, and what some of its readers take for the exponent of a number.
const TAKEN = /^(?:y|yes|n|no|on|off|true|false|null|e\d+)$/i;

/** JSON's quotes are YAML's, but for control characters that YAML wants escaped. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;
