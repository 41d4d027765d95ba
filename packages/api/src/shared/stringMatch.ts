import { Type } from "@sinclair/typebox";
import type { Value } from "./defineKind.ts";
import { atMostOneOf, type SchemaOptions, userFields } from "./schema.ts";

/** How a text must look. */
export function stringMatch(options: SchemaOptions = {}) {
  return userFields(
    {
      exact: Type.String({ description: "The text must be equal to this." }),
      prefix: Type.String({ description: "The text must begin with this." }),
      regex: Type.String({ description: "The whole text must match this RE2 regular expression (github.com/google/re2/wiki/Syntax)." }),
      suffix: Type.String({ description: "The text must end with this." }),
      ignoreCase: Type.Boolean({ description: "Capital and small letters count as equal. Without effect on `regex`." }),
    },
    { ...atMostOneOf("exact", "prefix", "regex", "suffix"), ...options },
  );
}

export type StringMatch = Value<ReturnType<typeof stringMatch>>;

/** Quotes a text for use inside an RE2 regular expression. */
export function escapedRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
