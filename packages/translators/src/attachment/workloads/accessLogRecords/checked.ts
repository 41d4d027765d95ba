import { AccessLogRecord } from "@isthmus/api";
import { accessLogRecordFormOf } from "../../../policy/forms/accessLogRecordForm.ts";
import { workloadPolicyChecks } from "../workloadPolicyChecks.ts";
import { firstLogging } from "./matching.ts";

/** What is to be said of each AccessLogRecord by itself. */
export const accessLogRecordChecks = workloadPolicyChecks({
  kind: AccessLogRecord,
  formOf(record: AccessLogRecord) {
    const { spec, findings } = accessLogRecordFormOf(record);
    return { selectors: spec && (spec.workloadSelectors ?? []), findings };
  },
  first: firstLogging,
  selectors: "spec.workloadSelectors: select",
  consequence: "nothing is logged",
});
