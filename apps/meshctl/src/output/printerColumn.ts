import { ageText } from "./age.ts";

/** A column of `kubectl get`, as a CRD declares it. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly priority?: number;
}

/** What an object shows in a column; "" for nothing. A date is shown as its age. */
export function cellOf(object: unknown, { jsonPath, type }: Column, now: number): string {
  const [value] = valuesAt(object, stepsOf(jsonPath));
  if (value === undefined || value === null) return "";
  if (type === "date" && typeof value === "string") return ageText(value, now) ?? "<invalid>";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

type Step = { readonly member: string } | { readonly each: true } | { readonly where: string; readonly is: string };

/** The steps of a JSONPath of the forms that CRDs of ours use: `.a.b`, `\.` in a name, `.*`, and `[?(@.type=="X")]`. */
function stepsOf(path: string): readonly Step[] {
  const steps: Step[] = [];
  let member = "";
  const end = (): void => {
    if (member !== "") steps.push(member === "*" ? { each: true } : { member });
    member = "";
  };
  for (let i = 0; i < path.length; i++) {
    if (path[i] === "\\") member += path[++i] ?? "";
    else if (path[i] === ".") end();
    else if (path[i] === "[") {
      end();
      const close = path.indexOf("]", i);
      const [where = "", is = ""] = path.slice(i + FILTER_START, close - FILTER_END).split("==");
      steps.push({ where, is: is.slice(1, -1) });
      i = close;
    } else member += path[i];
  }
  end();
  return steps;
}

const FILTER_START = "[?(@.".length;
const FILTER_END = ")".length;

function valuesAt(value: unknown, [step, ...rest]: readonly Step[]): readonly unknown[] {
  if (step === undefined) return [value];
  if (typeof value !== "object" || value === null) return [];
  if ("member" in step) {
    return Object.hasOwn(value, step.member) ? valuesAt((value as Readonly<Record<string, unknown>>)[step.member], rest) : [];
  }
  const all: readonly unknown[] = Object.values(value);
  const chosen = "each" in step ? all : all.filter((item) => (item as Readonly<Record<string, unknown>> | null)?.[step.where] === step.is);
  return chosen.flatMap((item) => valuesAt(item, rest));
}
