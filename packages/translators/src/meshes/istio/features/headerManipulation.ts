import type { HeaderManipulation, HttpRoute } from "@isthmus/api";
import { type Finding, warningFinding } from "../../../findings.ts";
import { changedHeaderFindings, hasOperator, headerValueFindings } from "../../../policy/limits.ts";
import { defineFeature } from "./feature.ts";

/** Headers to add and to remove. */
export const headerManipulation = defineFeature({
  field: "headerManipulation",
  writes: "route",
  sets: { headers: "spec.policy.headerManipulation" },
  fieldsOf: (wanted, { allowsHeaderOperators }) => {
    const headers = headersOf(wanted, allowsHeaderOperators);
    return headers === undefined ? {} : { headers };
  },
  check: (wanted, { allowsHeaderOperators }) => headerFindings("spec.policy.headerManipulation", wanted, allowsHeaderOperators),
});

/** What is wrong with headers that are to be changed. */
export function headerFindings(path: string, wanted: HeaderManipulation | undefined, allowsOperators: boolean): readonly Finding[] {
  const { appendRequestHeaders, removeRequestHeaders, appendResponseHeaders, removeResponseHeaders } = wanted ?? {};
  return [
    ...addedFindings(`${path}.appendRequestHeaders`, appendRequestHeaders, { mayBeAuthority: true, allowsOperators }),
    ...removedFindings(`${path}.removeRequestHeaders`, removeRequestHeaders),
    ...addedFindings(`${path}.appendResponseHeaders`, appendResponseHeaders, { mayBeAuthority: false, allowsOperators }),
    ...removedFindings(`${path}.removeResponseHeaders`, removeResponseHeaders),
  ];
}

function addedFindings(
  path: string,
  headers: Readonly<Record<string, string>> = {},
  { mayBeAuthority, allowsOperators }: { readonly mayBeAuthority: boolean; readonly allowsOperators: boolean },
): readonly Finding[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const findings = [...changedHeaderFindings(path, name, mayBeAuthority), ...headerValueFindings(`${path}.${name}`, value)];
    return findings.length > 0 || allowsOperators || !hasOperator(value) ? findings : [operatorRefused(`${path}.${name}`, value)];
  });
}

function operatorRefused(path: string, value: string): Finding {
  return warningFinding(
    "HeaderOperator",
    `${path}: ${JSON.stringify(value)} contains an Envoy command operator, so this header is not added: write %% for %, or set ` +
      "policies.headerOperators: ALLOWED in the Settings",
  );
}

function removedFindings(path: string, names: readonly string[] = []): readonly Finding[] {
  return names.flatMap((name, i) => changedHeaderFindings(`${path}[${i}]`, name, false));
}

type HeaderOperations = Required<NonNullable<HttpRoute["headers"]>>;

/**
 * Header operations as Istio writes them. Both sides are there even where nothing is done on one, as the published product has it.
 * Undefined where there are none, or nothing is left of them.
 */
export function headersOf(wanted: HeaderManipulation, allowsOperators: boolean): HeaderOperations | undefined {
  const { removeRequestHeaders, removeResponseHeaders } = wanted;
  const [appendRequestHeaders, appendResponseHeaders] = [wanted.appendRequestHeaders, wanted.appendResponseHeaders].map((headers) =>
    allowsOperators ? headers : withoutOperators(headers),
  );
  const headers = {
    request: operations(appendRequestHeaders, removeRequestHeaders),
    response: operations(appendResponseHeaders, removeResponseHeaders),
  };
  const isEmpty = Object.keys(headers.request).length === 0 && Object.keys(headers.response).length === 0;
  return isEmpty ? undefined : headers;
}

/** Headers but those into which Envoy would fill something. */
function withoutOperators(headers: Readonly<Record<string, string>> | undefined): Readonly<Record<string, string>> | undefined {
  const kept = Object.entries(headers ?? {}).filter(([, value]) => !hasOperator(value));
  return kept.length === Object.keys(headers ?? {}).length ? headers : Object.fromEntries(kept);
}

function operations(add: Readonly<Record<string, string>> = {}, remove: readonly string[] = []): HeaderOperations["request"] {
  return { ...(Object.keys(add).length === 0 ? {} : { add }), ...(remove.length === 0 ? {} : { remove }) };
}
