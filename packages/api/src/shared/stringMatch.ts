import { Type } from "@sinclair/typebox";
import type { Value } from "./defineKind.ts";
import { atMostOneOf, type SchemaOptions, userFields } from "./schema.ts";

/** How a text must look. */
export function stringMatch(options: SchemaOptions = {}) {
  return userFields(
    {
      exact: Type.String({ description: "Exact value. Default: not compared." }),
      prefix: Type.String({ description: "Prefix of the value. Default: not compared." }),
      regex: Type.String({
        description: "RE2 regular expression that the whole value must match (github.com/google/re2/wiki/Syntax). Default: not compared.",
      }),
      suffix: Type.String({ description: "Suffix of the value. Default: not compared." }),
      ignoreCase: Type.Boolean({ description: "Whether the comparison is case-insensitive. Has no effect on `regex`. Default: false." }),
    },
    { ...atMostOneOf("exact", "prefix", "regex", "suffix"), ...options },
  );
}

export type StringMatch = Value<ReturnType<typeof stringMatch>>;

/** Quotes a text for use inside an RE2 regular expression. */
export function escapedRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
