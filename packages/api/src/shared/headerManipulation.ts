import type { Value } from "./defineKind.ts";
import { stringMap, strings, userFields } from "./schema.ts";

/** Headers to add and to remove. */
export const headerManipulationSchema = userFields(
  {
    removeResponseHeaders: strings({ description: "Headers to remove from the response. Empty: none." }),
    appendResponseHeaders: stringMap({ description: "Headers to append to the response; existing values are kept. Empty: none." }),
    removeRequestHeaders: strings({ description: "Headers to remove from the request. Empty: none." }),
    appendRequestHeaders: stringMap({ description: "Headers to append to the request; existing values are kept. Empty: none." }),
  },
  { description: "Adds and removes headers." },
);

export type HeaderManipulation = Value<typeof headerManipulationSchema>;
