import type { StringMatch } from "@isthmus/api";
import { type Finding, invalidFinding, warningFinding } from "../../../findings.ts";
import { regexFindings } from "../../../policy/limits.ts";
import { shareFindings } from "../percentage.ts";
import { defineFeature } from "./feature.ts";

const PATH = "spec.policy.csrf";

/** Requests that change something are let in from the destination's own origin alone. Source: Envoy, extensions.filters.http.csrf.v3. */
export const csrf = defineFeature({
  field: "csrf",
  writes: "workload",
  sets: { csrf: PATH },
  fieldsOf: ({ filterEnabled, shadowEnabled, percentage, additionalOrigins = [] }) => {
    if (!filterEnabled && !shadowEnabled) return {};
    const share = { default_value: fractionOf(percentage) };
    const config = {
      "@type": "type.googleapis.com/envoy.extensions.filters.http.csrf.v3.CsrfPolicy" as const,
      // Envoy wants this one in any case.
      ...(filterEnabled ? { filter_enabled: share } : { filter_enabled: { default_value: fractionOf(0) }, shadow_enabled: share }),
      ...(additionalOrigins.length === 0 ? {} : { additional_origins: additionalOrigins.map(matcherOf) }),
    };
    return { csrf: { name: "envoy.filters.http.csrf", typed_config: config } };
  },
  check: ({ filterEnabled, shadowEnabled, percentage, additionalOrigins = [] }) => [
    ...(filterEnabled || shadowEnabled ? [] : [warningFinding("NoEffect", `${PATH}: has no effect, ${NEITHER}`)]),
    ...shareFindings(`${PATH}.percentage`, percentage),
    ...additionalOrigins.flatMap((match, i) => originFindings(match, `${PATH}.additionalOrigins[${i}]`)),
  ],
});

const NEITHER =
  "because neither filterEnabled nor shadowEnabled is true: set filterEnabled to reject requests, or shadowEnabled to only count them";

/** A share of requests as Envoy writes it, in whole hundredths or else in millionths. */
function fractionOf(percentage = 100): { readonly numerator: number; readonly denominator: string } {
  return Number.isInteger(percentage)
    ? { numerator: percentage, denominator: "HUNDRED" }
    : { numerator: Math.round(percentage * 10_000), denominator: "MILLION" };
}

/** A StringMatcher of Envoy, whose regular expressions match whole texts and heed `ignore_case` no more than the API does. */
function matcherOf({ exact, prefix, suffix, regex, ignoreCase }: StringMatch): object {
  // Envoy takes no empty ones: with one of them it would take no configuration at all any more.
  if (regex) return { safe_regex: { regex } };
  const text = exact ? { exact } : prefix ? { prefix } : { suffix };
  return ignoreCase ? { ...text, ignore_case: true } : text;
}

/** Envoy compares no more of an origin than its host and port: what has a scheme matches nothing. */
function originFindings({ exact, prefix, suffix, regex }: StringMatch, path: string): readonly Finding[] {
  if (regex) return regexFindings(`${path}.regex`, regex);
  const [member, text] = Object.entries({ exact, prefix, suffix }).find(([, value]) => value) ?? [];
  if (text === undefined) return [invalidFinding("CsrfOriginInvalid", `${path}: is empty: set exact, prefix, suffix or regex`)];
  if (!text.includes("/")) return [];
  const remedy = "write only host and port, such as shop.example.com or shop.example.com:8443";
  return [
    invalidFinding(
      "CsrfOriginInvalid",
      `${path}.${member}: ${JSON.stringify(text)} has a scheme or a path, but only host and port are compared: ${remedy}`,
    ),
  ];
}
