import type { Value } from "./defineKind.ts";
import { stringMap, strings, userFields } from "./schema.ts";

/** Headers to add and to remove. */
export const headerManipulation = userFields(
  {
    removeResponseHeaders: strings({ description: "Headers that are taken off the response." }),
    appendResponseHeaders: stringMap({ description: "Headers that are added to the response, beside values it has already." }),
    removeRequestHeaders: strings({ description: "Headers that are taken off the request." }),
    appendRequestHeaders: stringMap({ description: "Headers that are added to the request, beside values it has already." }),
  },
  { description: "Adds and removes headers." },
);

export type HeaderManipulation = Value<typeof headerManipulation>;
