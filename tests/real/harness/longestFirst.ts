import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Suites that take minutes. The others, of less than one each, fill up what they leave. */
const LONGEST = [
  "dataplane/trust.test.ts",
  "dataplane/dataplane.test.ts",
  "tests/real/upgrade.test.ts",
  "tests/real/docs.test.ts",
  "tests/real/restore.test.ts",
  "tests/real/crashes.test.ts",
  "tests/real/registerAgent.test.ts",
  "tests/real/registrationRefusals.test.ts",
  "dataplane/failover.test.ts",
  "dataplane/endToEnd.test.ts",
  "tests/real/images.test.ts",
  "tests/real/modes.test.ts",
  "redis/takeover.test.ts",
];

/** Begins with the suites that take longest, so that no lane waits for one of them in the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const found = LONGEST.findIndex((name) => moduleId.endsWith(name));
      return found < 0 ? LONGEST.length : found;
    };
    return [...files].sort((a, b) => rank(a) - rank(b) || (a.moduleId < b.moduleId ? -1 : 1));
  }
}
