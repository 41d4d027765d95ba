import { type Finding, invalidFinding } from "../findings.ts";
import { re2Findings } from "./re2.ts";

/**
 * What Istio's own validation refuses in values that users write freely: better reported here, beside the policy, than by a cluster.
 * Source: istio.io/istio pkg/config/validation.
 */

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const PSEUDO_HEADERS = new Set([":method", ":scheme", ":authority", ":path", ":status"]);

/** A header that requests are matched by. */
export function matchedHeaderFindings(path: string, name = ""): readonly Finding[] {
  if (HEADER_NAME.test(name) || PSEUDO_HEADERS.has(name)) return [];
  return [invalidFinding("ValueInvalid", `${path}: "${name}" is not a valid header name, such as x-user`)];
}

/** A header by its name alone. */
export function headerNameFindings(path: string, name: string): readonly Finding[] {
  return HEADER_NAME.test(name)
    ? []
    : [invalidFinding("ValueInvalid", `${path}: ${JSON.stringify(name)} is not a valid header name, such as x-user`)];
}

/** A header that is shown to browsers; `*` is any. */
export function corsHeaderFindings(path: string, name: string): readonly Finding[] {
  return name === "*" || HEADER_NAME.test(name)
    ? []
    : [invalidFinding("ValueInvalid", `${path}: "${name}" is not a valid header name, such as x-user`)];
}

const CORS_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "OPTIONS", "TRACE", "*"];

/** A method that browsers may use. */
export function corsMethodFindings(path: string, method: string): readonly Finding[] {
  if (CORS_METHODS.includes(method)) return [];
  return [invalidFinding("ValueInvalid", `${path}: "${method}" is not one of ${CORS_METHODS.join(", ")}`)];
}

/** A header that is added to or removed from requests or responses. `mayBeAuthority`: only what is added to a request may change the host. */
export function changedHeaderFindings(path: string, name: string, mayBeAuthority: boolean): readonly Finding[] {
  const isAuthority = [":authority", "host"].includes(name.toLowerCase());
  if (isAuthority ? mayBeAuthority : HEADER_NAME.test(name)) return [];
  return [invalidFinding("ValueInvalid", `${path}: "${name}" cannot be changed: name a header such as x-user`)];
}

/** Whether Envoy would fill something into a value: it reads `%NAME%` as a command operator, and `%%` as a percent sign. */
export function hasOperator(value: string): boolean {
  return value.replaceAll("%%", "").includes("%");
}

/** A value that is added: Envoy reads `%NAME%` as something to be filled in. */
export function headerValueFindings(path: string, value: string): readonly Finding[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what HTTP forbids
  const isPrintable = /^[^\u0000-\u0008\u000a-\u001f\u007f]*$/.test(value);
  const isFilledIn = !value
    .replaceAll("%%", "")
    .replaceAll(/%[^%]+%/g, "")
    .includes("%");
  if (isPrintable && isFilledIn) return [];
  return [
    invalidFinding(
      "ValueInvalid",
      `${path}: ${JSON.stringify(value)} is not a valid header value: write %% for %, and no control characters`,
    ),
  ];
}

/**
 * A regular expression of Google's RE2, for Envoy: neither what JavaScript refuses nor what RE2 alone does may be one. Istio's webhook refuses the whole
 * object for one of these, with the routes of others in it.
 */
export function regexFindings(path: string, regex: string): readonly Finding[] {
  const problem = regexProblem(regex);
  return problem === undefined
    ? re2Findings(path, regex)
    : [invalidFinding("ValueInvalid", `${path}: ${JSON.stringify(regex)} is not a valid RE2 regular expression: ${problem}`)];
}

function regexProblem(regex: string): string | undefined {
  if (regex === "") return "it is empty";
  if (/\(\?<?[=!]/.test(regex)) return "lookahead and lookbehind are not supported";
  if (/(^|[^\\])(\\\\)*\\[1-9]/.test(regex)) return "backreferences are not supported";
  const translated = regex
    .replaceAll(/\(\?P</g, "(?<")
    .replaceAll(/\(\?[imsU-]+\)/g, "")
    .replaceAll(/\(\?[imsU-]+:/g, "(?:");
  try {
    new RegExp(translated);
    return undefined;
  } catch (error) {
    // Engines word it differently, and equal input must give equal messages.
    if (error instanceof SyntaxError) return "syntax error";
    throw error;
  }
}

const QUALIFIED = "(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const DNS_LABEL = "[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?";
const LABEL_KEY = new RegExp(`^(?:${DNS_LABEL}(?:\\.${DNS_LABEL})*/)?${QUALIFIED}$`);
const LABEL_VALUE = new RegExp(`^(?:${QUALIFIED})?$`);
const NAMESPACE = new RegExp(`^${DNS_LABEL}$`);

/** Labels of pods. */
export function labelFindings(path: string, labels: Readonly<Record<string, string>> | undefined): readonly Finding[] {
  return Object.entries(labels ?? {})
    .filter(([key, value]) => !LABEL_KEY.test(key) || !LABEL_VALUE.test(value))
    .map(([key, value]) => invalidFinding("ValueInvalid", `${path}: "${key}: ${value}" is not a valid pod label`));
}

/** A namespace. */
export function namespaceFindings(path: string, namespace: string): readonly Finding[] {
  return isDnsLabel(namespace) ? [] : [invalidFinding("ValueInvalid", `${path}: "${namespace}" is not a valid namespace`)];
}

/** Whether a text can name a subset or a namespace. */
export function isDnsLabel(text: string): boolean {
  return text.length <= 63 && NAMESPACE.test(text);
}
