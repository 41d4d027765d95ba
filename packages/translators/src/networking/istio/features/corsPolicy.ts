import { escapedRegex, type StringMatch } from "@isthmus/api";
import { type Finding, invalid } from "../../../findings.ts";
import { durationFindings, istioDuration, SECOND } from "../durations.ts";
import { corsHeaderFindings, corsMethodFindings, regexFindings } from "../limits.ts";
import type { RouteCheck, RoutePolicy } from "./feature.ts";

const PATH = "spec.policy.corsPolicy";

/** `corsPolicy`: what browsers may do with answers for pages of other origins. */
export const cors: RoutePolicy = ({ corsPolicy: policy }) => {
  if (policy === undefined) return {};
  const { allowOrigins, allowMethods, allowHeaders, exposeHeaders, allowCredentials } = policy;
  const maxAge = istioDuration(policy.maxAge, SECOND);
  return {
    corsPolicy: {
      ...(allowOrigins === undefined ? {} : { allowOrigins: allowOrigins.map(origin) }),
      ...(allowMethods === undefined ? {} : { allowMethods }),
      ...(allowHeaders === undefined ? {} : { allowHeaders }),
      ...(exposeHeaders === undefined ? {} : { exposeHeaders }),
      ...(maxAge === undefined ? {} : { maxAge }),
      ...(allowCredentials === undefined ? {} : { allowCredentials }),
    },
  };
};

export const corsCheck: RouteCheck = ({ corsPolicy: policy }) => [
  ...(policy?.allowOrigins ?? []).flatMap((match, i) => originFindings(match, `${PATH}.allowOrigins[${i}]`)),
  ...(policy?.allowMethods ?? []).flatMap((method, i) => corsMethodFindings(`${PATH}.allowMethods[${i}]`, method)),
  ...(policy?.allowHeaders ?? []).flatMap((name, i) => corsHeaderFindings(`${PATH}.allowHeaders[${i}]`, name)),
  ...(policy?.exposeHeaders ?? []).flatMap((name, i) => corsHeaderFindings(`${PATH}.exposeHeaders[${i}]`, name)),
  ...durationFindings(`${PATH}.maxAge`, policy?.maxAge, SECOND),
];

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
  return [invalid("CorsOriginInvalid", `${path}: is empty: set exact, prefix, suffix or regex`)];
}
