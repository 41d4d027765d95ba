import { escapedRegex, type StringMatch } from "@isthmus/api";
import { type Finding, invalidFinding } from "../../../findings.ts";
import { corsHeaderFindings, corsMethodFindings, regexFindings } from "../../../policy/limits.ts";
import { durationFindings, istioDuration, SECOND } from "../durations.ts";
import { defineFeature } from "./feature.ts";

const PATH = "spec.policy.corsPolicy";

/** What browsers may do with answers for pages of other origins. */
export const corsPolicy = defineFeature({
  field: "corsPolicy",
  writes: "route",
  sets: { corsPolicy: PATH },
  fieldsOf: (wanted) => {
    const { allowOrigins = [], allowMethods = [], allowHeaders = [], exposeHeaders = [], allowCredentials } = wanted;
    const maxAge = istioDuration(wanted.maxAge, SECOND);
    return {
      corsPolicy: {
        ...(allowOrigins.length === 0 ? {} : { allowOrigins: allowOrigins.map(origin) }),
        ...(allowMethods.length === 0 ? {} : { allowMethods }),
        ...(allowHeaders.length === 0 ? {} : { allowHeaders }),
        ...(exposeHeaders.length === 0 ? {} : { exposeHeaders }),
        ...(maxAge === undefined ? {} : { maxAge }),
        ...(allowCredentials === undefined ? {} : { allowCredentials }),
      },
    };
  },
  check: ({ allowOrigins = [], allowMethods = [], allowHeaders = [], exposeHeaders = [], maxAge }) => [
    ...allowOrigins.flatMap((match, i) => originFindings(match, `${PATH}.allowOrigins[${i}]`)),
    ...allowMethods.flatMap((method, i) => corsMethodFindings(`${PATH}.allowMethods[${i}]`, method)),
    ...allowHeaders.flatMap((name, i) => corsHeaderFindings(`${PATH}.allowHeaders[${i}]`, name)),
    ...exposeHeaders.flatMap((name, i) => corsHeaderFindings(`${PATH}.exposeHeaders[${i}]`, name)),
    ...durationFindings(`${PATH}.maxAge`, maxAge, SECOND),
  ],
});

/** Istio has neither suffixes nor a way to ignore case here: both are said as regular expressions, which match whole texts. */
function origin({ exact, prefix, suffix, regex, ignoreCase }: StringMatch): { exact?: string; prefix?: string; regex?: string } {
  const flag = ignoreCase ? "(?i)" : "";
  if (regex !== undefined) return { regex };
  if (suffix !== undefined) return { regex: `${flag}.*${escapedRegex(suffix)}$` };
  if (exact !== undefined) return ignoreCase ? { regex: `${flag}${escapedRegex(exact)}` } : { exact };
  if (prefix !== undefined) return ignoreCase ? { regex: `${flag}${escapedRegex(prefix)}.*` } : { prefix };
  return {};
}

function originFindings({ exact, prefix, suffix, regex }: StringMatch, path: string): readonly Finding[] {
  if (regex) return regexFindings(`${path}.regex`, regex);
  if (exact || prefix || suffix) return [];
  return [invalidFinding("CorsOriginInvalid", `${path}: is empty: set exact, prefix, suffix or regex`)];
}
