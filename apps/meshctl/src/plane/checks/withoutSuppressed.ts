import { type LineSuppression, objectAtStart, suppressionOf } from "../../offline/suppressions.ts";
import { type CheckCode, RENAMED_CODES } from "./codes.ts";
import type { CheckResult } from "./report.ts";

/** Results without the findings that `-S` suppresses, with their number. */
export function withoutSuppressed(
  results: readonly CheckResult[],
  suppress: readonly LineSuppression[] | undefined,
): readonly CheckResult[] {
  if (suppress === undefined) return results;
  return results.map((result) => {
    const findings = result.findings.filter(({ code, message }) =>
      codesOf(code).every((each) => suppressionOf(suppress, { ...objectAtStart(message), code: each }) === undefined),
    );
    const suppressed = result.findings.length - findings.length;
    return suppressed === 0 ? result : { ...result, findings, suppressed };
  });
}

/** A code, and the one that it had before. */
function codesOf(code: CheckCode): readonly string[] {
  return [code, ...Object.keys(RENAMED_CODES).filter((before) => RENAMED_CODES[before] === code)];
}
