import { Type } from "@sinclair/typebox";
import type { Value } from "./defineKind.ts";
import { listOf, userFields } from "./schema.ts";
import { stringMatch } from "./stringMatch.ts";

const headerMatcher = userFields(
  {
    name: Type.String({ description: "Name of the header; capital and small letters count as equal." }),
    value: Type.String({ description: "The value that the header must have. Empty: the header must be there." }),
    regex: Type.Boolean({ description: "`value` is an RE2 regular expression that the whole value must match." }),
    invertMatch: Type.Boolean({ description: "The request matches when the header does not." }),
  },
  { description: "One header of the request." },
);

const queryParameterMatcher = userFields(
  {
    name: Type.String({ description: "Name of the query parameter." }),
    value: Type.String({ description: "The value that the parameter must have. Empty: the parameter must be there." }),
    regex: Type.Boolean({ description: "`value` is an RE2 regular expression that the whole value must match." }),
  },
  { description: "One query parameter of the request." },
);

/** Which HTTP requests a policy is for: everything that an entry names must hold. */
export const httpMatcher = userFields(
  {
    name: Type.String({ description: "A name for people; it has no effect." }),
    uri: stringMatch({ description: "The path of the request, without its query." }),
    headers: listOf(headerMatcher, { description: "All of these headers must match.", maxItems: 256 }),
    queryParameters: listOf(queryParameterMatcher, { description: "All of these query parameters must match.", maxItems: 256 }),
    method: Type.String({ description: "The method of the request, in capital letters, such as GET." }),
  },
  { description: "Conditions on a request; all of them must hold." },
);

export type HttpMatcher = Value<typeof httpMatcher>;
