import { Type } from "@sinclair/typebox";
import type { Value } from "./defineKind.ts";
import { listOf, userFields } from "./schema.ts";
import { stringMatch } from "./stringMatch.ts";

const headerMatcher = userFields(
  {
    name: Type.String({ description: "Name of the header, case-insensitive. Required." }),
    value: Type.String({ description: "Value that the header must have. Empty: the header must be present." }),
    regex: Type.Boolean({ description: "`value` is an RE2 regular expression that the whole value must match. Default: false." }),
    invertMatch: Type.Boolean({ description: "The request matches if the header does not match. Default: false." }),
  },
  { description: "One header of the request." },
);

const queryParameterMatcher = userFields(
  {
    name: Type.String({ description: "Name of the query parameter. Required." }),
    value: Type.String({ description: "Value that the parameter must have. Empty: the parameter must be present." }),
    regex: Type.Boolean({ description: "`value` is an RE2 regular expression that the whole value must match. Default: false." }),
  },
  { description: "One query parameter of the request." },
);

/** Which HTTP requests a policy is for: everything that an entry names must hold. */
export const httpMatcher = userFields(
  {
    name: Type.String({ description: "Name of the matcher, for documentation only. Empty: none." }),
    uri: stringMatch({ description: "Path of the request, without the query string." }),
    headers: listOf(headerMatcher, { description: "All of these headers must match. Empty: any.", maxItems: 256 }),
    queryParameters: listOf(queryParameterMatcher, { description: "All of these query parameters must match. Empty: any.", maxItems: 256 }),
    method: Type.String({ description: "Method of the request in upper case, such as GET. Empty: any." }),
  },
  { description: "Conditions on a request; all must be met." },
);

export type HttpMatcher = Value<typeof httpMatcher>;
