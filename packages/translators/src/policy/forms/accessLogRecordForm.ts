import { AccessLogRecord, type AccessLogRecordSpec, ineffectiveFields, lastAcceptedSpecOf } from "@isthmus/api";
import { isSecretHeader } from "@isthmus/core";
import { type Finding, invalidFinding, warningFinding } from "../../findings.ts";
import { memoizeRow } from "../../incremental/memoizeRow.ts";
import { fieldMessage } from "../ineffective.ts";
import { type SpecInForce, specInForce } from "../lastAccepted.ts";
import { headerNameFindings, matchedHeaderFindings, regexFindings } from "../limits.ts";

/** What is in force of an AccessLogRecord (docs/decisions/0094). */
export type AccessLogRecordForm = SpecInForce<AccessLogRecordSpec>;

/** Where no spec is known that has no errors, nothing: a guess could log what nobody asked for. */
export const accessLogRecordFormOf = memoizeRow((record: AccessLogRecord): AccessLogRecordForm => {
  const { spec = {}, status } = record;
  return specInForce({ spec, last: lastAcceptedSpecOf(AccessLogRecord, record), lastAccepted: status?.lastAccepted }, specFindings);
});

const SPEC = AccessLogRecord.definition.fields.spec;
const HEADER_LISTS = ["includedRequestHeaders", "includedResponseHeaders", "includedResponseTrailers"] as const;

function specFindings(spec: AccessLogRecordSpec): readonly Finding[] {
  const { filters = [], includedFilterStateObjects = [] } = spec;
  return [
    ...ineffectiveFields(SPEC, spec, "spec").map((field) =>
      invalidFinding(
        "SelectorNotUnderstood",
        fieldMessage(field, "nothing is logged, because without the field more could be than was meant"),
      ),
    ),
    ...filters.flatMap((filter, i) => filterFindings(filter, `spec.filters[${i}]`)),
    ...HEADER_LISTS.flatMap((field) =>
      (spec[field] ?? []).flatMap((name, i) => [
        ...headerNameFindings(`spec.${field}[${i}]`, name),
        ...maskedFindings(`spec.${field}[${i}]`, name),
      ]),
    ),
    ...includedFilterStateObjects.flatMap((key, i) => stateObjectFindings(key, `spec.includedFilterStateObjects[${i}]`)),
  ];
}

type LogFilter = NonNullable<AccessLogRecordSpec["filters"]>[number];

function filterFindings({ statusCodeMatcher, headerMatcher }: LogFilter, path: string): readonly Finding[] {
  if ((statusCodeMatcher === undefined) === (headerMatcher === undefined)) {
    const message =
      statusCodeMatcher === undefined
        ? `${path}: has neither statusCodeMatcher nor headerMatcher: set one of them, or remove the entry`
        : `${path}: has both statusCodeMatcher and headerMatcher: write an entry for each; a request is logged if one of them matches`;
    return [invalidFinding("LogFilterInvalid", message)];
  }
  if (statusCodeMatcher !== undefined) return codeFindings(statusCodeMatcher.value, `${path}.statusCodeMatcher.value`);
  const { name, value = "", regex = false } = headerMatcher ?? {};
  return [
    ...matchedHeaderFindings(`${path}.headerMatcher.name`, name),
    ...(regex && value === ""
      ? [
          invalidFinding(
            "LogFilterInvalid",
            `${path}.headerMatcher.value: is empty, but regex is true: set the regular expression, or remove regex`,
          ),
        ]
      : []),
    ...(regex && value !== "" ? regexFindings(`${path}.headerMatcher.value`, value) : []),
  ];
}

/** Codes that a response can have. Source: RFC 9110, section 15. */
function codeFindings(value: number | undefined, path: string): readonly Finding[] {
  if (value !== undefined && value >= 100 && value <= 599) return [];
  const what = value === undefined ? "is missing" : `${value} is not a status code`;
  return [invalidFinding("LogFilterInvalid", `${path}: ${what}: set a number from 100 to 599`)];
}

function maskedFindings(path: string, name: string): readonly Finding[] {
  if (!isSecretHeader(name)) return [];
  return [
    warningFinding(
      "HeaderMasked",
      `${path}: values of ${name} may be secrets, by its name, so proxies do not send them and entries do not have them: remove it, or copy what is to be logged to a header with another name`,
    ),
  ];
}

function stateObjectFindings(key: string, path: string): readonly Finding[] {
  if (/^[\u0021-\u007e]+$/.test(key)) return [];
  return [
    invalidFinding(
      "ValueInvalid",
      `${path}: ${JSON.stringify(key)} is not a key of Envoy's filter state: use printable characters without spaces`,
    ),
  ];
}
