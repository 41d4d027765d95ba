import { hashOf } from "./sharedTexts.ts";

/**
 * A JSON value, or one that says the same and was given before: what is made by the hundred thousand and has few forms is held once. It
 * must not be changed afterwards.
 */
export function shared<T extends object>(value: T): T {
  const text = JSON.stringify(value);
  // All of it: lists of one form begin alike.
  const place = hashOf(text, text.length) & (PLACES - 1);
  const known = values[place];
  // Of the same text, and so of the same form.
  if (known !== undefined && known.text === text) return known.value as T;
  values[place] = { text, value };
  return value;
}

// Forms that recur do so soon: what is made of one cluster after the other has the same thousands in each.
const PLACES = 1 << 12;
const values: ({ readonly text: string; readonly value: object } | undefined)[] = new Array<undefined>(PLACES).fill(undefined);
