import { Type } from "@sinclair/typebox";
import { approvalColumns, approvalFields } from "../shared/approval.ts";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { lastAcceptedSpec } from "../shared/lastAcceptedSpec.ts";
import { fields, listOf, oneOfWords, type SchemaOptions, uint32, userFields } from "../shared/schema.ts";
import { workloadSelector } from "../shared/selectors.ts";

// Each record is written once for each workload: what it may hold at most is multiplied by these.
const MOST_ENTRIES = 64;
const MOST_LETTERS = 256;

/** Names of headers, or of other things that a request has. */
function names(options: SchemaOptions) {
  return Type.Array(Type.String({ maxLength: MOST_LETTERS }), { maxItems: MOST_ENTRIES, ...options });
}

const statusCodeMatcher = userFields(
  {
    value: uint32({ description: "Status code of the response, from 100 to 599. Required." }),
    comparator: oneOfWords(["EQ", "GE", "LE"], {
      description: "EQ, the default: the response has this code. GE: this code or a higher one. LE: this code or a lower one.",
    }),
  },
  { description: "Status code of the response. Required unless headerMatcher is set." },
);

const headerMatcher = userFields(
  {
    name: Type.String({ maxLength: MOST_LETTERS, description: "Name of the header, case-insensitive. Required." }),
    value: Type.String({ maxLength: MOST_LETTERS, description: "Value that the header must have. Empty: the header must be present." }),
    regex: Type.Boolean({ description: "`value` is an RE2 regular expression that the whole value must match. Default: false." }),
    invertMatch: Type.Boolean({ description: "The request is logged if the header does not match. Default: false." }),
  },
  { description: "One header of the request. Required unless statusCodeMatcher is set." },
);

const accessLogRecordSpec = userFields(
  {
    workloadSelectors: listOf(workloadSelector, {
      description: "Workloads whose proxies send access logs: at least one entry must match. Empty: all workloads.",
      maxItems: 256,
    }),
    filters: listOf(
      userFields({ statusCodeMatcher, headerMatcher }, { description: "One condition: either statusCodeMatcher or headerMatcher." }),
      { description: "Which requests are logged: at least one entry must match. Empty: all requests.", maxItems: MOST_ENTRIES },
    ),
    includedRequestHeaders: names({ description: "Headers of requests that entries have in addition. Empty: none." }),
    includedResponseHeaders: names({ description: "Headers of responses that entries have in addition. Empty: none." }),
    includedResponseTrailers: names({ description: "Trailers of responses that entries have in addition. Empty: none." }),
    includedFilterStateObjects: names({
      description: "Objects of Envoy's filter state that entries have in addition, by their keys. Empty: none.",
    }),
  },
  { description: "Which requests of some workloads their proxies send to the agent of their cluster as access logs." },
);

export type AccessLogRecordSpec = Value<typeof accessLogRecordSpec>;

/** Which requests some workloads log. */
export const AccessLogRecord = defineKind({
  apiVersion: "observability.enterprise.mesh.gloo.solo.io/v1",
  kind: "AccessLogRecord",
  plural: "accesslogrecords",
  fields: {
    spec: accessLogRecordSpec,
    status: fields({
      ...approvalFields,
      workloads: listOf(fields({ name: Type.String(), namespace: Type.String() }), {
        description: "Workloads on which it is in force: the first 1,000 of them.",
      }),
      targetCount: uint32({ description: "Number of workloads that it selects." }),
      acceptedCount: uint32({ description: "Number of those on which it is in force." }),
      lastAccepted: lastAcceptedSpec(
        "The last spec without errors. It stays in force while a later spec has errors. Absent for a spec larger than 256 KiB: of that nothing stays.",
      ),
    }),
  },
  crd: {
    description: "Which requests of some workloads their proxies send to the agent of their cluster as access logs.",
    shortNames: ["alr"],
    categories: ["gloo-mesh"],
    singular: "accesslogrecord",
    printerColumns: approvalColumns,
  },
});

export type AccessLogRecord = ReturnType<typeof AccessLogRecord.parse>;
