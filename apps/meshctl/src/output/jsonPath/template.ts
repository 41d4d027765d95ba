/** What is between the braces of a template, and around them. */
export type TemplatePart =
  | { readonly text: string }
  | { readonly path: Path }
  /** `{range PATH}…{end}`: the body, once for each value. */
  | { readonly range: Path; readonly body: Template };

export type Template = readonly TemplatePart[];

/** Steps from one value to others; none: the value itself. */
export type Path = readonly PathStep[];

export type PathStep =
  | { readonly field: string }
  /** `.*`: all members of an object, all items of a list. */
  | { readonly every: true }
  /** `..`: the value, and whatever is in it. */
  | { readonly descend: true }
  | Slice
  /** `[0,2]`, `['a','b']`: the values of each, one after the other. */
  | { readonly union: readonly Path[] }
  | { readonly filter: Filter };

/** `[from:to:step]`: negative numbers count from the end of the list. `[*]` is `[0:]`. */
export interface Slice {
  readonly from: number;
  /** Without: to the end. */
  readonly to?: number;
  readonly step: number;
  /** One item, `from`. */
  readonly isIndex: boolean;
}

/** `[?(@.a == "b")]`; without an operator: whether the path leads anywhere. */
export interface Filter {
  readonly left: Path;
  readonly test?: { readonly operator: Operator; readonly right: Path | { readonly literal: string | number | boolean } };
}

export const OPERATORS = ["==", "!=", "<=", ">=", "<", ">"] as const;
export type Operator = (typeof OPERATORS)[number];
